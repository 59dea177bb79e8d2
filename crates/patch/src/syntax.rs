//! A Python file as a tree of our own: the nodes that remedies inspect, in the words of Python's grammar.
//!
//! The parser's own tree has ninety kinds of nodes and no promise of stability; this tree has only the kinds that a
//! change to a training script needs, and is filled in `source.rs` alone. Children are in the order of the source.

/// A range of bytes of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Span {
    /// The first byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}

impl Span {
    /// From `start` to before `end`.
    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// No byte, at `offset`.
    pub(crate) fn at(offset: usize) -> Span {
        Span::new(offset, offset)
    }

    /// True if `other` is inside this span.
    pub(crate) fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A name that an import binds: `import torch.nn as nn` binds `nn` to `torch.nn`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    /// The dotted path of what is imported.
    pub(crate) path: String,
    /// Its name in the file: `torch` for `import torch.nn`.
    pub(crate) name: String,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `def` and the function's name. Children: decorators, parameters, the block.
    Function(String),
    /// `class` and the class's name. Children: decorators, arguments, the block.
    Class(String),
    /// `for`. Children: target, iterated, the block; then the block of its `else`.
    For,
    /// `while`. Children: test, the block; then the block of its `else`.
    While,
    /// `if`. Children: test, the block, then [`Kind::Clause`]s.
    If,
    /// `elif` or `else` of an `if`. Children: the test of an `elif`, the block.
    Clause,
    /// `with`. Children: expressions and their targets, the block.
    With,
    /// `try`. Children: blocks and handlers.
    Try,
    /// An import of either form.
    Import(Vec<Binding>),
    /// `a = b = value`. Children: targets, then the value.
    Assign,
    /// `a: int = value`. Children: target, annotation, perhaps a value.
    Annotated,
    /// `a += value`. Children: target, value.
    Augmented,
    /// An expression as a statement. One child.
    Expression,
    /// Any other statement.
    Statement,
    /// The statements of a body.
    Block,
    /// A parameter of a function, with its name.
    Parameter(String),
    /// A decorator. One child.
    Decorator,
    Name(String),
    /// `value.name`, with the name. The only child is the value.
    Attribute(String),
    /// A call. Children: what is called, then the arguments.
    Call,
    /// `name=value` among arguments, or `**value` without a name. One child.
    Keyword(Option<String>),
    /// A string, with its value.
    Text(String),
    /// A whole number, as written.
    Integer,
    /// `True` or `False`.
    Boolean(bool),
    /// A comprehension, generator or lambda: evaluated at a time and a number of times that the line does not tell.
    Deferred,
    /// `yield` in any form.
    Yield,
    /// A dictionary's display. Children: keys and values in turn.
    Dictionary,
    /// `a[b]`. Children: value, index.
    Subscript,
    Tuple,
    /// `a * b` and other operations on two. Children: left, right.
    Operation,
    /// Any other expression or part of a statement.
    Other,
}

/// A node with its range and children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Its span; a function starts at its first decorator.
    pub(crate) span: Span,
    /// Its parts, in the order of the source.
    pub(crate) children: Vec<Node>,
}

impl Node {
    /// True for a statement.
    pub(crate) fn is_statement(&self) -> bool {
        use Kind::{
            Annotated, Assign, Augmented, Class, Expression, For, Function, If, Import, Statement, Try, While, With,
        };
        matches!(
            self.kind,
            Function(_)
                | Class(_)
                | For
                | While
                | If
                | With
                | Try
                | Import(_)
                | Assign
                | Annotated
                | Augmented
                | Expression
                | Statement
        )
    }

    /// True for a loop.
    pub(crate) fn is_loop(&self) -> bool {
        matches!(self.kind, Kind::For | Kind::While)
    }

    /// The node and all nodes below, in the order of the source.
    pub(crate) fn walk(&self) -> impl Iterator<Item = &Node> {
        let mut pending = vec![self];
        std::iter::from_fn(move || {
            let node = pending.pop()?;
            pending.extend(node.children.iter().rev());
            Some(node)
        })
    }

    /// The node and all nodes below, without nodes evaluated only in calls: bodies of functions, classes and lambdas.
    pub(crate) fn walk_here(&self) -> impl Iterator<Item = &Node> {
        let mut pending = vec![self];
        let top = self.span;
        std::iter::from_fn(move || {
            let node = pending.pop()?;
            if node.span == top || !matches!(node.kind, Kind::Function(_) | Kind::Class(_) | Kind::Deferred) {
                pending.extend(node.children.iter().rev());
            }
            Some(node)
        })
    }

    /// The nodes that contain `span`, from this node down to the smallest.
    pub(crate) fn path_to(&self, span: Span) -> Vec<&Node> {
        let mut path = vec![self];
        let mut node = self;
        while let Some(next) = node.children.iter().find(|child| child.span.contains(span)) {
            path.push(next);
            node = next;
        }
        path
    }

    /// The first block: the body of a function, a loop, a `with`.
    pub(crate) fn body(&self) -> Option<&Node> {
        self.children.iter().find(|child| child.kind == Kind::Block)
    }

    /// The last part of a name: `AdamW` of `torch.optim.AdamW`.
    pub(crate) fn last_name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Name(name) | Kind::Attribute(name) => Some(name),
            _ => None,
        }
    }

    /// The dotted name `torch.optim.AdamW`; `None` for other expressions.
    pub(crate) fn dotted(&self) -> Option<String> {
        match &self.kind {
            Kind::Name(name) => Some(name.clone()),
            Kind::Attribute(name) => Some(format!("{}.{name}", self.children.first()?.dotted()?)),
            _ => None,
        }
    }

    /// Of a call: the last part of the name of what is called.
    pub(crate) fn called(&self) -> Option<&str> {
        self.function()?.last_name()
    }

    /// Of a call: what is called.
    pub(crate) fn function(&self) -> Option<&Node> {
        if self.kind == Kind::Call { self.children.first() } else { None }
    }

    /// Of a call of a method: the object, `loss` of `loss.backward()`.
    pub(crate) fn receiver(&self) -> Option<&Node> {
        let function = self.function()?;
        if matches!(function.kind, Kind::Attribute(_)) { function.children.first() } else { None }
    }

    /// The arguments of a call.
    pub(crate) fn arguments(&self) -> &[Node] {
        if self.kind == Kind::Call { self.children.get(1..).unwrap_or_default() } else { &[] }
    }

    /// Of a call: the argument of that keyword, as a whole.
    pub(crate) fn keyword(&self, name: &str) -> Option<&Node> {
        self.arguments().iter().find(|argument| matches!(&argument.kind, Kind::Keyword(Some(it)) if it == name))
    }

    /// True if a call unpacks arguments, so that not all keywords are known.
    pub(crate) fn has_unpacked(&self) -> bool {
        self.arguments().iter().any(|argument| argument.kind == Kind::Keyword(None))
    }

    /// The value of an assignment or of a keyword.
    pub(crate) fn value(&self) -> Option<&Node> {
        match self.kind {
            Kind::Assign | Kind::Augmented | Kind::Keyword(_) => self.children.last(),
            Kind::Annotated => self.children.get(2),
            _ => None,
        }
    }

    /// The targets of an assignment.
    pub(crate) fn targets(&self) -> &[Node] {
        match self.kind {
            Kind::Assign => self.children.split_last().map_or(&[], |(_, targets)| targets),
            Kind::Augmented | Kind::Annotated | Kind::For => self.children.get(..1).unwrap_or_default(),
            _ => &[],
        }
    }

    /// True if a name with this text is in the node.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.walk().any(|node| matches!(&node.kind, Kind::Name(it) if it == name))
    }
}
