"""The live objects of a random program, and the operations on them.

# Note [Deferred frees]

While a pool or a capture is entered, PyTorch defers the frees of tensors that side streams use. Two later actions depend on the C++ heap's
placement of blocks, which no model can follow, and the programs here avoid both:
- Deferred frees are performed in the order of a hash map by block (`deferred_blocks`, 2.9 and later): there is at most one.
- A stream that is recorded inside is remembered for the block (`block_to_cudagraph_stream_uses`) and forgotten only after a deferred free
  of that block. A remaining entry makes PyTorch skip the event of a later tensor at that block, which is then allocated again while the
  side stream may still use it. So such a tensor is always freed before the pool is left.

# Note [Pools that expand]

A private pool counts its mappings up for each request that mapped and down for each unmapped range (`cudaMalloc_count`, 2.11). If live
tensors separate the free pages, there are more ranges than there were requests: PyTorch stops with an internal assertion, or takes the pool
for empty and destroys it under its tensors. So once expandable segments were on, a pool is emptied before its last user ends.
"""

import dataclasses

import plans

MIB = 1 << 20
# The most at a time; enough for every program.
MOST_ALIVE = 400
MOST_POOLS = 4
MOST_GRAPHS = 4


@dataclasses.dataclass
class Tensor:
    """A live tensor."""

    size: int
    stream: int
    is_raw: bool
    # Set if another stream was recorded.
    is_shared: bool = False


class State:
    """The state of a program. Each public method executes a random operation, if possible."""

    def __init__(self, plan, chance, machine):
        self.plan, self.chance, self.machine = plan, chance, machine
        self.names = 0
        self.alive = {}
        self.bytes = 0
        self.sizes = []
        # See Note [Deferred frees].
        self.has_deferred = False
        self.used_inside = None
        self.pools = set()
        self.entered = {}
        self.graphs = {}
        self.captured = {}
        self.lending = set()
        self.spent = set()

    def _name(self) -> int:
        self.names += 1
        return self.names - 1

    def _has(self, kind: str) -> bool:
        return kind in self.plan.kinds

    def _thread(self) -> int:
        return self.chance.randrange(self.plan.threads) if self.plan.threads > 1 and self.chance.random() < 0.5 else 0

    def _stream(self) -> int:
        # Most work is on one stream.
        return 0 if self.chance.random() < 0.5 else self.chance.randrange(self.plan.streams)

    # Memory.

    def alloc_or_free(self) -> None:
        """Allocates below the target, frees above it, and does either near it."""
        share = self.bytes / (self.plan.device_bytes * self.plan.fill)
        name = self.chance.choice(list(self.alive)) if self.alive else None
        if self.alive and (self.chance.random() < 0.3 + 0.35 * share or len(self.alive) > MOST_ALIVE):
            self._free(name)
        else:
            self._alloc(plans.size(self.plan, self.chance, self.sizes))

    def alloc_huge(self) -> None:
        """Allocates a size that often fails."""
        self._alloc(int(self.plan.device_bytes * self.chance.uniform(0.2, 1.3)))

    def alloc_absurd(self) -> None:
        """Allocates more than any device has."""
        self._alloc(2**60 + self.chance.choice([-1, 0, 1]))

    def _alloc(self, size: int) -> None:
        name = self._name()
        # During a capture most work is on its stream.
        streams = [stream for capture in self.captured.values() for stream in capture]
        stream = self.chance.choice(streams) if streams and self.chance.random() < 0.7 else self._stream()
        # PyTorch does not check absurd sizes of allocations without a tensor.
        is_raw = size < 2**60 and self._has("raw") and self.chance.random() < 0.3
        if self.machine.alloc(name, size, stream, self._thread(), is_raw):
            self.alive[name] = Tensor(size, stream, is_raw)
            self.bytes += size
            self.sizes = [*self.sizes[-20:], size]
        self.has_deferred &= self._is_diverted()

    def _free(self, name: int) -> None:
        is_deferred = self.alive[name].is_shared and self._is_diverted()
        if is_deferred and (self.has_deferred or self.used_inside not in (None, name)):
            return
        if is_deferred and self.captured and self.plan.version >= (2, 13):
            # The event could be recorded on a captured stream, from an uncaptured stream.
            return
        self.has_deferred |= is_deferred
        self.used_inside = None if name == self.used_inside else self.used_inside
        self.bytes -= self.alive.pop(name).size
        self.machine.free(name, self._thread())

    def _is_diverted(self) -> bool:
        return bool(self.captured) or any(self.entered.values())

    def _leave(self) -> None:
        """Prepares for leaving the last pool or capture."""
        if self.used_inside is not None and len(self.captured) + sum(map(len, self.entered.values())) == 1:
            self._free(self.used_inside)

    def free_many(self) -> None:
        """Ends a phase: frees most live tensors."""
        for name in [name for name in list(self.alive) if self.chance.random() < 0.8]:
            self._free(name)

    def empty_cache(self) -> None:
        """Empties the cache."""
        if self._is_diverted() and self.plan.version < (2, 11):
            # PyTorch fails an internal assertion.
            return
        self.machine.empty_cache(self._thread())

    # Time.

    def record_stream(self) -> None:
        """Marks a tensor as used on another stream."""
        tensors = [name for name, tensor in self.alive.items() if not tensor.is_raw]
        if self._is_diverted() and self.plan.version >= (2, 13):
            # The deferred frees then depend on the current stream.
            return
        if self._is_diverted():
            tensors = [self.used_inside] if self.used_inside is not None else [] if self.has_deferred else tensors
        if tensors:
            name, stream = self.chance.choice(tensors), self.chance.randrange(self.plan.streams)
            is_other = stream != self.alive[name].stream
            self.alive[name].is_shared |= is_other
            self.used_inside = name if is_other and self._is_diverted() else self.used_inside
            self.machine.record_stream(name, stream)

    def hold_events(self) -> None:
        """Starts or stops withholding events."""
        self.machine.hold_events(self.chance.random() < 0.7)

    def complete_events(self) -> None:
        """Completes the work of all streams."""
        self.machine.complete_events()

    def complete_stream(self) -> None:
        """Completes the work of one stream."""
        self.machine.complete_stream(self.chance.randrange(self.plan.streams))

    def synchronize(self) -> None:
        """Waits for the device; impossible during a capture."""
        if not self.captured:
            self.machine.synchronize()

    # Questions and settings.

    def snapshot(self) -> None:
        """Records the current segments."""
        self.machine.snapshot()

    def reset_peak(self) -> None:
        """Resets the peaks."""
        self.machine.reset_peak()

    def reset_accumulated(self) -> None:
        """Resets the sums."""
        self.machine.reset_accumulated()

    def set_fraction(self) -> None:
        """Changes the limit."""
        self.machine.set_fraction(self.chance.choice([0.3, 0.5, 0.75, 0.9, 1.0]))

    def set_settings(self) -> None:
        """Changes the settings."""
        self.machine.set_settings(self.plan.source.draw())

    # Pools.

    def create_pool(self) -> None:
        """Creates a `MemPool`, with or without options."""
        if len(self.pools) < MOST_POOLS:
            name = self._name()
            options = [option for option, since in (("use_on_oom", (2, 8)), ("no_split", (2, 10))) if self.plan.version >= since]
            flags = {option: True for option in options if self.chance.random() < 0.3}
            # PyTorch tries lending pools in the order of a hash map: of two, either may be first.
            if self.pools & self.lending:
                flags.pop("use_on_oom", None)
            self.pools.add(name)
            self.lending |= {name} if "use_on_oom" in flags else set()
            self.machine.create_pool(name, **flags)

    def begin_or_end_pool(self) -> None:
        """Enters an unused pool on a thread, or leaves the pool entered last."""
        thread = self._thread()
        inside = self.entered.setdefault(thread, [])
        free = sorted(self.pools - {name for names in self.entered.values() for name in names} - self._captured_pools())
        if self.captured and self.plan.version >= (2, 13):
            # A graph keeps pools entered during its capture alive (2.15).
            free = []
        if inside and (not free or self.chance.random() < 0.6):
            self._leave()
            self.machine.end_pool(inside.pop(), thread)
        elif free:
            inside.append(self.chance.choice(free))
            self.machine.begin_pool(inside[-1], thread)

    def delete_pool(self) -> None:
        """Deletes a pool, whose memory may be in use. While any pool or capture is entered, PyTorch 2.11 aborts the process."""
        if self.pools and not self._is_diverted():
            name = self.chance.choice(sorted(self.pools))
            self._clear(self.machine.pools[name].id)
            self.pools.remove(name)
            self.machine.delete_pool(name)

    def _clear(self, pool: tuple[int, int]) -> None:
        """Frees the memory of a pool before the pool is deleted. See Note [Pools that expand]."""
        if self.plan.source.has_expanded:
            for name in self.machine.snapshot(tuple(pool)):
                self._free(name)

    # Captures.

    def _captured_pools(self) -> set[int]:
        """The `MemPool`s with a running capture."""
        return {self._root(name) for name in self.captured}

    def _root(self, graph: int):
        shared = self.graphs[graph]
        return shared[1] if shared else graph

    def begin_or_end_capture(self) -> None:
        """Starts or ends a capture."""
        if self.captured and self.chance.random() < 0.6:
            self._leave()
            name = self.chance.choice(sorted(self.captured))
            self.machine.end_capture(name, self.captured.pop(name)[0])
        elif len(self.graphs) < MOST_GRAPHS and len(self.captured) < (2 if self.chance.random() < 0.1 else 1):
            self._begin_capture()

    def _begin_capture(self) -> None:
        taken = {stream for capture in self.captured.values() for stream in capture}
        streams = [stream for stream in range(1, self.plan.streams) if stream not in taken]
        if not streams:
            return
        name, stream = self._name(), self.chance.choice(streams)
        shared = self._shared()
        if self.machine.begin_capture(name, stream, shared):
            self.graphs[name] = shared
            self.captured[name] = [stream]

    def _shared(self) -> tuple | None:
        """A pool that a new graph may share: no capture uses the pool now."""
        entered = {name for names in self.entered.values() for name in names}
        busy = entered | self._captured_pools()
        pools = [("pool", name) for name in sorted(self.pools - busy - self.spent)]
        graphs = [("graph", name) for name in sorted(self.graphs) if self.graphs[name] is None and name not in busy]
        return self.chance.choice(pools + graphs) if pools + graphs and self.chance.random() < 0.4 else None

    def join_capture(self) -> None:
        """Joins a stream to a capture."""
        taken = {stream for capture in self.captured.values() for stream in capture}
        free = [stream for stream in range(1, self.plan.streams) if stream not in taken]
        if self.captured and free:
            name, stream = self.chance.choice(sorted(self.captured)), self.chance.choice(free)
            self.machine.join_capture(name, self.captured[name][0], stream)
            self.captured[name].append(stream)

    def destroy_graph(self) -> None:
        """Deletes a graph outside of captures whose pool was not the start of another graph."""
        idle = [name for name in sorted(self.graphs) if name not in self.captured]
        has_expanded = self.plan.source.has_expanded
        if idle and not (has_expanded and self._is_diverted()):
            name = self.chance.choice(idle)
            root = self._root(name)
            self._clear(self.machine.graphs[name].pool())
            self.graphs.pop(name)
            # The next capture into the pool fails an internal assertion (2.11), since its host memory counts graphs alone.
            self.spent |= {root} - {self._root(other) for other in self.graphs}
            self.machine.destroy_graph(name)
            if has_expanded:
                self.machine.empty_cache()
