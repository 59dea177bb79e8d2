//! Checks that values are neither cyclic nor nested too deeply, without recursion and in time linear in the document.

use super::error::{PickleError, PickleErrorKind};
use super::value::{Document, Extent, NodeId};

/// A container whose items are being looked at.
struct Open {
    id: NodeId,
    /// The extent in which its next item is, and where.
    extent: u32,
    at: u32,
    /// The height of its highest item so far.
    height: u16,
}

/// The height of nodes: 0 = not seen, [`OPEN`] = being looked at, else the number of levels from it downwards.
struct Heights(Vec<u16>);

const OPEN: u16 = u16::MAX;

/// An error for the first container found that contains itself or more than `limit` levels.
pub(super) fn check(document: &Document<'_>, limit: u16) -> Result<(), PickleError> {
    let mut heights = Heights(vec![0; document.nodes.len()]);
    let mut open: Vec<Open> = Vec::new();
    open.extend(heights.enter(document, document.root));
    while let Some(top) = open.last_mut() {
        match next_item(document, top) {
            Some((item, offset)) => {
                let height = heights.of(item);
                if height == OPEN {
                    return Err(PickleErrorKind::Cyclic.at(offset));
                }
                top.height = top.height.max(height);
                let deeper = if height == 0 { heights.enter(document, item) } else { None };
                open.extend(deeper);
                if open.len() > usize::from(limit) {
                    return Err(PickleErrorKind::TooDeep { limit }.at(offset));
                }
            }
            None => leave(document, &mut heights, &mut open, limit)?,
        }
    }
    Ok(())
}

/// The next item of a container, with the offset of the instruction that put it there.
fn next_item(document: &Document<'_>, open: &mut Open) -> Option<(NodeId, usize)> {
    loop {
        let extent = document.extent(open.extent)?;
        let at = open.at.max(extent.start);
        if at < extent.end {
            open.at = at + 1;
            return Some((*document.items.get(at as usize)?, extent.offset as usize));
        }
        (open.extent, open.at) = (extent.next, 0);
    }
}

/// All items of the innermost container were seen.
fn leave(document: &Document<'_>, heights: &mut Heights, open: &mut Vec<Open>, limit: u16) -> Result<(), PickleError> {
    let Some(done) = open.pop() else {
        return Ok(());
    };
    let height = done.height + 1;
    heights.set(done.id, height);
    if let Some(parent) = open.last_mut() {
        parent.height = parent.height.max(height);
    }
    if height > limit {
        let first = document.node(done.id).chain().and_then(|chain| document.extent(chain.first));
        return Err(PickleErrorKind::TooDeep { limit }.at(first.map_or(0, |extent| extent.offset as usize)));
    }
    Ok(())
}

impl Heights {
    fn of(&self, id: NodeId) -> u16 {
        self.0.get(id.index()).copied().unwrap_or(0)
    }

    fn set(&mut self, id: NodeId, height: u16) {
        if let Some(slot) = self.0.get_mut(id.index()) {
            *slot = height;
        }
    }

    /// Opens a container that has items; `None` for every other value, which has no height worth keeping.
    fn enter(&mut self, document: &Document<'_>, id: NodeId) -> Option<Open> {
        let chain = document.node(id).chain().filter(|chain| chain.first != Extent::NONE)?;
        self.set(id, OPEN);
        Some(Open { id, extent: chain.first, at: 0, height: 0 })
    }
}
