"""Replays allocations by the rules of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp, 2.9): one stream, default settings or
expandable segments. For the tasks whose question is fragmentation.
"""

from dataclasses import dataclass

MIB = 2**20
SMALL, SMALL_SEGMENT, LARGE_SEGMENT, OWN_SEGMENT, GRAIN = MIB, 2 * MIB, 20 * MIB, 10 * MIB, 2 * MIB


@dataclass(eq=False)
class Block:
    """A part of a segment."""

    segment: list["Block"]
    size: int
    small: bool
    used: bool = False


class OutOfMemory(Exception):
    """Carries the bytes allocated and reserved, and the size of the failed segment."""


class Segments:
    """The segments of one device with `capacity` bytes for PyTorch."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.reserved, self.allocated = capacity, 0, 0
        self.free: list[Block] = []
        self.owners: dict[int, Block] = {}

    def allocate(self, key: int, size: int) -> None:
        """Best fit among the free blocks, else a new segment, else the same after the release of all unused segments."""
        small = size <= SMALL
        fitting = [block for block in self.free if block.small == small and block.size >= size]
        block = min(fitting, key=lambda block: block.size) if fitting else self.reserve(size, small)
        self.free.remove(block)
        self.split(block, size)
        block.used = True
        self.allocated += block.size
        self.owners[key] = block

    def reserve(self, size: int, small: bool) -> Block:
        """A new segment."""
        total = SMALL_SEGMENT if small else LARGE_SEGMENT if size < OWN_SEGMENT else -(-size // GRAIN) * GRAIN
        if self.reserved + total > self.capacity:
            self.release()
        if self.reserved + total > self.capacity:
            raise OutOfMemory(self.allocated, self.reserved, total)
        self.reserved += total
        block = Block([], total, small)
        block.segment.append(block)
        self.free.append(block)
        return block

    def split(self, block: Block, size: int) -> None:
        """Cuts the rest off a block, if it is worth a block of its own."""
        rest = block.size - size
        if rest >= 512 if block.small else rest > SMALL:
            other = Block(block.segment, rest, block.small)
            block.segment.insert(block.segment.index(block) + 1, other)
            block.size = size
            self.free.append(other)

    def free_block(self, key: int) -> None:
        """Ends a block, and merges it with its free neighbours."""
        block = self.owners.pop(key)
        block.used = False
        self.allocated -= block.size
        place = block.segment.index(block)
        for other in block.segment[max(place - 1, 0) : place] + block.segment[place + 1 : place + 2]:
            if not other.used:
                block.size += other.size
                block.segment.remove(other)
                self.free.remove(other)
        self.free.append(block)

    def release(self) -> None:
        """Returns the segments without a used block."""
        for block in [block for block in self.free if len(block.segment) == 1]:
            self.reserved -= block.size
            self.free.remove(block)


def replay(events: list[tuple[int, int]], capacity: int) -> OutOfMemory | None:
    """The failure of a run on a device with `capacity` bytes for PyTorch, or `None`. An event is a key and the change of bytes."""
    segments = Segments(capacity)
    try:
        for key, change in events:
            segments.allocate(key, change) if change > 0 else segments.free_block(key)
    except OutOfMemory as failure:
        return failure
    return None
