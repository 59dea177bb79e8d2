"""The search for the holders of all device memory of the process.

Note [Figures]
~~~~~~~~~~~~~~
A block is held by each row with a path to the block. A row alone frees the blocks without another row. The sum of `counted_bytes` is the allocated
memory, because a block is counted in its first row, and a block without a holder has an extra row: a workspace, a graph, or the remainder.
"""

import contextlib
import gc
import sys
from collections.abc import Iterator

from . import kinds
from .blocks import Blocks, read_all
from .heap import Heap
from .holders import Holder, list_ends, list_holders
from .report import Device, Report, Row
from .shell import Shell
from .tensors import Tensors

# The workspaces of cuBLAS that PyTorch allocates (aten/src/ATen/cuda/CublasHandlePool.cpp, 2.11): `:4096:2:16:8`, `:4096:8`.
# The last one is cuBLASLt's.
_WORKSPACES = {8_519_680, 33_554_432, 1_048_576}
_Block = tuple[int, int]


class Found:
    """A holder with its blocks."""

    def __init__(self, holder: Holder) -> None:
        self.name, self.kind, self.aliases, self.detail = holder.name, holder.kind, holder.aliases, holder.detail
        self.root_ids = {id(it) for it in holder.roots}
        # The blocks by the way: through objects, and only through autograd graphs.
        self.direct: set[_Block] = set()
        self.by_graph: set[_Block] = set()

    @property
    def blocks(self) -> set[_Block]:
        """All blocks."""
        return self.direct | self.by_graph


def take(shell: Shell) -> Report:
    """The report on all used devices; starts nothing on a device."""
    with _quiet():
        reason = _explain_absence()
        return Report([], reason) if reason else _search(sys.modules["torch"], shell)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No collection, which would run finalizers, while objects are searched."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _explain_absence() -> str:
    """The reason why no device is in use; empty if one may be."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return "PyTorch is not imported: nothing is on a GPU"
    if getattr(torch.version, "cuda", None) is None and getattr(torch.version, "hip", None) is None:
        return "this PyTorch is built without CUDA: nothing is on a GPU"
    if not torch.cuda.is_initialized():
        return "PyTorch has not used a GPU yet: nothing is on one"
    return ""


def _search(torch, shell: Shell) -> Report:
    with torch._C.DisableTorchFunctionSubclass():
        every = read_all(torch)
        heap = Heap(Tensors(torch, every), list_ends(shell))
        found = [_follow(heap, holder) for holder in list_holders(shell, heap)]
        found = [it for it in found if it.direct or it.by_graph]
        found += _list_others(heap, every, {block for it in found for block in it.blocks})
    totals = {it: torch.cuda.get_device_properties(it).total_memory for it in every}
    return Report([_describe(blocks, found, totals[number]) for number, blocks in every.items()])


def _follow(heap: Heap, holder: Holder) -> Found:
    """The blocks of a holder: first without graphs, then with graphs."""
    found = Found(holder)
    graphs: list[int] = []
    seen = set(holder.ends)
    keys = [id(it) for it in holder.roots if id(it) in heap.objects]
    found.direct = _reach(heap, keys, seen, graphs)
    while graphs:
        following: list[int] = []
        found.by_graph |= _reach(heap, graphs, seen, following)
        graphs = following
    found.by_graph -= found.direct
    found.detail = found.detail or _describe_root(heap, holder.roots[0])
    return found


def _reach(heap: Heap, keys: list[int], seen: set[int], graphs: list[int]) -> set[_Block]:
    """The blocks that objects lead to; adds the graphs of the tensors on the way to `graphs`."""
    tensors, blocks, waiting = heap.tensors, set(), list(keys)
    while waiting:
        key = waiting.pop()
        if key in seen:
            continue
        seen.add(key)
        waiting += heap.children_of(key)
        value = heap.get(key)
        word = tensors.word_of(value)
        if word in ("tensor", "storage"):
            blocks.update(tensors.list_blocks(value, word))
            graph = heap.graph_of(key)
            graphs += [] if graph is None else [graph]
    return blocks


def _describe_root(heap: Heap, value: object) -> str:
    kind = kinds.name_of(type(value))
    if heap.tensors.word_of(value) == "tensor":
        return f"{kind} {heap.tensors.describe(value)}"
    return f"{kind} of {len(value)}" if type(value) in (list, tuple, dict, set) else kind


def _list_others(heap: Heap, every: dict[int, Blocks], known: set[_Block]) -> Iterator[Found]:
    """The blocks without a holder, by kind."""
    left = {(number, address): size for number, blocks in every.items() for address, size in blocks.list_all().items()}
    left = {block: size for block, size in left.items() if block not in known}
    named = _name_rest(heap, set(left)) if left else {}
    for block, size in left.items():
        if block not in named and size in _WORKSPACES:
            named[block] = Holder("cuBLAS workspace", "workspace", [], detail="kept by PyTorch for matrix products")
        elif block not in named and every[block[0]].is_private(block[1]):
            named[block] = Holder("private pools", "other", [], detail="of CUDA graphs or `torch.cuda.MemPool`")
        elif block not in named:
            named[block] = Holder("other", "other", [], detail="held in C++, or by objects of `gc.freeze()`" if gc.get_freeze_count() else "held in C++ only")
    groups: dict[str, Found] = {}
    for block, holder in named.items():
        groups.setdefault(holder.name, Found(holder)).direct.add(block)
    yield from groups.values()


def _name_rest(heap: Heap, left: set[_Block]) -> dict[_Block, Holder]:
    """The blocks of objects kept in C++ only, such as a graph."""
    named: dict[_Block, Holder] = {}
    for value in list(heap.objects.values()):
        word = heap.tensors.word_of(value)
        if word == "node":
            holder = Holder("autograd graph", "graph", [value], detail="kept in C++")
        elif word:
            holder = Holder("other objects", "other", [value], detail="tensors that no name leads to")
        else:
            continue
        if word == "node" or left.intersection(heap.tensors.list_blocks(value, word)):
            for block in _follow(heap, holder).blocks & left:
                named.setdefault(block, holder)
    return named


class Shares:
    """The holders of each block of a device."""

    def __init__(self, blocks: Blocks, every: list[Found]) -> None:
        self.sizes = {(blocks.device, address): size for address, size in blocks.list_all().items()}
        self.found = [it for it in every if not self.sizes.keys().isdisjoint(it.blocks)]
        self.holders: dict[_Block, list[Found]] = {}
        for it in self.found:
            for block in it.blocks & self.sizes.keys():
                self.holders.setdefault(block, []).append(it)

    def sum_of(self, blocks: set[_Block]) -> int:
        """The bytes of blocks; those of other devices do not count."""
        return sum(self.sizes.get(block, 0) for block in blocks)

    def sum_freed(self, removed: list[Found]) -> int:
        """The bytes of the blocks without a holder beside the removed holders."""
        blocks = {block for it in removed for block in it.blocks}
        names = {id(it) for it in removed}
        return self.sum_of({block for block in blocks if all(id(it) in names for it in self.holders.get(block, ()))})

    def name_others(self, it: Found) -> list[str]:
        """The other holders of the same blocks, the holder of most bytes first."""
        shared: dict[str, int] = {}
        for block in it.blocks & self.sizes.keys():
            for other in self.holders[block]:
                if other is not it:
                    shared[other.name] = shared.get(other.name, 0) + self.sizes[block]
        return sorted(shared, key=lambda name: (-shared[name], name))

    def list_removed(self, it: Found) -> list[Found]:
        """The holders removed by `%oomph free`: with a holder the equal outputs and the cycles."""
        if it.kind not in ("variable", "output", "traceback", "cycle"):
            return []
        return [it, *(other for other in self.found if other.kind == "cycle" or (other.kind == "output" and other.root_ids & it.root_ids))]


def _describe(blocks: Blocks, every: list[Found], total_bytes: int) -> Device:
    """The rows of a device, the largest first; the remainder is a row."""
    shares = Shares(blocks, every)
    rows = [_describe_row(it, shares) for it in shares.found]
    rest = blocks.allocated_bytes - sum(it.counted_bytes for it in rows)
    if rest:
        rows.append(Row("not in the allocator's list", "other", rest, 0, rest, 0))
    rows.sort(key=lambda it: (-it.bytes, -it.frees_bytes, it.name))
    held = [(size, frozenset(it.name for it in shares.holders.get(block, ()))) for block, size in shares.sizes.items()]
    return Device(blocks.device, blocks.allocated_bytes, blocks.reserved_bytes, total_bytes, rows, held)


def _describe_row(it: Found, shares: Shares) -> Row:
    own = it.blocks & shares.sizes.keys()
    can_go = it.kind not in ("workspace", "other", "graph")
    return Row(
        name=it.name,
        kind=it.kind,
        bytes=shares.sum_of(own),
        frees_bytes=shares.sum_freed([it]) if can_go else 0,
        counted_bytes=shares.sum_of({block for block in own if shares.holders[block][0] is it}),
        graph_bytes=shares.sum_of(it.by_graph),
        tensors=len(own),
        detail=it.detail,
        also_held_by=shares.name_others(it),
        aliases=it.aliases,
        removal_bytes=shares.sum_freed(shares.list_removed(it)),
    )
