//! Values of a pickle, with the arena of their parts.

use super::arena::{Arena, ArenaNode, ChainItems, NodeId, Record, Slot};

/// A value, with the arena of its parts.
#[derive(Clone, Copy, Debug)]
pub struct PickleValue<'a, T> {
    arena: &'a Arena<T>,
    slot: Slot<T>,
}

/// The content of a value. Items and entries of folded containers are not visible here.
#[derive(Debug)]
pub enum Data<'a, T> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of at most 16 bytes.
    Int(i128),
    /// A float.
    Float(f64),
    /// A string.
    Str(&'a str),
    /// A byte string.
    Bytes(&'a [u8]),
    /// A list.
    List(Items<'a, T>),
    /// A tuple.
    Tuple(Items<'a, T>),
    /// A dict.
    Dict(Entries<'a, T>),
    /// A folded value.
    Folded(T),
}

impl<'a, T: Copy> PickleValue<'a, T> {
    pub(crate) fn new(arena: &'a Arena<T>, slot: Slot<T>) -> PickleValue<'a, T> {
        PickleValue { arena, slot }
    }

    /// The value without its arena.
    pub fn slot(self) -> Slot<T> {
        self.slot
    }

    /// The content.
    pub fn data(self) -> Data<'a, T> {
        match self.slot {
            Slot::None => Data::None,
            Slot::Bool(value) => Data::Bool(value),
            Slot::Int(value) => Data::Int(value.into()),
            Slot::Wide(at) => Data::Int(self.arena.wide.get(at as usize).copied().unwrap_or_default()),
            Slot::Float(value) => Data::Float(value),
            Slot::Str(id) => Data::Str(self.arena.resolve_text(id)),
            Slot::Bytes(id) => Data::Bytes(self.arena.resolve_bytes(id)),
            Slot::Folded(record) => Data::Folded(record),
            Slot::Node(id) => self.container(id),
        }
    }

    fn container(self, id: NodeId) -> Data<'a, T> {
        let items = |chain| Items { arena: self.arena, contents: self.arena.contents(chain) };
        match self.arena.node(id) {
            Some(&ArenaNode::Dict(chain)) => Data::Dict(Entries(items(chain))),
            Some(&ArenaNode::List(chain)) => Data::List(items(chain)),
            Some(&ArenaNode::Tuple(chain)) => Data::Tuple(items(chain)),
            Some(&ArenaNode::Folded(record)) => Data::Folded(record),
            None => Data::None,
        }
    }

    /// The container's number, equal for shared containers.
    pub fn node(self) -> Option<NodeId> {
        if let Slot::Node(id) = self.slot { Some(id) } else { None }
    }

    /// The string.
    pub fn as_str(self) -> Option<&'a str> {
        if let Data::Str(text) = self.data() { Some(text) } else { None }
    }

    /// The integer; `True` and `False` are 1 and 0.
    pub fn as_int(self) -> Option<i128> {
        match self.data() {
            Data::Int(value) => Some(value),
            Data::Bool(value) => Some(value.into()),
            _ => None,
        }
    }

    /// The number; integers are converted.
    pub fn as_float(self) -> Option<f64> {
        match self.data() {
            Data::Float(value) => Some(value),
            _ => self.as_int().map(|value| value as f64),
        }
    }

    /// The record of a folded value.
    pub fn folded(self) -> Option<T> {
        self.arena.folded(self.slot)
    }

    /// The items of a list or tuple that was not folded.
    pub fn items(self) -> Option<Items<'a, T>> {
        match self.data() {
            Data::List(items) | Data::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a dict that was not folded.
    pub fn entries(self) -> Option<Entries<'a, T>> {
        if let Data::Dict(entries) = self.data() { Some(entries) } else { None }
    }

    /// The last value of a key, in a dict that was not folded.
    pub fn get(self, key: &str) -> Option<PickleValue<'a, T>> {
        let matching = self.entries()?.filter(|(found, _)| found.as_str() == Some(key));
        matching.last().map(|(_, value)| value)
    }

    /// Its Python type.
    pub(crate) fn kind(self) -> &'static str
    where
        T: Record,
    {
        match self.slot {
            Slot::None => "None",
            Slot::Bool(_) => "bool",
            Slot::Int(_) | Slot::Wide(_) => "int",
            Slot::Float(_) => "float",
            Slot::Str(_) => "str",
            Slot::Bytes(_) => "bytes",
            Slot::Folded(record) => record.kind(),
            Slot::Node(id) => self.arena.node(id).map_or("None", kind_of_node),
        }
    }
}

pub(super) fn kind_of_node<T: Record>(node: &ArenaNode<T>) -> &'static str {
    match *node {
        ArenaNode::Dict(_) => "dict",
        ArenaNode::List(_) => "list",
        ArenaNode::Tuple(_) => "tuple",
        ArenaNode::Folded(record) => record.kind(),
    }
}

/// The items of a list or tuple, in order.
#[derive(Debug)]
pub struct Items<'a, T> {
    arena: &'a Arena<T>,
    contents: ChainItems<'a, T>,
}

impl<'a, T: Copy> Iterator for Items<'a, T> {
    type Item = PickleValue<'a, T>;

    fn next(&mut self) -> Option<PickleValue<'a, T>> {
        self.contents.next().map(|slot| PickleValue::new(self.arena, slot))
    }
}

/// The keys and values of a dict, in the order of insertion. For a repeated key, Python keeps the last value.
#[derive(Debug)]
pub struct Entries<'a, T>(Items<'a, T>);

impl<'a, T: Copy> Iterator for Entries<'a, T> {
    type Item = (PickleValue<'a, T>, PickleValue<'a, T>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }
}
