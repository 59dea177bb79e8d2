//! The data that the walk collects: nodes, the regions around them, and the definitions of names.

use ruff_python_ast::{
    ExceptHandlerExceptHandler, Expr, Parameter, Stmt, StmtAugAssign, StmtClassDef, StmtFunctionDef,
};
use ruff_python_ast::{HasNodeIndex, StmtIf, StmtWith};
use rustc_hash::FxHashMap;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) u32);

        impl $name {
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the next element pushed to `list`.
            pub(crate) fn next<T>(list: &[T]) -> $name {
                $name(u32::try_from(list.len()).unwrap_or(u32::MAX))
            }
        }
    };
}

id!(
    /// A statement or an expression, in the order of the walk: the nodes below a node follow it directly. Bodies of functions come after
    /// the module's, each contiguous.
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
    /// A [`LoopStatement`].
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
pub(crate) struct SyntaxNode<'a> {
    pub(crate) syntax: Syntax<'a>,
    /// The node above; a statement at the top of the module or of a function body is its own parent.
    pub(crate) parent: NodeId,
    pub(crate) region: RegionId,
    /// The last node below it.
    pub(crate) last: NodeId,
    /// The definition that a name uses or makes.
    pub(crate) definition: DefinitionId,
}

/// The innermost construct that affects how a node runs; regions are nested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region<'a> {
    pub(crate) kind: RegionKind<'a>,
    /// The enclosing region; the module is its own parent.
    pub(crate) parent: RegionId,
}

/// The construct of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RegionKind<'a> {
    Module,
    Class,
    Function(FunctionId),
    /// The body of a lambda, which runs later.
    Lambda,
    /// The element of a comprehension.
    Comprehension,
    Loop(LoopId),
    With(&'a StmtWith),
    /// A branch of an `if`: the first, or an `elif` or `else`.
    If(&'a StmtIf, bool),
    /// Code that may be skipped for another reason: a branch of a `match`, the `else` of a loop.
    Maybe,
    /// The body of a `try`.
    Try,
    Handler(&'a ExceptHandlerExceptHandler),
}

/// The origin of a value.
#[derive(Clone, Debug)]
pub(crate) enum Binding<'a> {
    /// Unbound on this path, or a builtin.
    Unbound,
    /// `import`, with the dotted path of the imported object.
    Import(Box<str>),
    /// `name = value`.
    Value(&'a Expr),
    /// `a, (b, c) = value`, with the path of indices of the name in the target.
    Item(&'a Expr, Box<[usize]>),
    /// `for a, b in value`, with the path of indices of the name in the target.
    Element(&'a Expr, Box<[usize]>),
    /// `with value as name`.
    Context(&'a Expr),
    /// `name += value`, with the previous definition.
    Augmented(DefinitionId, &'a StmtAugAssign),
    /// A parameter, with its function and index.
    Parameter(FunctionId, usize, &'a Parameter),
    Function(FunctionId),
    Class(ClassId),
    /// One of several definitions, by branch; at the head of a loop, the definition before the loop and those of its body.
    Join(Vec<DefinitionId>, Option<LoopId>),
    /// A name imported from a linked file, with its definition there.
    Alias(DefinitionId),
    /// Any binding of a name of an outer scope.
    Outer(SymbolId),
    /// An unknown value: `except ... as name`, a starred target, `del`.
    Other,
}

/// A binding of a name, with its symbol and region.
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
    /// All bindings of the name, without joins.
    pub(crate) bindings: Vec<DefinitionId>,
}

/// The namespace of a module, a class, a function or a lambda.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) parent: Option<ScopeId>,
    /// Methods do not see the names of their class.
    pub(crate) is_class: bool,
    pub(crate) symbols: FxHashMap<&'a str, SymbolId>,
}

/// The top-level names of a file: Note `[Aliases]` in `build.rs`.
#[derive(Debug, Default)]
pub(crate) struct FileNames<'a> {
    pub(crate) scope: ScopeId,
    pub(crate) exports: FxHashMap<&'a str, DefinitionId>,
}

/// True if autograd records operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    On,
    Off,
    Unsure,
}

/// A `def`.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) syntax: &'a StmtFunctionDef,
    /// The class, for a method.
    pub(crate) class: Option<ClassId>,
    /// The region that the `def` stands in.
    pub(crate) outside: RegionId,
    /// The first and the last node of the body; equal for a function without nodes.
    pub(crate) body: (NodeId, NodeId),
    /// The values of its `return`s and `yield`s.
    pub(crate) returned: Vec<&'a Expr>,
    /// True for a generator.
    pub(crate) yields: bool,
}

#[derive(Debug)]
pub(crate) struct Class<'a> {
    pub(crate) syntax: &'a StmtClassDef,
    pub(crate) methods: FxHashMap<&'a str, FunctionId>,
    /// The values that methods assign to attributes of `self`, in the order of the source.
    pub(crate) attributes: FxHashMap<&'a str, Vec<&'a Expr>>,
}

/// A `for` or `while`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopStatement<'a> {
    /// The statement.
    pub(crate) node: NodeId,
    /// The iterated expression of a `for`.
    pub(crate) iterated: Option<&'a Expr>,
    pub(crate) body: (NodeId, NodeId),
    /// The definitions made in the body: from the first to before the second.
    pub(crate) definitions: (DefinitionId, DefinitionId),
    /// The region that the statement stands in.
    pub(crate) outside: RegionId,
}

/// Returns the id that the walk gave to a node; `None` for an unvisited node.
pub(crate) fn id_of(node: &impl HasNodeIndex) -> Option<NodeId> {
    node.node_index().load().as_u32().map(NodeId)
}
