//! Graphs: nodes and their dependencies, as noted by a capture. A launch runs nothing but the graph's host functions.
//!
//! PyTorch's real allocator manages the memory of a graph. It reads the edges to decide which blocks a later part of a
//! capture may reuse (`free_safe_blocks_in_capture`, PyTorch 2.11, c10/cuda/CUDACachingAllocator.cpp).

use std::collections::BTreeSet;
use std::ffi::c_void;

use super::{Code, INVALID_HANDLE};
use crate::handle::{Handle, Table};
use crate::values::{self, written};

/// A host function on a stream.
pub(crate) type Callback = extern "C" fn(*mut c_void);

/// `cudaGraphNode_t`: the handle of a node, as a number, so that other tables can store it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(usize);

impl NodeId {
    /// Filler for the rest of a caller's array.
    pub(crate) const NULL: NodeId = NodeId(0);

    fn as_handle(self) -> Handle {
        self.0 as Handle
    }
}

/// The work of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// A kernel, or a function of a library, which launches some.
    Kernel,
    Copy,
    Fill,
    /// A host function and its argument.
    Host(Callback, usize),
    /// Nothing: a program added it to hang dependencies on.
    Empty,
    /// A wait for an event that is recorded outside the graph.
    WaitEvent,
    /// A record of an event that may be waited for outside the graph.
    RecordEvent,
    /// An allocation of a memory pool.
    Allocate,
    /// A memory pool's block is freed.
    Free,
}

impl Work {
    /// Its `cudaGraphNodeType`, CUDA 13.0, driver_types.h.
    pub(crate) fn number(self) -> i32 {
        match self {
            Work::Kernel => 0,
            Work::Copy => 1,
            Work::Fill => 2,
            Work::Host(..) => 3,
            Work::Empty => 5,
            Work::WaitEvent => 6,
            Work::RecordEvent => 7,
            Work::Allocate => 10,
            Work::Free => 11,
        }
    }
}

struct Node {
    graph: usize,
    work: Work,
    dependencies: Vec<NodeId>,
}

struct Executable {
    flags: u64,
    host_functions: Vec<(Callback, usize)>,
}

/// The nodes of every graph, in order of addition.
static GRAPHS: Table<Vec<NodeId>> = Table::new();
static NODES: Table<Node> = Table::new();
static EXECUTABLES: Table<Executable> = Table::new();

/// Makes a graph.
pub(crate) fn create() -> Handle {
    GRAPHS.insert(Vec::new())
}

/// Checks that a graph exists.
pub(crate) fn check(graph: Handle) -> Result<(), Code> {
    GRAPHS.with(graph, |_| ()).ok_or(INVALID_HANDLE)
}

/// Ends a graph and its nodes.
pub(crate) fn destroy(graph: Handle) -> Result<(), Code> {
    for node in GRAPHS.remove(graph).ok_or(INVALID_HANDLE)? {
        NODES.remove(node.as_handle());
    }
    Ok(())
}

/// Adds a node with its dependencies in the graph.
pub(crate) fn add(graph: Handle, work: Work, dependencies: &[NodeId]) -> Result<NodeId, Code> {
    check(graph)?;
    let node = Node { graph: graph as usize, work, dependencies: dependencies.to_vec() };
    let node = NodeId(NODES.insert(node) as usize);
    GRAPHS.with(graph, |nodes| nodes.push(node)).ok_or(INVALID_HANDLE)?;
    Ok(node)
}

/// A graph's nodes.
pub(crate) fn nodes(graph: Handle) -> Result<Vec<NodeId>, Code> {
    GRAPHS.with(graph, |nodes| nodes.clone()).ok_or(INVALID_HANDLE)
}

/// A graph's nodes without dependencies.
pub(crate) fn roots(graph: Handle) -> Result<Vec<NodeId>, Code> {
    let mut roots = nodes(graph)?;
    roots.retain(|node| dependencies(*node).is_ok_and(|found| found.is_empty()));
    Ok(roots)
}

/// A graph's edges: the earlier node, the dependent node.
pub(crate) fn edges(graph: Handle) -> Result<Vec<(NodeId, NodeId)>, Code> {
    let nodes = nodes(graph)?;
    let into =
        |to: &NodeId| dependencies(*to).unwrap_or_default().into_iter().map(|from| (from, *to)).collect::<Vec<_>>();
    Ok(nodes.iter().flat_map(into).collect())
}

/// The nodes that a node depends on.
pub(crate) fn dependencies(node: NodeId) -> Result<Vec<NodeId>, Code> {
    NODES.with(node.as_handle(), |node| node.dependencies.clone()).ok_or(INVALID_HANDLE)
}

/// The nodes that depend on a node.
pub(crate) fn dependents(node: NodeId) -> Result<Vec<NodeId>, Code> {
    let graph = NODES.with(node.as_handle(), |node| node.graph).ok_or(INVALID_HANDLE)?;
    let edges = edges(graph as Handle)?;
    Ok(edges.into_iter().filter(|(from, _)| *from == node).map(|(_, to)| to).collect())
}

/// The work of a node.
pub(crate) fn work(node: NodeId) -> Result<Work, Code> {
    NODES.with(node.as_handle(), |node| node.work).ok_or(INVALID_HANDLE)
}

/// True if every node of a graph is in `last` or comes before a node of `last`.
pub(crate) fn ends_in(graph: Handle, last: &[NodeId]) -> Result<bool, Code> {
    let mut reached = BTreeSet::new();
    let mut open = last.to_vec();
    while let Some(node) = open.pop() {
        if reached.insert(node) {
            open.extend(dependencies(node)?);
        }
    }
    Ok(nodes(graph)?.iter().all(|node| reached.contains(node)))
}

/// Makes an executable graph of a graph.
pub(crate) fn instantiate(graph: Handle, flags: u64) -> Result<Handle, Code> {
    let host_function = |node: &NodeId| match work(*node) {
        Ok(Work::Host(callback, data)) => Some((callback, data)),
        _ => None,
    };
    let host_functions = nodes(graph)?.iter().filter_map(host_function).collect();
    Ok(EXECUTABLES.insert(Executable { flags, host_functions }))
}

/// The flags that an executable graph was made with.
pub(crate) fn flags(executable: Handle) -> Result<u64, Code> {
    EXECUTABLES.with(executable, |executable| executable.flags).ok_or(INVALID_HANDLE)
}

/// Launches an executable graph: calls its host functions and runs no kernel; the outputs of its nodes are unknown
/// afterwards.
pub(crate) fn launch(executable: Handle) -> Result<(), Code> {
    let host_functions = EXECUTABLES.with(executable, |executable| executable.host_functions.clone());
    values::note_launch();
    written::note_anywhere();
    for (callback, data) in host_functions.ok_or(INVALID_HANDLE)? {
        callback(data as *mut c_void);
    }
    Ok(())
}

/// Checks that an executable graph exists.
pub(crate) fn check_executable(executable: Handle) -> Result<(), Code> {
    flags(executable).map(drop)
}

/// Ends an executable graph.
pub(crate) fn destroy_executable(executable: Handle) -> Result<(), Code> {
    EXECUTABLES.remove(executable).map(drop).ok_or(INVALID_HANDLE)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn edges_are_those_that_were_added() {
        let graph = create();
        let first = add(graph, Work::Kernel, &[]).unwrap();
        let [left, right] = [(); 2].map(|()| add(graph, Work::Copy, &[first]).unwrap());
        let last = add(graph, Work::Empty, &[left, right]).unwrap();
        assert_eq!(nodes(graph), Ok(vec![first, left, right, last]));
        assert_eq!(roots(graph), Ok(vec![first]));
        assert_eq!(edges(graph), Ok(vec![(first, left), (first, right), (left, last), (right, last)]));
        assert_eq!(dependents(first), Ok(vec![left, right]));
        assert_eq!((ends_in(graph, &[last]), ends_in(graph, &[left])), (Ok(true), Ok(false)));
        destroy(graph).unwrap();
        assert_eq!(dependencies(last), Err(INVALID_HANDLE), "nodes end with their graph");
    }
}
