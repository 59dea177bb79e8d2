//! A decoded pickle: nodes in vectors, and the views on them that readers use. See Note [Pickle arena].

use std::borrow::Cow;

/// The place of a value in its [`Document`]. Equal ids are the same Python object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value; what does not fit beside the tag is in a table of the document.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    None,
    Bool(bool),
    Int(i64),
    /// Index into `wide`: an integer beyond 64 bits.
    Wide(u32),
    Float(f64),
    /// Index into `strings`.
    Str(u32),
    /// Index into `bytes`.
    Bytes(u32),
    List(Chain),
    Tuple(Chain),
    /// Keys and values in turn.
    Dict(Chain),
}

impl Node {
    pub(super) fn kind(self) -> &'static str {
        match self {
            Node::None => "None",
            Node::Bool(_) => "bool",
            Node::Int(_) | Node::Wide(_) => "int",
            Node::Float(_) => "float",
            Node::Str(_) => "str",
            Node::Bytes(_) => "bytes",
            Node::List(_) => "list",
            Node::Tuple(_) => "tuple",
            Node::Dict(_) => "dict",
        }
    }

    pub(super) fn chain(self) -> Option<Chain> {
        match self {
            Node::List(chain) | Node::Tuple(chain) | Node::Dict(chain) => Some(chain),
            _ => None,
        }
    }
}

/// The contents of a container. Pickles fill lists a thousand items at a time, so these are extents, linked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Chain {
    pub(super) const EMPTY: Chain = Chain { first: Extent::NONE, last: Extent::NONE };
}

/// A run of `items` that one instruction put into a container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) next: u32,
    /// The offset of the instruction.
    pub(super) offset: u32,
}

impl Extent {
    pub(super) const NONE: u32 = u32::MAX;
}

/// A decoded pickle.
#[derive(Debug)]
pub struct Document<'a> {
    pub(super) nodes: Vec<Node>,
    pub(super) strings: Vec<Cow<'a, str>>,
    pub(super) bytes: Vec<&'a [u8]>,
    pub(super) wide: Vec<i128>,
    pub(super) items: Vec<NodeId>,
    pub(super) extents: Vec<Extent>,
    pub(super) root: NodeId,
}

impl Document<'_> {
    /// The value that the pickle is of.
    pub fn root(&self) -> Value<'_> {
        Value { document: self, id: self.root }
    }

    /// The number of items in all containers together, shared ones counted once: what a linear walk visits.
    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// A table with a place for every value of the document.
    pub fn table(&self) -> NodeTable {
        NodeTable { numbers: vec![0; self.nodes.len()] }
    }

    pub(super) fn node(&self, id: NodeId) -> Node {
        self.nodes.get(id.index()).copied().unwrap_or(Node::None)
    }

    pub(super) fn extent(&self, extent: u32) -> Option<&Extent> {
        self.extents.get(extent as usize)
    }

    fn items_of(&self, chain: Chain) -> Items<'_> {
        Items { document: self, here: [].iter(), next: chain.first }
    }
}

/// A value of a document.
#[derive(Clone, Copy, Debug)]
pub struct Value<'d> {
    document: &'d Document<'d>,
    id: NodeId,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Data<'d> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// A string; lone surrogates are replaced.
    Str(&'d str),
    /// `bytes` or a `bytearray`.
    Bytes(&'d [u8]),
    /// A list.
    List(Items<'d>),
    /// A tuple.
    Tuple(Items<'d>),
    /// A dict.
    Dict(Entries<'d>),
}

impl<'d> Value<'d> {
    /// Which object this is.
    pub fn id(self) -> NodeId {
        self.id
    }

    /// What it is.
    pub fn data(self) -> Data<'d> {
        let document = self.document;
        match document.node(self.id) {
            Node::None => Data::None,
            Node::Bool(value) => Data::Bool(value),
            Node::Int(value) => Data::Int(value.into()),
            Node::Wide(at) => Data::Int(document.wide.get(at as usize).copied().unwrap_or_default()),
            Node::Float(value) => Data::Float(value),
            Node::Str(at) => Data::Str(document.strings.get(at as usize).map_or("", Cow::as_ref)),
            Node::Bytes(at) => Data::Bytes(document.bytes.get(at as usize).copied().unwrap_or_default()),
            Node::List(chain) => Data::List(document.items_of(chain)),
            Node::Tuple(chain) => Data::Tuple(document.items_of(chain)),
            Node::Dict(chain) => Data::Dict(Entries { items: document.items_of(chain) }),
        }
    }

    /// The Python name of its type.
    pub fn kind(self) -> &'static str {
        self.document.node(self.id).kind()
    }

    /// The integer or boolean, where it is one.
    pub fn as_int(self) -> Option<i128> {
        match self.data() {
            Data::Int(value) => Some(value),
            Data::Bool(value) => Some(value.into()),
            _ => None,
        }
    }

    /// The string, where it is one.
    pub fn as_str(self) -> Option<&'d str> {
        if let Data::Str(text) = self.data() { Some(text) } else { None }
    }

    /// The items, where it is a list or a tuple.
    pub fn items(self) -> Option<Items<'d>> {
        match self.data() {
            Data::List(items) | Data::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, where it is a dict.
    pub fn entries(self) -> Option<Entries<'d>> {
        if let Data::Dict(entries) = self.data() { Some(entries) } else { None }
    }

    /// The value under the string `key`, where this is a dict that has it. Of two the later, as in Python.
    pub fn get(self, key: &str) -> Option<Value<'d>> {
        let (_, value) = self.entries()?.filter(|(k, _)| k.as_str() == Some(key)).last()?;
        Some(value)
    }
}

/// The items of a list or tuple, in order.
#[derive(Clone, Debug)]
pub struct Items<'d> {
    document: &'d Document<'d>,
    here: std::slice::Iter<'d, NodeId>,
    next: u32,
}

impl<'d> Iterator for Items<'d> {
    type Item = Value<'d>;

    fn next(&mut self) -> Option<Value<'d>> {
        loop {
            if let Some(&id) = self.here.next() {
                return Some(Value { document: self.document, id });
            }
            let extent = self.document.extent(self.next)?;
            self.next = extent.next;
            self.here = self.document.items.get(extent.start as usize..extent.end as usize)?.iter();
        }
    }
}

/// The entries of a dict, in the order they were set; a key that was set twice comes twice.
#[derive(Clone, Debug)]
pub struct Entries<'d> {
    items: Items<'d>,
}

impl<'d> Iterator for Entries<'d> {
    type Item = (Value<'d>, Value<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.items.next()?, self.items.next()?))
    }
}

/// A number for some of the values of a document, for example what each was converted to.
#[derive(Clone, Debug)]
pub struct NodeTable {
    /// One more than the number; 0 where there is none.
    numbers: Vec<u32>,
}

impl NodeTable {
    /// The number that was set for a value.
    pub fn get(&self, id: NodeId) -> Option<u32> {
        self.numbers.get(id.index())?.checked_sub(1)
    }

    /// Sets the number of a value; `u32::MAX` and values of other documents are not kept.
    pub fn set(&mut self, id: NodeId, number: u32) {
        if let Some(slot) = self.numbers.get_mut(id.index()) {
            *slot = number.wrapping_add(1);
        }
    }
}
