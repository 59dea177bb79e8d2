//! What a file of Python means to memory: qualified names, values, regions, loops, and functions of the same file.
//!
//! [`Model`] is what rules ask. It is built by one walk (`build.rs`); everything else is worked out when it is asked for.
//!
//! # Note [Silence]
//! Nothing is run and only one file is seen, so much is not known. A question whose answer is not certain is answered with `Unknown` or
//! `Unsure`, and a rule that gets such an answer says nothing.

mod bound;
mod build;
mod calls;
pub(crate) mod data;
mod escape;
mod evaluation;
mod evidence;
mod frameworks;
mod keepers;
mod known;
mod modes;
mod names;
mod training;
mod value;

use std::cell::{Cell, RefCell};

use ruff_python_ast::{Expr, HasNodeIndex, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

pub(crate) use calls::{Call, is_bool};
use data::{
    Class, Definition, Function, FunctionId, Loop, LoopId, Node, NodeId, Region, RegionId, RegionKind, Scope, Symbol,
    Syntax,
};
use evidence::Evidence;
pub(crate) use evidence::is_called_optimizer;
pub(crate) use keepers::Kept;
pub(crate) use modes::Mode;
use training::Work;
pub(crate) use value::{Place, Value};

/// A file after the walk.
#[derive(Debug, Default)]
pub(crate) struct Tree<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    pub(crate) regions: Vec<Region<'a>>,
    pub(crate) definitions: Vec<Definition<'a>>,
    pub(crate) symbols: Vec<Symbol<'a>>,
    pub(crate) scopes: Vec<Scope<'a>>,
    pub(crate) functions: Vec<Function<'a>>,
    pub(crate) classes: Vec<Class<'a>>,
    pub(crate) loops: Vec<Loop<'a>>,
    /// The calls, in the order of the walk.
    pub(crate) calls: Vec<NodeId>,
}

/// A function or the module, and a loop of it or all of it.
type Part = (Option<FunctionId>, Option<LoopId>);

/// A file as rules see it.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    pub(crate) text: &'a str,
    pub(crate) tree: Tree<'a>,
    calls: Vec<Call<'a>>,
    /// For each function, the calls of it in this file.
    callers: Vec<Vec<usize>>,
    evidence: Evidence<'a>,
    values: RefCell<FxHashMap<NodeId, Value>>,
    names: RefCell<FxHashMap<data::DefinitionId, Value>>,
    works: RefCell<FxHashMap<FunctionId, Work>>,
    modes: RefCell<FxHashMap<FunctionId, Mode>>,
    loop_works: RefCell<FxHashMap<LoopId, Work>>,
    step_loops: RefCell<FxHashMap<LoopId, bool>>,
    switches: Vec<evaluation::Switch<'a>>,
    /// Whether gradients are wanted in a function, or in a loop of it.
    wanting: RefCell<FxHashMap<Part, bool>>,
    /// How many functions deep a question is being followed.
    followed: Cell<u32>,
}

/// How many functions deep a question is followed: what is further away is not known.
const FOLLOWED: u32 = 16;

impl<'a> Model<'a> {
    /// Reads the meaning of a module.
    pub(crate) fn new(text: &'a str, body: &'a [Stmt]) -> Model<'a> {
        let tree = build::build(body);
        let mut model = Model {
            text,
            tree,
            calls: Vec::new(),
            callers: Vec::new(),
            evidence: Evidence::default(),
            values: RefCell::default(),
            names: RefCell::default(),
            works: RefCell::default(),
            modes: RefCell::default(),
            loop_works: RefCell::default(),
            step_loops: RefCell::default(),
            switches: Vec::new(),
            wanting: RefCell::default(),
            followed: Cell::new(0),
        };
        model.calls = calls::all(&model);
        model.callers = calls::callers(&model);
        model.switches = evaluation::switches(&model);
        model.evidence = Evidence::collect(&model);
        model
    }

    /// Asks something of another function; `None` if that is too far away.
    fn follow<T>(&self, ask: impl FnOnce() -> T) -> Option<T> {
        let depth = self.followed.get();
        if depth >= FOLLOWED {
            return None;
        }
        self.followed.set(depth + 1);
        let answer = ask();
        self.followed.set(depth);
        Some(answer)
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node<'a> {
        &self.tree.nodes[id.index()]
    }

    /// The id of an expression or a statement of this file.
    pub(crate) fn id(&self, syntax: &impl HasNodeIndex) -> Option<NodeId> {
        data::id_of(syntax).filter(|id| id.index() < self.tree.nodes.len())
    }

    /// The text of an expression or a statement.
    pub(crate) fn source(&self, syntax: &impl Ranged) -> &'a str {
        let range = syntax.range();
        self.text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
    }

    /// The text from one node to another.
    pub(crate) fn source_of(&self, range: (NodeId, NodeId)) -> &'a str {
        let range_of = |id: NodeId| match self.node(id).syntax {
            Syntax::Statement(it) => it.range(),
            Syntax::Expression(it) => it.range(),
        };
        self.text.get(range_of(range.0).start().to_usize()..range_of(range.1).end().to_usize()).unwrap_or_default()
    }

    /// What a call gives.
    pub(crate) fn value_of(&self, call: &Call<'a>) -> Value {
        match self.node(call.id).syntax {
            Syntax::Expression(expression) => self.value(expression),
            Syntax::Statement(_) => Value::Unknown,
        }
    }

    /// The statement that a node is, or belongs to.
    pub(crate) fn statement(&self, mut id: NodeId) -> Option<(NodeId, &'a Stmt)> {
        loop {
            let node = self.node(id);
            match node.syntax {
                Syntax::Statement(statement) => return Some((id, statement)),
                Syntax::Expression(_) if node.parent == id => return None,
                Syntax::Expression(_) => id = node.parent,
            }
        }
    }

    /// All statements, in the order of the walk.
    pub(crate) fn statements(&self) -> impl Iterator<Item = (NodeId, &'a Stmt)> + '_ {
        (0..).map(NodeId).zip(&self.tree.nodes).filter_map(|(id, node)| match node.syntax {
            Syntax::Statement(statement) => Some((id, statement)),
            Syntax::Expression(_) => None,
        })
    }

    /// The regions around a region and itself, up to the function it is in (that one included) or the module.
    pub(crate) fn regions(&self, region: RegionId) -> impl Iterator<Item = RegionKind<'a>> + '_ {
        let mut next = Some(region);
        std::iter::from_fn(move || {
            let region = &self.tree.regions[next?.index()];
            let ends = matches!(region.kind, RegionKind::Module | RegionKind::Function(_));
            next = if ends { None } else { Some(region.parent) };
            Some(region.kind)
        })
    }

    /// The regions between a region and a loop around it, without the loop.
    pub(crate) fn regions_within(&self, region: RegionId, around: LoopId) -> impl Iterator<Item = RegionKind<'a>> + '_ {
        self.regions(region).take_while(move |kind| !matches!(kind, RegionKind::Loop(id) if *id == around))
    }

    /// The loops around a region within its function, innermost first.
    pub(crate) fn loops(&self, region: RegionId) -> impl Iterator<Item = LoopId> + '_ {
        self.regions(region).filter_map(|kind| match kind {
            RegionKind::Loop(id) => Some(id),
            _ => None,
        })
    }

    /// The function that a region is in.
    pub(crate) fn function(&self, region: RegionId) -> Option<FunctionId> {
        self.regions(region).find_map(|kind| match kind {
            RegionKind::Function(id) => Some(id),
            _ => None,
        })
    }

    /// The first and the last node of a function's body, or of the module's.
    pub(crate) fn body(&self, function: Option<FunctionId>) -> (NodeId, NodeId) {
        match function {
            Some(id) => self.tree.functions[id.index()].body,
            None => (NodeId(0), NodeId(NodeId::next(&self.tree.nodes).0.saturating_sub(1))),
        }
    }

    /// Whether a node lies in the body of a loop.
    pub(crate) fn is_in(&self, id: NodeId, around: LoopId) -> bool {
        let (first, last) = self.tree.loops[around.index()].body;
        first <= id && id <= last
    }

    /// The value that a name has at a place.
    pub(crate) fn definition(&self, name: &ruff_python_ast::ExprName) -> data::DefinitionId {
        self.id(name).map_or(build::UNBOUND, |id| self.node(id).definition)
    }

    /// The expressions from one node to another, both included.
    pub(crate) fn expressions(&self, range: (NodeId, NodeId)) -> impl Iterator<Item = (NodeId, &'a Expr)> + '_ {
        let (first, last) = (range.0.index(), range.1.index().saturating_add(1).min(self.tree.nodes.len()));
        let nodes = self.tree.nodes.get(first..last).unwrap_or_default();
        (range.0.0..).map(NodeId).zip(nodes).filter_map(|(id, node)| match node.syntax {
            Syntax::Expression(expression) => Some((id, expression)),
            Syntax::Statement(_) => None,
        })
    }
}
