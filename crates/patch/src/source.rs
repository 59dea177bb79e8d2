//! Parsed Python source: the tree, the tokens that matter to an edit, and the lines. No other file knows the parser.
//!
//! # Note [The parser]
//! The parser is ruff's. Its crates are published as internal and may change with each version, so they are pinned
//! exactly, and this file converts the parser's output into [`syntax`](crate::syntax). 0.0.10 is the last version that
//! builds with Rust 1.95.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{AnyNodeRef, Number, Stmt};
use ruff_python_parser::{Mode, parse_module};
use ruff_text_size::{Ranged, TextRange};
use thiserror::Error;

use crate::lines::Lines;
use crate::syntax::{Binding, Kind, Node, Span};

/// Why a text is not Python that can be patched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// Not Python 3.
    #[error("line {line} is no Python: {message}")]
    Syntax {
        /// The line, from 1.
        line: u32,
        /// The parser's message.
        message: String,
    },
    /// Nested or chained beyond what a person writes.
    #[error(transparent)]
    Depth(#[from] python::TooDeep),
}

/// The kinds of tokens that an edit has to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenClass {
    /// The end of a logical line.
    Newline,
    /// A line break that ends nothing: within brackets, after a comment, on a blank line.
    Break,
    /// A comment, without its line break.
    Comment,
    /// A string with its quotes; a string with replacement fields is a single token here.
    Text,
    /// Any visible token besides.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) class: TokenClass,
    pub(crate) span: Span,
}

/// A Python file.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    /// The block of the module.
    pub(crate) root: Node,
    pub(crate) tokens: Vec<Token>,
    pub(crate) lines: Lines,
}

impl<'a> Source<'a> {
    /// Reads a file.
    pub(crate) fn parse(text: &'a str) -> Result<Source<'a>, Unreadable> {
        let lines = Lines::new(text);
        python::check_depth(text, Mode::Module)?;
        let parsed = parse_module(text).map_err(|error| Unreadable::Syntax {
            line: lines.line_at(error.location.start().to_usize()),
            message: error.error.to_string(),
        })?;
        let mut builder =
            Builder { open: vec![Node { kind: Kind::Block, span: Span::new(0, text.len()), children: Vec::new() }] };
        parsed.suite().iter().for_each(|statement| builder.visit_stmt(statement));
        let root = builder.open.pop().unwrap_or(Node { kind: Kind::Block, span: Span::at(0), children: Vec::new() });
        let tokens = classify(parsed.tokens().iter().map(|token| (token.kind(), span(token.range()))));
        Ok(Source { text, root, tokens, lines })
    }

    /// The text of a node.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// The last token that ends at or before `offset`, comments and line breaks within brackets left out.
    pub(crate) fn token_before(&self, offset: usize) -> Option<Token> {
        let end = self.tokens.partition_point(|token| token.span.end <= offset);
        let seen = |token: &&Token| !matches!(token.class, TokenClass::Comment | TokenClass::Break);
        self.tokens.get(..end)?.iter().rev().find(seen).copied()
    }

    /// The first token that starts at or after `offset`.
    pub(crate) fn token_after(&self, offset: usize) -> Option<Token> {
        self.tokens.get(self.tokens.partition_point(|token| token.span.start < offset)).copied()
    }

    /// True if the byte at `offset` continues a string that began before.
    pub(crate) fn is_in_text(&self, offset: usize) -> bool {
        let next = self.tokens.partition_point(|token| token.span.start < offset);
        next.checked_sub(1)
            .and_then(|index| self.tokens.get(index))
            .is_some_and(|token| token.class == TokenClass::Text && offset < token.span.end)
    }
}

fn span(range: TextRange) -> Span {
    Span::new(range.start().to_usize(), range.end().to_usize())
}

/// The tokens, with a single token for each string; tokens without width (end of indentation, end of the file) are left
/// out.
fn classify(tokens: impl Iterator<Item = (TokenKind, Span)>) -> Vec<Token> {
    let mut result: Vec<Token> = Vec::new();
    let mut depth = 0_usize;
    for (kind, span) in tokens {
        let ends = matches!(kind, TokenKind::FStringEnd | TokenKind::TStringEnd);
        let starts = matches!(kind, TokenKind::FStringStart | TokenKind::TStringStart);
        match result.last_mut() {
            Some(string) if depth > 0 => string.span.end = span.end,
            _ => result.extend(class(kind).map(|class| Token { class, span })),
        }
        depth = (depth + usize::from(starts)).saturating_sub(usize::from(ends));
    }
    result
}

fn class(kind: TokenKind) -> Option<TokenClass> {
    match kind {
        TokenKind::Newline => Some(TokenClass::Newline),
        TokenKind::NonLogicalNewline => Some(TokenClass::Break),
        TokenKind::Comment => Some(TokenClass::Comment),
        TokenKind::String | TokenKind::FStringStart | TokenKind::TStringStart => Some(TokenClass::Text),
        TokenKind::Indent | TokenKind::Dedent | TokenKind::EndOfFile => None,
        _ => Some(TokenClass::Other),
    }
}

/// Builds the tree as the parser's is walked; `open` are the nodes that have not ended.
struct Builder {
    open: Vec<Node>,
}

impl Builder {
    fn close(&mut self) {
        if let (Some(node), Some(parent)) = (self.open.pop(), self.open.last_mut()) {
            parent.children.push(node);
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Builder {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if !is_transparent(node) {
            self.open.push(Node { kind: kind(node), span: span(node.range()), children: Vec::new() });
        }
        TraversalSignal::Traverse
    }

    fn leave_node(&mut self, node: AnyNodeRef<'a>) {
        if !is_transparent(node) {
            self.close();
        }
    }

    fn visit_body(&mut self, body: &'a [Stmt]) {
        if let (Some(first), Some(last)) = (body.first(), body.last()) {
            let span = Span::new(first.start().to_usize(), last.end().to_usize());
            self.open.push(Node { kind: Kind::Block, span, children: Vec::new() });
            for statement in body {
                self.visit_stmt(statement);
            }
            self.close();
        }
    }
}

/// True for nodes with children that belong to the parent, and for names in the parent's kind.
fn is_transparent(node: AnyNodeRef<'_>) -> bool {
    matches!(node, AnyNodeRef::WithItem(_) | AnyNodeRef::Identifier(_) | AnyNodeRef::Alias(_))
        || matches!(node, AnyNodeRef::Arguments(_) | AnyNodeRef::StringLiteral(_))
}

fn kind(node: AnyNodeRef<'_>) -> Kind {
    statement_kind(node).unwrap_or_else(|| expression_kind(node))
}

fn statement_kind(node: AnyNodeRef<'_>) -> Option<Kind> {
    Some(match node {
        AnyNodeRef::StmtFunctionDef(it) => Kind::Function(it.name.to_string()),
        AnyNodeRef::StmtClassDef(it) => Kind::Class(it.name.to_string()),
        AnyNodeRef::StmtFor(_) => Kind::For,
        AnyNodeRef::StmtWhile(_) => Kind::While,
        AnyNodeRef::StmtIf(_) => Kind::If,
        AnyNodeRef::ElifElseClause(_) => Kind::Clause,
        AnyNodeRef::StmtWith(_) => Kind::With,
        AnyNodeRef::StmtTry(_) => Kind::Try,
        AnyNodeRef::StmtImport(_) | AnyNodeRef::StmtImportFrom(_) => Kind::Import(bindings(node)),
        AnyNodeRef::StmtAssign(_) => Kind::Assign,
        AnyNodeRef::StmtAnnAssign(_) => Kind::Annotated,
        AnyNodeRef::StmtAugAssign(_) => Kind::Augmented,
        AnyNodeRef::StmtExpr(_) => Kind::Expression,
        _ if node.is_statement() => Kind::Statement,
        _ => return None,
    })
}

fn expression_kind(node: AnyNodeRef<'_>) -> Kind {
    match node {
        AnyNodeRef::Decorator(_) => Kind::Decorator,
        AnyNodeRef::ExprName(it) => Kind::Name(it.id.to_string()),
        AnyNodeRef::ExprAttribute(it) => Kind::Attribute(it.attr.to_string()),
        AnyNodeRef::ExprCall(_) => Kind::Call,
        AnyNodeRef::Parameter(it) => Kind::Parameter(it.name.to_string()),
        AnyNodeRef::Keyword(it) => Kind::Keyword(it.arg.as_ref().map(ToString::to_string)),
        AnyNodeRef::ExprStringLiteral(it) => Kind::Text(it.value.to_str().to_owned()),
        AnyNodeRef::ExprNumberLiteral(it) if matches!(it.value, Number::Int(_)) => Kind::Integer,
        AnyNodeRef::ExprBooleanLiteral(it) => Kind::Boolean(it.value),
        AnyNodeRef::ExprYield(_) | AnyNodeRef::ExprYieldFrom(_) => Kind::Yield,
        AnyNodeRef::ExprDict(_) => Kind::Dictionary,
        AnyNodeRef::ExprSubscript(_) => Kind::Subscript,
        AnyNodeRef::ExprTuple(_) => Kind::Tuple,
        AnyNodeRef::ExprBinOp(_) => Kind::Operation,
        _ if is_deferred(node) => Kind::Deferred,
        _ => Kind::Other,
    }
}

fn is_deferred(node: AnyNodeRef<'_>) -> bool {
    use AnyNodeRef::{ExprDictComp, ExprGenerator, ExprLambda, ExprListComp, ExprSetComp};
    matches!(node, ExprListComp(_) | ExprSetComp(_) | ExprDictComp(_) | ExprGenerator(_) | ExprLambda(_))
}

fn bindings(node: AnyNodeRef<'_>) -> Vec<Binding> {
    let (prefix, names) = match node {
        AnyNodeRef::StmtImport(it) => (String::new(), &it.names),
        AnyNodeRef::StmtImportFrom(it) => {
            let dots = ".".repeat(it.level as usize);
            (format!("{dots}{}.", it.module.as_ref().map_or("", |module| module.as_str())), &it.names)
        }
        _ => return Vec::new(),
    };
    let is_from = !prefix.is_empty();
    let bound = |name: &str| if is_from { name.to_owned() } else { name.split('.').next().unwrap_or(name).to_owned() };
    let binding = |alias: &ruff_python_ast::Alias| Binding {
        path: format!("{prefix}{}", alias.name.as_str()),
        name: alias.asname.as_ref().map_or_else(|| bound(alias.name.as_str()), ToString::to_string),
    };
    names.iter().map(binding).collect()
}
