//! Builds values bottom-up on a stack, from pickles and from JSON, and folds them. Note [Folding containers].

use super::arena::{Arena, ArenaNode, BytesId, ChainId, NodeId, Record, Slot, StrId, number, within};
use super::error::PickleErrorKind;
use super::{Limits, text};

type Step<T = ()> = Result<T, PickleErrorKind>;

/// Turns containers into records as they close. Note [Folding containers].
pub trait Fold {
    /// The record of a container.
    type Folded: Record;
    /// The record of a dict with these keys and values, in turn; `None` to keep the dict.
    fn dict(&mut self, arena: &Arena<Self::Folded>, pairs: &[Slot<Self::Folded>]) -> Option<Self::Folded>;
    /// The record of a list to which these values are added. The list was empty, or `before`. `None` to keep the list.
    fn list(
        &mut self,
        arena: &Arena<Self::Folded>,
        before: Option<Self::Folded>,
        added: &[Slot<Self::Folded>],
    ) -> Option<Self::Folded>;
    /// The record of a tuple; `None` to keep the tuple.
    fn tuple(&mut self, arena: &Arena<Self::Folded>, items: &[Slot<Self::Folded>]) -> Option<Self::Folded>;
    /// The items of a folded list, when values are added that the fold declines; `None` for a record that is not a
    /// list.
    fn unfold(&self, list: Self::Folded) -> Option<Vec<Slot<Self::Folded>>>;
}

/// The fold that folds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain(());

impl Plain {
    pub(super) const FOLD: Plain = Plain(());
}

impl Record for Plain {
    fn kind(self) -> &'static str {
        "value"
    }
}

impl Fold for Plain {
    type Folded = Plain;

    fn dict(&mut self, _: &Arena<Plain>, _: &[Slot<Plain>]) -> Option<Plain> {
        None
    }

    fn list(&mut self, _: &Arena<Plain>, _: Option<Plain>, _: &[Slot<Plain>]) -> Option<Plain> {
        None
    }

    fn tuple(&mut self, _: &Arena<Plain>, _: &[Slot<Plain>]) -> Option<Plain> {
        None
    }

    fn unfold(&self, _: Plain) -> Option<Vec<Slot<Plain>>> {
        None
    }
}

/// Values under construction.
pub(crate) struct ValueBuilder<F: Fold> {
    pub(crate) arena: Arena<F::Folded>,
    pub(crate) fold: F,
    pub(super) stack: Vec<Slot<F::Folded>>,
    pub(super) limits: Limits,
}

impl<F: Fold> ValueBuilder<F> {
    /// A builder in which these strings have the numbers from 0 on.
    pub(crate) fn new(fold: F, names: &[&str], limits: Limits) -> ValueBuilder<F> {
        ValueBuilder { arena: Arena::new(names), fold, stack: Vec::new(), limits }
    }

    /// The number of values on the stack.
    pub(crate) fn height(&self) -> usize {
        self.stack.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, slot: Slot<F::Folded>) -> Step {
        within(self.stack.len(), self.limits.stack, "values on the stack")?;
        self.stack.push(slot);
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Option<Slot<F::Folded>> {
        self.stack.pop()
    }

    fn push_node(&mut self, node: ArenaNode<F::Folded>) -> Step {
        within(self.arena.nodes.len(), self.limits.nodes, "containers")?;
        let id = NodeId(number(self.arena.nodes.len()));
        self.arena.nodes.push(node);
        self.push(Slot::Node(id))
    }

    pub(crate) fn push_dict(&mut self) -> Step {
        self.push_node(ArenaNode::Dict(ChainId::EMPTY))
    }

    pub(crate) fn push_list(&mut self) -> Step {
        self.push_node(ArenaNode::List(ChainId::EMPTY))
    }

    /// Pushes a string. Bytes that are not UTF-8 are replaced (Python writes such file names).
    #[inline]
    pub(crate) fn push_string(&mut self, bytes: &[u8]) -> Step {
        let id = match self.arena.strings.find(bytes) {
            Some(known) => known,
            None => self.new_string(bytes)?,
        };
        self.push(Slot::Str(StrId(id)))
    }

    fn new_string(&mut self, bytes: &[u8]) -> Step<u32> {
        let text = text::utf8(bytes);
        self.check_text(text.len())?;
        Ok(self.arena.strings.intern(text.as_bytes()))
    }

    pub(super) fn push_bytes(&mut self, bytes: &[u8]) -> Step {
        self.check_text(bytes.len())?;
        let id = self.arena.blobs.intern(bytes);
        self.push(Slot::Bytes(BytesId(id)))
    }

    fn check_text(&self, length: usize) -> Step {
        let (strings, blobs) = (&self.arena.strings, &self.arena.blobs);
        let total = strings.total().saturating_add(blobs.total()).saturating_add(length);
        within(total, self.limits.text, "bytes of text")?;
        within(strings.len().saturating_add(blobs.len()), self.limits.nodes, "strings")
    }

    pub(crate) fn push_wide(&mut self, value: i128) -> Step {
        let slot = if let Ok(small) = i64::try_from(value) {
            Slot::Int(small)
        } else {
            within(self.arena.wide.len(), self.limits.values, "large integers")?;
            self.arena.wide.push(value);
            Slot::Wide(number(self.arena.wide.len() - 1))
        };
        self.push(slot)
    }

    /// Makes a tuple of the values above `start`.
    pub(super) fn tuple(&mut self, start: usize) -> Step {
        let items = self.stack.get(start..).unwrap_or_default();
        let node = match self.fold.tuple(&self.arena, items) {
            Some(folded) => ArenaNode::Folded(folded),
            None => ArenaNode::Tuple(self.keep(ChainId::EMPTY, start)?),
        };
        self.stack.truncate(start);
        self.push_node(node)
    }

    /// Makes a dict of the keys and values above `start`.
    pub(super) fn dict(&mut self, start: usize) -> Step {
        let node = self.filled_dict(start)?;
        self.stack.truncate(start);
        self.push_node(node)
    }

    /// Makes a list of the values above `start`.
    pub(super) fn list(&mut self, start: usize) -> Step {
        let node = self.longer_list(ArenaNode::List(ChainId::EMPTY), start)?;
        self.stack.truncate(start);
        self.push_node(node)
    }

    /// Adds the keys and values above `start` to the dict below them.
    pub(crate) fn add_to_dict(&mut self, start: usize) -> Step {
        let (id, node) = self.target(start, "dict")?;
        let node = match node {
            ArenaNode::Dict(ChainId::EMPTY) => self.filled_dict(start)?,
            ArenaNode::Dict(chain) => ArenaNode::Dict(self.keep(chain, start)?),
            other => return Err(wrong_target("dict", &other)),
        };
        self.finish(id, node, start);
        Ok(())
    }

    /// Adds one key and value to the dict below them. More may follow, so the dict is not folded.
    pub(super) fn add_pair(&mut self, start: usize) -> Step {
        let (id, node) = self.target(start, "dict")?;
        let ArenaNode::Dict(chain) = node else {
            return Err(wrong_target("dict", &node));
        };
        let node = ArenaNode::Dict(self.keep(chain, start)?);
        self.finish(id, node, start);
        Ok(())
    }

    /// Adds the values above `start` to the list below them.
    pub(crate) fn add_to_list(&mut self, start: usize) -> Step {
        let (id, node) = self.target(start, "list")?;
        let node = self.longer_list(node, start)?;
        self.finish(id, node, start);
        Ok(())
    }

    fn filled_dict(&mut self, start: usize) -> Step<ArenaNode<F::Folded>> {
        let pairs = self.stack.get(start..).unwrap_or_default();
        match self.fold.dict(&self.arena, pairs) {
            Some(folded) => Ok(ArenaNode::Folded(folded)),
            None => self.keep(ChainId::EMPTY, start).map(ArenaNode::Dict),
        }
    }

    fn longer_list(&mut self, list: ArenaNode<F::Folded>, start: usize) -> Step<ArenaNode<F::Folded>> {
        let before = match list {
            ArenaNode::List(ChainId::EMPTY) => None,
            ArenaNode::List(chain) => return self.keep(chain, start).map(ArenaNode::List),
            ArenaNode::Folded(before) => Some(before),
            other => return Err(wrong_target("list", &other)),
        };
        let added = self.stack.get(start..).unwrap_or_default();
        if let Some(folded) = self.fold.list(&self.arena, before, added) {
            return Ok(ArenaNode::Folded(folded));
        }
        let Some(before) = before else {
            return self.keep(ChainId::EMPTY, start).map(ArenaNode::List);
        };
        let items = self.fold.unfold(before).ok_or_else(|| wrong_target("list", &list))?;
        self.check_values(items.len())?;
        let chain = self.arena.extend(ChainId::EMPTY, &items);
        self.keep(chain, start).map(ArenaNode::List)
    }

    /// The container below `start`.
    fn target(&self, start: usize, expected: &'static str) -> Step<(NodeId, ArenaNode<F::Folded>)> {
        let slot = start.checked_sub(1).and_then(|below| self.stack.get(below)).ok_or(PickleErrorKind::StackEmpty)?;
        if let &Slot::Node(id) = slot
            && let Some(&node) = self.arena.node(id)
        {
            return Ok((id, node));
        }
        let found = super::PickleValue::new(&self.arena, *slot).kind();
        Err(PickleErrorKind::WrongTarget { expected, found })
    }

    fn finish(&mut self, id: NodeId, node: ArenaNode<F::Folded>, start: usize) {
        if let Some(place) = self.arena.nodes.get_mut(id.0 as usize) {
            *place = node;
        }
        self.stack.truncate(start);
    }

    /// Stores the values above `start` in the arena.
    fn keep(&mut self, chain: ChainId, start: usize) -> Step<ChainId> {
        self.check_values(self.stack.len().saturating_sub(start))?;
        let values = self.stack.get(start..).unwrap_or_default();
        Ok(self.arena.extend(chain, values))
    }

    fn check_values(&self, count: usize) -> Step {
        within(self.arena.item_count().saturating_add(count), self.limits.values, "values")
    }
}

fn wrong_target<T: Record>(expected: &'static str, node: &ArenaNode<T>) -> PickleErrorKind {
    PickleErrorKind::WrongTarget { expected, found: super::value::kind_of_node(node) }
}
