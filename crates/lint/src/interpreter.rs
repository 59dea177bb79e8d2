//! Runs a program on abstract values, to learn which tensors with a graph outlive the step that made them.
//!
//! # Note [Abstract run]
//! The file's top level is run first, then every function that no call has reached. Calls of functions of the tree are followed with their
//! arguments; of unknown functions the result is unknown. A loop's body is run twice: what the second run finds in a variable, a field or
//! an entry was carried from the step before (Note `[Carried values]` in `loops.rs`). Both branches of a condition are run unless the test is
//! decided, and their variables are joined; changes of objects in either are kept.
//!
//! # Note [Time]
//! Each object has the time of its creation. An object outlives a step of a loop if it is older than the step.
//!
//! # Note [Run limit]
//! A run ends after [`MOST_STEPS`] expressions; facts found by then are kept, so that a longer program is less known, never wrongly.

mod arguments;
mod attributes;
mod calls;
mod collections;
mod containers;
mod definitions;
mod displays;
mod expressions;
mod facts;
mod forwards;
mod instances;
mod judge;
mod library;
mod loops;
mod methods;
mod places;
mod statements;
mod training;
mod truth;
mod unknown;
mod value;

use ruff_python_ast::Expr;
use rustc_hash::{FxHashMap, FxHashSet};

use self::loops::{LoopHead, LoopRun};
use self::value::{AbstractValue, CarrySet, EnvId, HeapObject, ObjectId, ObjectKind, StoredPlace};
use crate::semantics::data::{ClassId, FunctionId, NodeId};
use crate::semantics::{Mode, Model, Observation, ObservationKind};

/// The largest number of expressions of a run.
const MOST_STEPS: u32 = 60_000;
/// The largest number of nested calls.
const MOST_CALLS: usize = 10;
/// The largest number of nested expressions and statements, over all calls.
const MOST_NESTED: u32 = 160;

/// The variables of a file, of a class body, or of one run of a function.
#[derive(Debug, Default)]
struct Namespace<'a> {
    /// The time of its creation.
    born: u32,
    variables: FxHashMap<&'a str, AbstractValue<'a>>,
    /// The namespace around a nested function.
    around: Option<EnvId>,
    /// The file around.
    file: FileIndex,
    /// Names declared `global` or `nonlocal`.
    outer: FxHashSet<&'a str>,
}

/// The index of a file: 0 is the linted one, the others are those of `LinkedFiles`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FileIndex(usize);

/// A run of a function.
#[derive(Debug)]
struct CallFrame<'a> {
    function: Option<FunctionId>,
    env: EnvId,
    /// The join of the returned values.
    returned: Option<AbstractValue<'a>>,
    /// The yielded elements.
    yielded: Option<ObjectId>,
    /// The call.
    at: NodeId,
    /// True if the call passes a tensor with a graph.
    is_given_graph: bool,
}

/// A run of a program, with all values at the current point.
struct Interpreter<'m, 'a> {
    model: &'m Model<'a>,
    heap: Vec<HeapObject<'a>>,
    envs: Vec<Namespace<'a>>,
    /// The namespace of each file, once the file has run.
    files: Vec<Option<EnvId>>,
    frames: Vec<CallFrame<'a>>,
    modes: Vec<Mode>,
    loops: Vec<LoopRun<'a>>,
    /// The loop and the place of each bit of a [`CarrySet`].
    carries: Vec<(u32, StoredPlace<'a>)>,
    defaults: FxHashMap<FunctionId, Vec<Option<AbstractValue<'a>>>>,
    class_envs: FxHashMap<ClassId, EnvId>,
    attributes: FxHashMap<FunctionId, ObjectId>,
    /// The modes that decorators set.
    decorated: FxHashMap<FunctionId, Mode>,
    reached: FxHashSet<FunctionId>,
    time: u32,
    steps: u32,
    /// The number of expressions and statements around the current point.
    nested: u32,
    /// The number of calls whose arguments are being bound or whose body runs.
    calls: usize,
    /// The depth of branches that may be skipped, within the innermost loop.
    doubts: u32,
    /// The branches of conditions with a remainder around the current point.
    remainders: Vec<training::RemainderArm>,
    /// True in a function whose callers are unknown, so that gradients are recorded by assumption.
    is_assumed: bool,
    /// True within the parts of a `Sequential`, whose outputs are not followed one by one.
    is_in_parts: bool,
    /// The site of the forward whose body runs.
    forward: CarrySet,
    /// The innermost call under evaluation.
    call: NodeId,
    found: facts::RunNotes<'a>,
}

/// Returns what a run of the program shows of a kind; the program is run once.
pub(crate) fn observed<'m>(model: &'m Model<'_>, kind: ObservationKind) -> impl Iterator<Item = &'m Observation> {
    let observe = || if may_train_or_evaluate(model.text) { observe(model) } else { Vec::new() };
    model.observations.get_or_init(observe).iter().filter(move |it| it.kind == kind)
}

/// Checks whether a text has a word without which nothing can be observed: most files define modules and run none.
fn may_train_or_evaluate(text: &str) -> bool {
    let words = ["backward", ".eval()", "from_pretrained", "no_grad", "inference_mode", "autograd.grad", "ing_step"];
    words.iter().any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

/// Runs the linted file of a model.
fn observe(model: &Model<'_>) -> Vec<Observation> {
    let mut interpreter = Interpreter {
        model,
        heap: Vec::new(),
        envs: Vec::new(),
        files: vec![None; model.tree.ends.len()],
        frames: Vec::new(),
        modes: vec![Mode::On],
        loops: Vec::new(),
        carries: Vec::new(),
        defaults: FxHashMap::default(),
        class_envs: FxHashMap::default(),
        attributes: FxHashMap::default(),
        decorated: FxHashMap::default(),
        reached: FxHashSet::default(),
        time: 1,
        steps: 0,
        nested: 0,
        calls: 0,
        doubts: 0,
        remainders: Vec::new(),
        is_assumed: false,
        is_in_parts: false,
        forward: 0,
        call: NodeId(0),
        found: facts::RunNotes::default(),
    };
    interpreter.run();
    interpreter.found.finish(model)
}

impl<'a> Interpreter<'_, 'a> {
    fn run(&mut self) {
        let files: Vec<usize> = (0..self.files.len()).filter(|&it| self.model.is_run_from(it)).collect();
        for &file in &files {
            self.run_file(file);
        }
        // Callers come before what they call, so that arguments are known: first functions without a caller, then the rest.
        for only_uncalled in [true, false] {
            for (index, function) in (0..).zip(&self.model.tree.functions) {
                let id = FunctionId(index);
                let is_called = self.model.callers(id).next().is_some();
                let is_entry = files.contains(&self.model.file_of_range(function.syntax));
                if is_entry && !self.reached.contains(&id) && !(only_uncalled && is_called) {
                    self.run_entry(id);
                }
            }
        }
    }

    /// Runs the top level of a file once, and returns its namespace.
    fn run_file(&mut self, index: usize) -> Option<EnvId> {
        if let Some(known) = self.files.get(index)? {
            return Some(*known);
        }
        let env = self.new_env(None, index);
        *self.files.get_mut(index)? = Some(env);
        let body = self.model.file_body(index)?;
        let at = self.call;
        self.frames.push(CallFrame { function: None, env, returned: None, yielded: None, at, is_given_graph: false });
        self.modes.push(self.mode());
        let doubts = std::mem::take(&mut self.doubts);
        self.block(body);
        self.doubts = doubts;
        self.modes.pop();
        self.frames.pop();
        self.found.end_frame(self.frames.len());
        Some(env)
    }

    /// Runs a function that no call has reached, with unknown arguments, as often as a loop would: another file may call it in each step.
    fn run_entry(&mut self, id: FunctionId) {
        let function = &self.model.tree.functions[id.index()];
        let Some(env) = self.run_file(self.model.file_of_range(function.syntax)) else { return };
        let receiver = function.class.map(|class| self.object_of_unknown_origin(class, id));
        self.modes.push(self.model.mode_of_entry(id));
        self.is_assumed = self.model.mode_of_callers_is_unsure(id);
        self.doubts = 0;
        let head = LoopHead {
            at: function.body.0,
            iterated: None,
            test: None,
            is_of_framework: self.model.is_evaluation_step(id),
        };
        let is_training_step = self.model.is_training_step(id);
        self.repeat(&head, AbstractValue::Unknown, |run, _| {
            if is_training_step {
                run.note_work(|work| (work.backwards, work.steps) = (work.backwards + 1, work.steps + 1));
            }
            let value = run.call_function(id, env, receiver, &arguments::CallArguments::unknown());
            run.note_returned(value);
        });
        self.modes.pop();
        self.is_assumed = false;
        self.found.end_entry();
    }

    /// Makes an instance of a class as an unknown caller would, set up by the methods with such a name.
    fn object_of_unknown_origin(&mut self, class: ClassId, entry: FunctionId) -> AbstractValue<'a> {
        let object = self.instantiate(self.model.leaf_class(class), &arguments::CallArguments::unknown());
        let Some(id) = object.object() else { return object };
        for name in [
            "initialize",
            "setup",
            "load_model",
            "load",
            "build_model",
            "init_model",
            "_build_model",
            "_load_model",
            "configure_optimizers",
        ] {
            if let Some((function, env)) = self.method_function(id, name).filter(|it| it.0 != entry) {
                self.call_function(function, env, Some(object), &arguments::CallArguments::unknown());
            }
        }
        object
    }

    fn new_env(&mut self, around: Option<EnvId>, file: usize) -> EnvId {
        let id = EnvId(u32::try_from(self.envs.len()).unwrap_or(u32::MAX));
        let born = self.tick();
        self.envs.push(Namespace { born, around, file: FileIndex(file), ..Namespace::default() });
        id
    }

    fn env(&self) -> EnvId {
        self.frames.last().map_or(EnvId(0), |frame| frame.env)
    }

    fn mode(&self) -> Mode {
        self.modes.last().copied().unwrap_or(Mode::Unsure)
    }

    /// Advances the clock.
    fn tick(&mut self) -> u32 {
        self.time = self.time.saturating_add(1);
        self.time
    }

    /// Checks whether the work is used up: Note [Run limit].
    fn is_over(&self) -> bool {
        self.steps >= MOST_STEPS
    }

    fn allocate(&mut self, kind: ObjectKind<'a>) -> ObjectId {
        let born = self.tick();
        let id = ObjectId(u32::try_from(self.heap.len()).unwrap_or(u32::MAX));
        self.heap.push(HeapObject::new(kind, born));
        id
    }

    fn new_object(&mut self, kind: ObjectKind<'a>) -> AbstractValue<'a> {
        AbstractValue::Object(self.allocate(kind))
    }

    fn object(&self, id: ObjectId) -> &HeapObject<'a> {
        &self.heap[id.0 as usize]
    }

    fn object_mut(&mut self, id: ObjectId) -> &mut HeapObject<'a> {
        &mut self.heap[id.0 as usize]
    }

    /// Returns the call through which the loop's function passes what is kept at a node; the node itself if its function made it.
    fn giving_node(&self, at: NodeId) -> NodeId {
        let outer = self.loops.last().map_or(0, |run| run.frames);
        let within = self.frames.iter().skip(outer).rev();
        within.take_while(|frame| frame.is_given_graph).last().map_or(at, |frame| frame.at)
    }

    /// Returns the node itself, or the innermost call in the linted file that leads to it.
    fn own_node(&self, at: NodeId) -> NodeId {
        let calls = self.frames.iter().rev().map(|frame| frame.at);
        std::iter::once(at).chain(calls).find(|&it| self.model.is_own_node(it)).unwrap_or(at)
    }

    fn node(&self, expression: &'a Expr) -> NodeId {
        self.model.id(expression).unwrap_or(NodeId(0))
    }

    /// Returns the bits of the carried values of a place.
    fn carries_of(&self, place: StoredPlace<'a>) -> CarrySet {
        let bits = self.carries.iter().enumerate().filter(|(_, (_, it))| *it == place);
        bits.fold(0, |set, (index, _)| set | (1 << index))
    }
}
