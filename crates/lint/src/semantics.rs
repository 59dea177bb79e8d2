//! The meaning of a Python file for memory: qualified names, values, regions, loops, and calls between functions of the file.
//!
//! Rules query the [`Model`]. One walk builds its tree (`build.rs`); all other answers are computed on demand.
//!
//! # Note [Silence]
//! The program is not run and other files are not read, so many facts are uncertain. A query without a certain answer returns `Unknown` or
//! `Unsure`, and a rule that gets such an answer reports nothing.

mod added;
pub(crate) mod allocator;
mod bound;
mod build;
mod call_graph;
pub(crate) mod data;
mod datasets;
mod escape;
mod evaluation;
mod evidence;
mod failures;
mod first_use;
mod frameworks;
mod gpu_moves;
mod hooks;
mod interpreted;
pub(crate) mod known;
mod late_imports;
mod modes;
mod module_methods;
mod named_gpu;
mod names;
pub(crate) mod new_axis;
mod objects;
mod observation;
mod options;
mod passed_arguments;
mod patterns;
mod registration;
mod resident;
mod sizes;
mod steps;
mod storage;
pub(crate) mod texts;
mod training;
pub(crate) mod unpacked;
mod value;
mod weights;
mod workers;

use std::cell::{Cell, OnceCell, RefCell};

use ruff_python_ast::{Expr, HasNodeIndex, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use call_graph::{Call, is_bool};
pub(crate) use data::Mode;
use data::{
    Class, Definition, DefinitionId, FileNames, Function, FunctionId, LoopId, LoopStatement, NodeId, Region, RegionId,
    RegionKind, Scope, Symbol, Syntax, SyntaxNode,
};
pub(crate) use evaluation::ran_module;
use evidence::Evidence;
pub(crate) use evidence::is_called_optimizer;
pub(crate) use gpu_moves::PlaceOrigin;
pub(crate) use hooks::HookFunction;
pub(crate) use known::{Gives, tensor_attribute as tensor_part, tensor_method as tensor_result};
pub(crate) use module_methods::is_module_method;
pub(crate) use named_gpu::is_option;
pub(crate) use observation::{Observation, ObservationKind};
pub(crate) use storage::StoredAs;
use training::TrainingCalls;
pub(crate) use value::{Graph, TensorDevice, ValueKind};
pub(crate) use weights::Weights;
pub(crate) use workers::LoaderWorkers;

use self::build::FileBody;
use crate::project::LinkedFiles;

/// The result of the walk over a file.
#[derive(Debug, Default)]
pub(crate) struct SyntaxTree<'a> {
    pub(crate) nodes: Vec<SyntaxNode<'a>>,
    pub(crate) regions: Vec<Region<'a>>,
    pub(crate) definitions: Vec<Definition<'a>>,
    pub(crate) symbols: Vec<Symbol<'a>>,
    pub(crate) scopes: Vec<Scope<'a>>,
    pub(crate) functions: Vec<Function<'a>>,
    pub(crate) classes: Vec<Class<'a>>,
    pub(crate) loops: Vec<LoopStatement<'a>>,
    /// The calls, in the order of the walk.
    pub(crate) calls: Vec<NodeId>,
    /// The top-level names of each file; empty if no file is linked.
    pub(crate) files: Vec<FileNames<'a>>,
    /// The first node and the first definition behind each file.
    pub(crate) ends: Vec<(NodeId, DefinitionId)>,
}

/// A function (`None`: the module), and a loop in it (`None`: the whole body).
type CodePart = (Option<FunctionId>, Option<LoopId>);

/// A file with its meaning, as rules query it.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    pub(crate) text: &'a str,
    pub(crate) tree: SyntaxTree<'a>,
    linked: &'a LinkedFiles,
    /// The statements of the linted file.
    main: &'a [Stmt],
    /// Filled by `interpreter`, when the first rule asks.
    pub(crate) observations: OnceCell<Vec<Observation>>,
    /// The functions by the start of their statement.
    function_starts: FxHashMap<u32, FunctionId>,
    calls: Vec<Call<'a>>,
    /// The function that each call runs.
    callees: Vec<Option<FunctionId>>,
    /// The calls of each function, as indices into `calls`.
    callers: Vec<Vec<usize>>,
    /// The names of all methods.
    methods: FxHashSet<&'a str>,
    evidence: Evidence<'a>,
    values: RefCell<FxHashMap<NodeId, ValueKind>>,
    names: RefCell<FxHashMap<data::DefinitionId, ValueKind>>,
    works: RefCell<FxHashMap<FunctionId, TrainingCalls>>,
    modes: RefCell<FxHashMap<FunctionId, Mode>>,
    loop_works: RefCell<FxHashMap<LoopId, TrainingCalls>>,
    step_loops: RefCell<FxHashMap<LoopId, bool>>,
    switches: Vec<evaluation::Switch<'a>>,
    /// Cached answers: does a function, or a loop in it, want gradients?
    wanting: RefCell<FxHashMap<CodePart, bool>>,
    step_answers: steps::StepAnswers,
    gpu_answers: first_use::GpuAnswers,
    /// The number of functions that the current query has followed.
    followed: Cell<u32>,
}

/// The largest number of functions that a query follows; the answer beyond is unknown.
const FOLLOWED: u32 = 16;

impl<'a> Model<'a> {
    /// Builds the model of a file and the files linked to it.
    pub(crate) fn new(text: &'a str, body: &'a [Stmt], linked: &'a LinkedFiles) -> Model<'a> {
        let mut files = vec![FileBody { body, modules: &linked.modules }];
        files.extend(linked.files.iter().map(|it| FileBody { body: it.parsed.suite(), modules: &it.modules }));
        let tree = build::build(&files);
        let mut model = Model {
            text,
            tree,
            linked,
            main: body,
            observations: OnceCell::new(),
            function_starts: FxHashMap::default(),
            calls: Vec::new(),
            callees: Vec::new(),
            callers: Vec::new(),
            methods: FxHashSet::default(),
            evidence: Evidence::default(),
            values: RefCell::default(),
            names: RefCell::default(),
            works: RefCell::default(),
            modes: RefCell::default(),
            loop_works: RefCell::default(),
            step_loops: RefCell::default(),
            switches: Vec::new(),
            wanting: RefCell::default(),
            step_answers: steps::StepAnswers::default(),
            gpu_answers: first_use::GpuAnswers::default(),
            followed: Cell::new(0),
        };
        model.function_starts = (0..)
            .map(FunctionId)
            .zip(&model.tree.functions)
            .map(|(id, it)| (it.syntax.range().start().to_u32(), id))
            .collect();
        model.calls = call_graph::collect_calls(&model);
        model.methods = model.tree.classes.iter().flat_map(|it| it.methods.keys().copied()).collect();
        // The class of an argument, and with it the methods called on a parameter, are known once calls of functions are.
        for _ in 0..2 {
            let callees = call_graph::collect_callees(&model);
            model.callers = call_graph::collect_callers(&model, &callees);
            model.callees = callees;
        }
        model.switches = evaluation::switches(&model);
        model.evidence = Evidence::collect(&model);
        model
    }

    /// Continues a query in another function; `None` beyond [`FOLLOWED`] functions.
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

    pub(crate) fn node(&self, id: NodeId) -> &SyntaxNode<'a> {
        &self.tree.nodes[id.index()]
    }

    /// Returns the id of an expression or a statement of this file.
    pub(crate) fn id(&self, syntax: &impl HasNodeIndex) -> Option<NodeId> {
        data::id_of(syntax).filter(|id| id.index() < self.tree.nodes.len())
    }

    /// Returns the text of an expression or a statement.
    pub(crate) fn source(&self, syntax: &impl Ranged) -> &'a str {
        let range = syntax.range();
        self.text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
    }

    /// Returns the first line of a node's text.
    pub(crate) fn source_at(&self, id: NodeId) -> &'a str {
        let text = match self.node(id).syntax {
            Syntax::Statement(it) => self.source(it),
            Syntax::Expression(it) => self.source(it),
        };
        text.lines().next().unwrap_or_default()
    }

    /// Returns the text between two nodes, both included.
    pub(crate) fn source_of(&self, range: (NodeId, NodeId)) -> &'a str {
        let range_of = |id: NodeId| match self.node(id).syntax {
            Syntax::Statement(it) => it.range(),
            Syntax::Expression(it) => it.range(),
        };
        self.text.get(range_of(range.0).start().to_usize()..range_of(range.1).end().to_usize()).unwrap_or_default()
    }

    /// Returns the value of a call.
    pub(crate) fn value_of(&self, call: &Call<'a>) -> ValueKind {
        match self.node(call.id).syntax {
            Syntax::Expression(expression) => self.value(expression),
            Syntax::Statement(_) => ValueKind::Unknown,
        }
    }

    /// Returns the innermost statement at or above a node.
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

    /// Returns the first node behind the linted file.
    fn end(&self) -> NodeId {
        self.tree.ends.first().map_or_else(|| NodeId::next(&self.tree.nodes), |end| end.0)
    }

    /// Iterates over all statements in the order of the walk, those of linked files last.
    pub(crate) fn statements(&self) -> impl Iterator<Item = (NodeId, &'a Stmt)> + '_ {
        (0..).map(NodeId).zip(&self.tree.nodes).filter_map(|(id, node)| match node.syntax {
            Syntax::Statement(statement) => Some((id, statement)),
            Syntax::Expression(_) => None,
        })
    }

    /// Iterates over the regions from `region` outwards, up to and including its function or the module.
    pub(crate) fn regions(&self, region: RegionId) -> impl Iterator<Item = RegionKind<'a>> + '_ {
        let mut next = Some(region);
        std::iter::from_fn(move || {
            let region = &self.tree.regions[next?.index()];
            let ends = matches!(region.kind, RegionKind::Module | RegionKind::Function(_));
            next = if ends { None } else { Some(region.parent) };
            Some(region.kind)
        })
    }

    /// Iterates over the regions between `region` and a loop around it, without the loop.
    pub(crate) fn regions_within(&self, region: RegionId, around: LoopId) -> impl Iterator<Item = RegionKind<'a>> + '_ {
        self.regions(region).take_while(move |kind| !matches!(kind, RegionKind::Loop(id) if *id == around))
    }

    /// Iterates over the loops around a region within its function, innermost first.
    pub(crate) fn loops(&self, region: RegionId) -> impl Iterator<Item = LoopId> + '_ {
        self.regions(region).filter_map(|kind| match kind {
            RegionKind::Loop(id) => Some(id),
            _ => None,
        })
    }

    /// Returns the function that contains a region.
    pub(crate) fn function(&self, region: RegionId) -> Option<FunctionId> {
        self.regions(region).find_map(|kind| match kind {
            RegionKind::Function(id) => Some(id),
            _ => None,
        })
    }

    /// Returns the first and the last node of a function's body, or of the module's.
    pub(crate) fn body(&self, function: Option<FunctionId>) -> (NodeId, NodeId) {
        match function {
            Some(id) => self.tree.functions[id.index()].body,
            None => (NodeId(0), NodeId(self.end().0.saturating_sub(1))),
        }
    }

    /// Checks whether a node lies in the body of a loop.
    pub(crate) fn is_in(&self, id: NodeId, around: LoopId) -> bool {
        let (first, last) = self.tree.loops[around.index()].body;
        first <= id && id <= last
    }

    /// Returns the definition that reaches a name.
    pub(crate) fn definition(&self, name: &ruff_python_ast::ExprName) -> data::DefinitionId {
        self.id(name).map_or(build::UNBOUND, |id| self.node(id).definition)
    }

    /// Iterates over the expressions between two nodes, both included.
    pub(crate) fn expressions(&self, range: (NodeId, NodeId)) -> impl Iterator<Item = (NodeId, &'a Expr)> + '_ {
        let (first, last) = (range.0.index(), range.1.index().saturating_add(1).min(self.tree.nodes.len()));
        let nodes = self.tree.nodes.get(first..last).unwrap_or_default();
        (range.0.0..).map(NodeId).zip(nodes).filter_map(|(id, node)| match node.syntax {
            Syntax::Expression(expression) => Some((id, expression)),
            Syntax::Statement(_) => None,
        })
    }
}
