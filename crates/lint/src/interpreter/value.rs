//! Values of interpreted programs, and the objects that they refer to.

use rustc_hash::FxHashMap;

use crate::semantics::data::{ClassId, FunctionId, NodeId};
use crate::semantics::{Graph, TensorDevice};

/// An object with an identity: several names may refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ObjectId(pub(super) u32);

/// A namespace of variables: of a file, of a class body, or of one run of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EnvId(pub(super) u32);

/// A set of places whose value of the previous step went into a tensor; bits are indices of `Interpreter::carries`.
pub(super) type CarrySet = u128;

/// What is known of a tensor: graph, device, and origins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TensorValue {
    pub(super) graph: Graph,
    pub(super) device: TensorDevice,
    /// Carried places whose value the tensor is, without any arithmetic since.
    pub(super) kept: CarrySet,
    /// Carried places that reached the tensor by arithmetic alone.
    pub(super) added: CarrySet,
    /// Carried places that reached the tensor through a module.
    pub(super) through: CarrySet,
    /// True for an output of a module, or a value computed from one without a reduction to a number.
    pub(super) is_output: bool,
    /// True for a value divided by something that is no literal, or of unknown code, which may divide.
    pub(super) is_scaled: bool,
    /// True for a parameter, which has no graph itself but records what is computed from it.
    pub(super) is_leaf: bool,
    /// The forwards whose graph the tensor has; bits are indices of `RunNotes::forwards`.
    pub(super) sources: u128,
}

impl TensorValue {
    pub(super) fn new(graph: Graph, device: TensorDevice) -> TensorValue {
        TensorValue {
            graph,
            device,
            kept: 0,
            added: 0,
            through: 0,
            is_output: false,
            is_scaled: false,
            is_leaf: false,
            sources: 0,
        }
    }

    /// Returns the tensor without its graph.
    pub(super) fn detached(self) -> TensorValue {
        TensorValue { graph: Graph::Absent, kept: 0, added: 0, through: 0, sources: 0, ..self }
    }

    /// Returns the tensor after an operation on it.
    pub(super) fn computed(self) -> TensorValue {
        TensorValue { kept: 0, added: self.added | self.kept, ..self }
    }

    /// Returns one of two tensors.
    pub(super) fn or(self, other: TensorValue) -> TensorValue {
        let device = if self.device == other.device { self.device } else { TensorDevice::Unsure };
        let kept = self.kept | other.kept;
        TensorValue { device, kept, added: self.added | other.added, ..self.with(other) }
    }

    /// Returns a tensor computed from two.
    pub(super) fn with(self, other: TensorValue) -> TensorValue {
        TensorValue {
            graph: self.graph.or(other.graph),
            device: if self.device == TensorDevice::Unsure { other.device } else { self.device },
            kept: 0,
            added: self.added | other.added | self.kept | other.kept,
            through: self.through | other.through,
            is_output: self.is_output || other.is_output,
            is_scaled: self.is_scaled || other.is_scaled,
            is_leaf: false,
            sources: self.sources | other.sources,
        }
    }
}

/// What an expression may be, as far as memory is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AbstractValue<'a> {
    Unknown,
    Nothing,
    /// A number, a string, a shape: nothing with a tensor.
    Plain,
    Int(i64),
    Text(&'a str),
    Tensor(TensorValue),
    Object(ObjectId),
    Function(FunctionId, EnvId),
    Class(ClassId),
    /// A file of the tree, imported as a module.
    File(usize),
}

impl<'a> AbstractValue<'a> {
    pub(super) fn tensor(self) -> Option<TensorValue> {
        match self {
            AbstractValue::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    pub(super) fn object(self) -> Option<ObjectId> {
        match self {
            AbstractValue::Object(id) => Some(id),
            _ => None,
        }
    }

    pub(super) fn is_recorded(self) -> bool {
        matches!(self, AbstractValue::Tensor(TensorValue { graph: Graph::Recorded, is_leaf: false, .. }))
    }

    pub(super) fn is_plain(self) -> bool {
        matches!(self, AbstractValue::Plain | AbstractValue::Int(_) | AbstractValue::Text(_) | AbstractValue::Nothing)
    }

    /// The join of two values, for code where either may occur.
    pub(super) fn or(self, other: AbstractValue<'a>) -> AbstractValue<'a> {
        match (self, other) {
            (one, other) if one == other => one,
            (AbstractValue::Tensor(one), AbstractValue::Tensor(other)) => AbstractValue::Tensor(one.or(other)),
            // A graph in one of the ways counts.
            (recorded, AbstractValue::Unknown) | (AbstractValue::Unknown, recorded) if recorded.is_recorded() => {
                recorded
            }
            (known, nothing) | (nothing, known) if nothing.is_plain() && !known.is_plain() => known,
            (one, other) if one.is_plain() && other.is_plain() => AbstractValue::Plain,
            (object @ AbstractValue::Object(_), AbstractValue::Object(_)) => object,
            _ => AbstractValue::Unknown,
        }
    }
}

/// A place that holds a value from one step to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum StoredPlace<'a> {
    Variable(EnvId, &'a str),
    Field(ObjectId, &'a str),
    /// An entry of a dict under a constant key.
    Entry(ObjectId, &'a str),
    /// Any other entry or element.
    Content(ObjectId),
}

/// The type of an object, as Python or PyTorch has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ObjectKind<'a> {
    /// A list, a deque, a set, a queue.
    List,
    Tuple,
    Dict,
    /// An instance of a class of the tree.
    Instance(ClassId),
    /// A module of a library, or one known by its use.
    Module,
    /// A loss function or an activation.
    Operation,
    Optimizer,
    Scaler,
    Loader,
    /// The elements of a generator or an iterator.
    Iterator,
    /// The attributes of a function.
    Attributes,
    /// A method with its object.
    Method(AbstractValue<'a>, FunctionId),
    /// A method of a library object: `losses.append`.
    LibraryMethod(AbstractValue<'a>, &'a str),
    /// A call with some arguments given: `functools.partial`.
    Partial(AbstractValue<'a>),
    /// A parameter of a module, from `module.parameters()`.
    ParameterOf(ObjectId),
    Lambda(NodeId, EnvId),
    /// A function of a library as a value; the node names it.
    LibraryFunction(NodeId),
}

/// An object with all that a run notes of it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any may go with any")]
pub(super) struct HeapObject<'a> {
    pub(super) kind: ObjectKind<'a>,
    /// The time of its creation.
    pub(super) born: u32,
    /// The time of the last emptying, or of the last replacement at a place that held it.
    pub(super) emptied: u32,
    pub(super) fields: FxHashMap<&'a str, AbstractValue<'a>>,
    /// Entries under constant keys; for a tuple, under "0", "1", ...
    pub(super) entries: FxHashMap<&'a str, AbstractValue<'a>>,
    /// The join of all other elements.
    pub(super) content: Option<AbstractValue<'a>>,
    /// The values of positional elements of a tuple or list literal.
    pub(super) elements: Vec<AbstractValue<'a>>,
    /// The value that `defaultdict` or `field(default_factory=...)` makes.
    pub(super) factory: Option<AbstractValue<'a>>,
    /// The largest number of elements: `deque(maxlen=...)`; zero for an unknown limit.
    pub(super) limit: Option<i64>,
    /// True after `.eval()`, false after `.train()`.
    pub(super) is_eval: Option<bool>,
    pub(super) is_frozen: bool,
    /// True for a module known by a call of `eval` alone: it may have no parameters.
    pub(super) is_guess: bool,
    /// True for a module loaded by `from_pretrained`, which comes in evaluation mode.
    pub(super) is_loaded: bool,
    /// True for a deep copy of another module.
    pub(super) is_copy: bool,
    /// True for one of many objects of a mapping, made for a key that varies.
    pub(super) is_many: bool,
    /// True if an optimizer has its parameters.
    pub(super) is_optimized: bool,
    /// True if code outside of the tree got the object and may change it.
    pub(super) escaped: bool,
    /// True for elements that were all kept: a generator in `list(...)`.
    pub(super) is_collected: bool,
    /// True for a module of the tree or of a library.
    pub(super) is_module: bool,
}

impl<'a> HeapObject<'a> {
    pub(super) fn new(kind: ObjectKind<'a>, born: u32) -> HeapObject<'a> {
        HeapObject {
            kind,
            born,
            emptied: 0,
            fields: FxHashMap::default(),
            entries: FxHashMap::default(),
            content: None,
            elements: Vec::new(),
            factory: None,
            limit: None,
            is_eval: None,
            is_frozen: false,
            is_guess: false,
            is_loaded: false,
            is_copy: false,
            is_many: false,
            is_optimized: false,
            escaped: false,
            is_collected: false,
            is_module: matches!(kind, ObjectKind::Module),
        }
    }

    /// Checks for an object that holds elements.
    pub(super) fn is_container(&self) -> bool {
        matches!(self.kind, ObjectKind::List | ObjectKind::Dict | ObjectKind::Tuple | ObjectKind::Iterator)
    }

    /// Returns the join of all elements.
    pub(super) fn any_element(&self) -> AbstractValue<'a> {
        let known = self.elements.iter().chain(self.entries.values()).copied().chain(self.content);
        let known = known.reduce(existing);
        known.or(self.factory).unwrap_or(AbstractValue::Unknown)
    }
}

/// The join for elements that are all visited: a graph in one of them counts, whatever the others are.
pub(super) fn existing<'a>(one: AbstractValue<'a>, other: AbstractValue<'a>) -> AbstractValue<'a> {
    match (one, other) {
        (AbstractValue::Tensor(one), AbstractValue::Tensor(other)) => AbstractValue::Tensor(one.or(other)),
        (recorded, _) | (_, recorded) if recorded.is_recorded() => recorded,
        (one, other) => one.or(other),
    }
}
