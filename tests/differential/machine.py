"""Executes the operations of a program in real PyTorch, and records the results."""

import ctypes
import gc

import torch

import record
import streams
from workers import Workers

# The first address of the phantom's device memory (`DEVICE_RANGE` in crates/phantom/src/space.rs).
FIRST_ADDRESS = 0x1000_0000_0000
# The tensors for a capture's random number generator.
SEED_BYTES = 8
# Addresses are offsets in the phantom's single range of memory and reservations.
SPACE = "d"


class Machine:
    """The allocator of a process. Each method is an operation of the README's table, recorded in `operations`."""

    def __init__(self, plan):
        gc.disable()
        self.plan = plan
        self.phantom = ctypes.CDLL("liboomph_phantom.so")
        self.phantom.oomph_phantom_complete_events.argtypes = [ctypes.c_void_p]
        torch.cuda.init()
        free, self.total = torch.cuda.mem_get_info()
        self.used_at_start = self.total - free
        if plan.fraction:
            torch.cuda.set_per_process_memory_fraction(float(plan.fraction))
        torch.cuda.memory._record_memory_history("all", context=None)
        self.streams = streams.chosen(plan.streams, plan.shuffle)
        self.stream_of = {stream.cuda_stream: index for index, stream in enumerate(self.streams)}
        self.workers = Workers(plan.threads)
        self.stats = record.Stats()
        self.operations = []
        self.counts = []
        self.tensors = {}
        self.raw = {}
        self.pools = {}
        self.uses = {}
        self.graphs = {}

    # Memory.

    def alloc(self, name: int, size: int, stream: int, thread: int = 0, raw: bool = False):
        """Returns `True` if the request succeeded."""
        make = self._make_raw if raw else self._make_tensor

        def alloc():
            torch._C._cuda_setStream(**self._parts(self.streams[stream]))
            return make(name, size, stream)

        result = self._do("alloc", name, size, stream, thread, alloc)
        return isinstance(result, list)

    def _make_tensor(self, name: int, size: int, stream: int):
        self.tensors[name] = torch.empty(size, dtype=torch.uint8, device="cuda")
        return self._place(self.tensors[name].data_ptr())

    def _make_raw(self, name: int, size: int, stream: int):
        address = torch._C._cuda_cudaCachingAllocator_raw_alloc(size, self.streams[stream].cuda_stream)
        self.raw[name] = address
        return self._place(address)

    @staticmethod
    def _parts(stream) -> dict:
        return {"stream_id": stream.stream_id, "device_index": stream.device_index, "device_type": stream.device_type}

    @staticmethod
    def _place(address: int) -> list:
        return [SPACE, address - FIRST_ADDRESS]

    def free(self, name: int, thread: int = 0) -> None:
        """Frees the memory of `alloc`."""
        def give_back():
            if name in self.raw:
                torch._C._cuda_cudaCachingAllocator_raw_delete(self.raw.pop(name))
            else:
                del self.tensors[name]

        self._do("free", name, None, None, thread, give_back)

    def record_stream(self, name: int, stream: int) -> None:
        """Marks the tensor as used on another stream."""
        self._do("record_stream", name, stream, None, 0, lambda: self.tensors[name].record_stream(self.streams[stream]))

    # Time.

    def hold_events(self, held: bool) -> None:
        """Sets whether new events stay pending."""
        self._do("hold_events", held, None, None, 0, lambda: self._check(self.phantom.oomph_phantom_hold_events(int(held))))

    def complete_events(self) -> None:
        """Completes all events recorded so far."""
        self._do("complete_events", None, None, None, 0, lambda: self._check(self.phantom.oomph_phantom_complete_all_events()))

    def complete_stream(self, stream: int) -> None:
        """Completes the events recorded on one stream so far."""
        pointer = self.streams[stream].cuda_stream
        self._do("complete_stream", None, None, stream, 0, lambda: self._check(self.phantom.oomph_phantom_complete_events(pointer)))

    @staticmethod
    def _check(status: int) -> None:
        if status:
            raise RuntimeError(f"the phantom's test entry point failed with {status}")

    def synchronize(self) -> None:
        """Completes all events recorded so far."""
        self._do("synchronize", None, None, None, 0, torch.cuda.synchronize)

    # Other calls of the allocator.

    def empty_cache(self, thread: int = 0) -> None:
        """`torch.cuda.empty_cache`."""
        self._do("empty_cache", None, None, None, thread, torch.cuda.empty_cache)

    def reset_peak(self) -> None:
        """`reset_peak_memory_stats`."""
        self._do("reset_peak", None, None, None, 0, torch.cuda.reset_peak_memory_stats)

    def reset_accumulated(self) -> None:
        """`reset_accumulated_memory_stats`."""
        self._do("reset_accumulated", None, None, None, 0, torch.cuda.reset_accumulated_memory_stats)

    def set_fraction(self, fraction: float) -> None:
        """`set_per_process_memory_fraction`."""
        self._do("set_fraction", None, fraction, None, 0, lambda: torch.cuda.set_per_process_memory_fraction(fraction))

    def set_settings(self, settings: str) -> None:
        """Changes the settings at run time."""
        parse = getattr(torch._C, "_accelerator_setAllocatorSettings", None) or torch.cuda.memory._set_allocator_settings
        self._do("set_settings", None, settings, None, 0, lambda: parse(settings))

    def snapshot(self, pool: tuple[int, int] = (0, 0)) -> list[int]:
        """The segments and blocks of this moment; the names of live objects in a pool."""
        segments = self._do("snapshot", None, None, None, 0, lambda: record.segments(torch.cuda.memory._snapshot(), self))
        places = {place for segment in segments if tuple(segment["pool"]) == pool for place in record.allocated(segment)}
        return [name for name, address in self._addresses() if address - FIRST_ADDRESS in places]

    def _addresses(self):
        yield from ((name, tensor.data_ptr()) for name, tensor in self.tensors.items())
        yield from self.raw.items()

    # Pools.

    def create_pool(self, name: int, **flags: bool) -> None:
        """`torch.cuda.MemPool`."""
        def create():
            self.pools[name] = torch.cuda.MemPool(**flags)
            return list(self.pools[name].id)

        self._do("create_pool", name, flags, None, 0, create)

    def begin_pool(self, name: int, thread: int = 0) -> None:
        """Enters `torch.cuda.use_mem_pool`."""
        def begin():
            self.uses[name] = torch.cuda.use_mem_pool(self.pools[name])
            self.uses[name].__enter__()

        self._do("begin_pool", name, None, None, thread, begin)

    def end_pool(self, name: int, thread: int = 0) -> None:
        """Exits `torch.cuda.use_mem_pool`."""
        self._do("end_pool", name, None, None, thread, lambda: self.uses.pop(name).__exit__(None, None, None) or None)

    def delete_pool(self, name: int) -> None:
        """Deletes the last reference to a `MemPool`."""
        def delete():
            del self.pools[name]

        self._do("delete_pool", name, None, None, 0, delete)

    def begin_capture(self, name: int, stream: int, shared: tuple | None, thread: int = 0) -> bool:
        """`CUDAGraph.capture_begin` on a stream, into a pool of its own or one of `("pool" | "graph", name)`.

        PyTorch allocates at the start of a capture; if that fails, the operation is recorded as an allocation.
        """
        def begin():
            torch._C._cuda_setStream(**self._parts(self.streams[stream]))
            graph = self.graphs[name] = torch.cuda.CUDAGraph()
            kind, other = shared or (None, None)
            pool = {"pool": self.pools, "graph": self.graphs}[kind][other] if kind else None
            identity = () if pool is None else (pool.id if kind == "pool" else pool.pool(),)
            graph.capture_begin(*identity, capture_error_mode="relaxed")

        failure = self._do("begin_capture", name, list(shared) if shared else None, stream, thread, begin)
        if failure:
            # The graph is kept: PyTorch 2.11 aborts when a graph is deleted whose capture did not begin.
            self.operations[-1][:4] = ["alloc", name, SEED_BYTES, stream]
        return not failure

    def join_capture(self, name: int, source: int, stream: int, thread: int = 0) -> None:
        """Lets another stream wait for a captured stream, and so join the capture."""
        self._do("join_capture", name, source, stream, thread, lambda: self.streams[stream].wait_stream(self.streams[source]))

    def end_capture(self, name: int, stream: int, thread: int = 0) -> None:
        """`CUDAGraph.capture_end`."""
        def end():
            torch._C._cuda_setStream(**self._parts(self.streams[stream]))
            self.graphs[name].capture_end()
            return list(self.graphs[name].pool())

        self._do("end_capture", name, None, stream, thread, end)

    def destroy_graph(self, name: int) -> None:
        """Deletes the last reference to a `CUDAGraph`."""
        def destroy():
            del self.graphs[name]

        self._do("destroy_graph", name, None, None, 0, destroy)

    # The record.

    def _do(self, operation: str, name, argument, stream, thread: int, body):
        result = self.workers.run(thread, lambda: answer(body))
        entry = [operation, name, argument, stream, result, self.stats.changes()]
        self.operations.append([*entry, thread] if thread else entry)
        self.counts.append(self.stats.counts())
        return result

    def record(self) -> dict:
        """The whole program, with its final state."""
        snapshot = torch.cuda.memory._snapshot()
        trace = record.trace(snapshot, self)
        pointers = [stream.cuda_stream for stream in self.streams]
        return {
            "torch": torch.__version__.split("+")[0],
            "conf": self.plan.settings,
            "set_fraction_api": self.plan.fraction,
            "device_total": self.total,
            "device_used_at_start": self.used_at_start,
            "stream_pointer_rank": [sorted(pointers).index(pointer) for pointer in pointers],
            "stat_names": self.stats.names,
            "stats_are": "changes",
            "ops": record.with_inner(self.operations, self.counts, trace),
            "final_segments": record.segments(snapshot, self),
            "trace": trace,
        }


def answer(body):
    """The result of `body`, or the message of its exception."""
    try:
        return body()
    except torch.OutOfMemoryError as error:
        return "OOM: " + str(error).splitlines()[0]
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
