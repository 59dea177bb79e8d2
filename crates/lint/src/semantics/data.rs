//! What is known of a file after one walk over it: its nodes, the regions around them, and where each name got its value.

use ruff_python_ast::{
    ExceptHandlerExceptHandler, Expr, Parameter, Stmt, StmtAugAssign, StmtClassDef, StmtFunctionDef,
};
use ruff_python_ast::{HasNodeIndex, StmtIf, StmtWith};
use rustc_hash::FxHashMap;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of what is pushed next to `list`.
            pub(crate) fn next<T>(list: &[T]) -> $name {
                $name(u32::try_from(list.len()).unwrap_or(u32::MAX))
            }
        }
    };
}

id!(
    /// A statement or an expression, in the order of the walk: what is below a node follows it directly. Bodies of functions come after
    /// the module's, each in one piece.
    NodeId
);
id!(
    /// A [`Region`].
    RegionId
);
id!(
    /// A [`Definition`].
    DefinitionId
);
id!(
    /// A name of one scope.
    SymbolId
);
id!(
    /// A [`Scope`].
    ScopeId
);
id!(
    /// A [`Function`].
    FunctionId
);
id!(
    /// A [`Class`].
    ClassId
);
id!(
    /// A [`Loop`].
    LoopId
);

/// A statement or an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Syntax<'a> {
    Statement(&'a Stmt),
    Expression(&'a Expr),
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    pub(crate) syntax: Syntax<'a>,
    /// The node above; of a statement of the module or of a body of a function, itself.
    pub(crate) parent: NodeId,
    pub(crate) region: RegionId,
    /// The last node below it.
    pub(crate) last: NodeId,
    /// Of a name: the value it has there, or gets there.
    pub(crate) definition: DefinitionId,
}

/// The innermost construct around a node that matters to what happens there, and the one around that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region<'a> {
    pub(crate) kind: RegionKind<'a>,
    /// The region around it; of the module, itself.
    pub(crate) parent: RegionId,
}

/// What makes a region.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RegionKind<'a> {
    Module,
    Class,
    Function(FunctionId),
    /// The body of a lambda: run another time.
    Lambda,
    /// The element of a comprehension.
    Comprehension,
    Loop(LoopId),
    With(&'a StmtWith),
    /// An arm of an `if`: the first, or one of its `elif` and `else`.
    If(&'a StmtIf, bool),
    /// What may not be run for another reason: an arm of a `match`, the `else` of a loop.
    Maybe,
    /// The body of a `try`.
    Try,
    Handler(&'a ExceptHandlerExceptHandler),
}

/// Where a name got its value.
#[derive(Clone, Debug)]
pub(crate) enum Binding<'a> {
    /// Nowhere on this way; or it is a builtin.
    Unbound,
    /// `import`: the dotted path of what is imported.
    Import(Box<str>),
    /// `name = value`.
    Value(&'a Expr),
    /// `a, (b, c) = value`: the place of the name in the target.
    Item(&'a Expr, Box<[usize]>),
    /// `for a, b in value`: the place of the name in the target.
    Element(&'a Expr, Box<[usize]>),
    /// `with value as name`.
    Context(&'a Expr),
    /// `name += value`, and what it was before.
    Augmented(DefinitionId, &'a StmtAugAssign),
    /// The parameter of a function, and which it is.
    Parameter(FunctionId, usize, &'a Parameter),
    Function(FunctionId),
    Class(ClassId),
    /// One of several, by the way taken; of a loop, what was before it and what its steps leave behind.
    Join(Vec<DefinitionId>, Option<LoopId>),
    /// Whatever the name of an outer scope is bound to when it is asked.
    Outer(SymbolId),
    /// Something of which nothing is known: `except ... as name`, a starred target, `del`.
    Other,
}

/// A value of a name, from one binding on.
#[derive(Clone, Debug)]
pub(crate) struct Definition<'a> {
    pub(crate) binding: Binding<'a>,
    pub(crate) symbol: SymbolId,
    pub(crate) region: RegionId,
}

/// A name of a scope.
#[derive(Clone, Debug)]
pub(crate) struct Symbol<'a> {
    pub(crate) name: &'a str,
    /// Every binding of it, joins left out.
    pub(crate) bindings: Vec<DefinitionId>,
}

/// What a module, a class, a function or a lambda can name.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) parent: Option<ScopeId>,
    /// Names of a class are not seen from its methods.
    pub(crate) is_class: bool,
    pub(crate) symbols: FxHashMap<&'a str, SymbolId>,
}

/// A `def`.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) syntax: &'a StmtFunctionDef,
    /// The class that it is a method of.
    pub(crate) class: Option<ClassId>,
    /// The region that the `def` stands in.
    pub(crate) outside: RegionId,
    /// Its first node and the last; equal where it has none.
    pub(crate) body: (NodeId, NodeId),
    /// Its `return`s and `yield`s: their values.
    pub(crate) returned: Vec<&'a Expr>,
}

/// A `class`.
#[derive(Debug)]
pub(crate) struct Class<'a> {
    pub(crate) syntax: &'a StmtClassDef,
    pub(crate) methods: FxHashMap<&'a str, FunctionId>,
    /// What its methods assign to attributes of `self`: the values, in the order of the source.
    pub(crate) attributes: FxHashMap<&'a str, Vec<&'a Expr>>,
}

/// A `for` or `while`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop<'a> {
    /// The statement.
    pub(crate) node: NodeId,
    /// What a `for` goes through.
    pub(crate) iterated: Option<&'a Expr>,
    pub(crate) body: (NodeId, NodeId),
    /// The definitions that its body makes: from the first to before the second.
    pub(crate) definitions: (DefinitionId, DefinitionId),
    /// The region that the statement stands in.
    pub(crate) outside: RegionId,
}

/// The id that the walk gave a node; `None` for what it did not visit.
pub(crate) fn id_of(node: &impl HasNodeIndex) -> Option<NodeId> {
    node.node_index().load().as_u32().map(NodeId)
}
