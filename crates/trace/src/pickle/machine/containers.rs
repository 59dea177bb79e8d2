//! Lists, tuples and dicts.

use super::super::error::PickleErrorKind;
use super::super::value::{Chain, Extent, Node};
use super::{Machine, Step, number};

impl Machine<'_> {
    /// Moves the values above `start` off the stack into a new extent; [`Extent::NONE`] where there are none.
    fn extent_from(&mut self, start: usize) -> u32 {
        let first = number(self.document.items.len());
        self.document.items.extend(self.stack.drain(start..));
        let end = number(self.document.items.len());
        if first == end {
            return Extent::NONE;
        }
        let offset = number(self.offset);
        self.document.extents.push(Extent { start: first, end, next: Extent::NONE, offset });
        number(self.document.extents.len() - 1)
    }

    pub(super) fn tuple_of(&mut self, count: usize) -> Step {
        let start = self.reach(count)?;
        let extent = self.extent_from(start);
        self.push(Node::Tuple(Chain { first: extent, last: extent }));
        Ok(())
    }

    pub(super) fn take_from_mark(&mut self, container: fn(Chain) -> Node) -> Step {
        let start = self.mark()?;
        let extent = self.extent_from(start);
        self.push(container(Chain { first: extent, last: extent }));
        Ok(())
    }

    pub(super) fn dict_from_mark(&mut self) -> Step {
        self.pairs_above(self.floor())?;
        self.take_from_mark(Node::Dict)
    }

    fn pairs_above(&self, start: usize) -> Step {
        let count = self.stack.len() - start.min(self.stack.len());
        if count.is_multiple_of(2) { Ok(()) } else { Err(PickleErrorKind::OddPairs(count)) }
    }

    pub(super) fn append(&mut self) -> Step {
        let start = self.reach(1)?;
        self.add_to_list(start)
    }

    pub(super) fn appends(&mut self) -> Step {
        let start = self.mark()?;
        self.add_to_list(start)
    }

    pub(super) fn set_item(&mut self) -> Step {
        let start = self.reach(2)?;
        self.add_to_dict(start)
    }

    pub(super) fn set_items(&mut self) -> Step {
        let start = self.mark()?;
        self.pairs_above(start)?;
        self.add_to_dict(start)
    }

    fn add_to_list(&mut self, start: usize) -> Step {
        self.add(start, "list", |node| if let Node::List(chain) = node { Some(chain) } else { None })
    }

    fn add_to_dict(&mut self, start: usize) -> Step {
        self.add(start, "dict", |node| if let Node::Dict(chain) = node { Some(chain) } else { None })
    }

    /// Moves the values above `start` into the container below them.
    fn add(&mut self, start: usize, expected: &'static str, chain_of: fn(&mut Node) -> Option<&mut Chain>) -> Step {
        let extent = self.extent_from(start);
        let target = self.top()?;
        let node = self.document.nodes.get_mut(target.index()).ok_or(PickleErrorKind::StackEmpty)?;
        let found = node.kind();
        let chain = chain_of(node).ok_or(PickleErrorKind::WrongTarget { expected, found })?;
        if extent == Extent::NONE {
            return Ok(());
        }
        if let Some(last) = self.document.extents.get_mut(chain.last as usize) {
            last.next = extent;
        } else {
            chain.first = extent;
        }
        chain.last = extent;
        Ok(())
    }
}
