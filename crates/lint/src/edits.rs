//! Builds the fixes that rules offer, as edits of the text.

use ruff_python_ast::{ExceptHandler, Expr, ExprCall, Stmt};
use ruff_text_size::Ranged;

use crate::finding::{Applicability, Edit, Fix};
use crate::semantics::Model;
use crate::semantics::data::{NodeId, Syntax};
use crate::span::TextSpan;

/// Appends `.detach()` to an expression; `None` for an expression that would need brackets.
pub(crate) fn detach(expression: &Expr) -> Option<Fix> {
    let is_simple = matches!(expression, Expr::Name(_) | Expr::Attribute(_) | Expr::Call(_) | Expr::Subscript(_));
    is_simple.then(|| insert(TextSpan::of(expression).end, ".detach()", Applicability::Safe))
}

/// Inserts text at an offset.
pub(crate) fn insert(at: usize, text: impl Into<String>, applicability: Applicability) -> Fix {
    Fix { applicability, edits: vec![Edit { span: TextSpan { start: at, end: at }, text: text.into() }] }
}

/// Replaces an expression, a statement or a token.
pub(crate) fn replace(syntax: &impl Ranged, text: impl Into<String>, applicability: Applicability) -> Fix {
    Fix { applicability, edits: vec![Edit { span: TextSpan::of(syntax), text: text.into() }] }
}

/// Deletes a statement with its line; writes `pass` if the block would be empty.
pub(crate) fn delete(model: &Model<'_>, id: NodeId, statement: &Stmt, applicability: Applicability) -> Option<Fix> {
    if is_alone(model, id, statement)? {
        return Some(replace(statement, "pass", applicability));
    }
    let range = TextSpan::of(statement);
    let start = model.text.get(..range.start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = model.text.get(range.end..)?;
    let end = range.end + rest.find('\n').map_or(rest.len(), |at| at + 1);
    let is_whole =
        model.text.get(start..range.start)?.trim().is_empty() && model.text.get(range.end..end)?.trim().is_empty();
    is_whole.then(|| Fix { applicability, edits: vec![Edit { span: TextSpan { start, end }, text: String::new() }] })
}

/// Checks whether a statement is alone in its block; `None` if the block is not found.
fn is_alone(model: &Model<'_>, id: NodeId, statement: &Stmt) -> Option<bool> {
    let parent = model.node(id).parent;
    let blocks: Vec<&[Stmt]> = match model.node(parent).syntax {
        _ if parent == id => match model.function(model.node(id).region) {
            Some(function) => vec![&model.tree.functions[function.index()].syntax.body],
            None => return Some(false),
        },
        Syntax::Statement(parent) => blocks(parent),
        Syntax::Expression(_) => return None,
    };
    let range = statement.range();
    blocks.into_iter().find(|block| block.iter().any(|it| it.range() == range)).map(|block| block.len() == 1)
}

/// Returns the blocks of a compound statement.
fn blocks(statement: &Stmt) -> Vec<&[Stmt]> {
    match statement {
        Stmt::For(it) => vec![&it.body, &it.orelse],
        Stmt::While(it) => vec![&it.body, &it.orelse],
        Stmt::With(it) => vec![&it.body],
        Stmt::If(it) => {
            std::iter::once(&*it.body).chain(it.elif_else_clauses.iter().map(|clause| &*clause.body)).collect()
        }
        Stmt::Try(it) => {
            let handlers = it.handlers.iter().map(|ExceptHandler::ExceptHandler(handler)| &*handler.body);
            [&*it.body, &it.orelse, &it.finalbody].into_iter().chain(handlers).collect()
        }
        _ => Vec::new(),
    }
}

/// Adds a keyword after the last argument of a call; `None` if the last argument is in brackets or a bare generator.
pub(crate) fn add_keyword(model: &Model<'_>, call: &ExprCall, text: &str, applicability: Applicability) -> Option<Fix> {
    let end = TextSpan::of(call).end.checked_sub(1)?;
    let arguments = &call.arguments;
    let last = arguments.args.iter().map(Ranged::end).chain(arguments.keywords.iter().map(Ranged::end)).max();
    let Some(last) = last.map(|last| last.to_usize()) else { return Some(insert(end, text, applicability)) };
    let is_bare = |argument: &Expr| argument.as_generator_expr().is_some_and(|it| !it.parenthesized);
    if arguments.args.iter().any(is_bare) || model.text.get(last..end)?.contains(')') {
        return None;
    }
    Some(insert(last, format!(", {text}"), applicability))
}
