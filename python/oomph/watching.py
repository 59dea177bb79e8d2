"""`oomph.watch`: the memory of a block of code in the running program."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from . import recording
from .command import OomphError
from .recording import Event, Recording

if TYPE_CHECKING:
    import torch

__all__ = ["MemoryLine", "Watch", "watch"]

# The lines of each list in the text.
_SHOWN = 5


class MemoryLine(NamedTuple):
    """A line of the program, and what it allocated in the block: bytes of blocks as the allocator rounds them."""

    file: str
    line: int
    bytes: int
    blocks: int


@dataclass(frozen=True)
class _Figures:
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    allocated_after_bytes: int
    lines: list[MemoryLine]
    peak_lines: list[MemoryLine]


def watch(device: int | str | torch.device | None = None) -> Watch:
    """Watches the memory of a block of code on one GPU, by default the current one::

        with oomph.watch() as memory:
            loss = model(batch).sum()
            loss.backward()
        print(memory)

    All threads of the process count. PyTorch's own counters and its memory history stay as they are.
    """
    return Watch(device)


class Watch:
    """The memory of a block, after the block or so far. Sizes are in bytes, as in `torch.cuda.memory_stats`."""

    def __init__(self, device: int | str | torch.device | None = None) -> None:
        self._asked = device
        self._device = 0
        self._recording: Recording | None = None
        self._is_open = False
        self._process = os.getpid()
        self._start = self._allocated = self._reserved = 0
        # After the block: its events, and then its figures.
        self._events: bytes | None = None
        self._figures: _Figures | None = None
        self._problem: OomphError | None = None

    def __enter__(self) -> Watch:
        if self._is_open:
            raise OomphError("this watch is open", "nested blocks take a watch each: `with oomph.watch() as inner:`")
        self._device = _find_device(self._asked)
        self._recording = recording.borrow()
        self._is_open, self._process = True, os.getpid()
        self._events = self._figures = self._problem = None
        self._read_start(self._recording)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        found = self._recording
        if found is None or self._is_other_process():
            return
        self._is_open = False
        try:
            self._events = found.copy_events(self._start, found.count)
        except OomphError as problem:
            # The program's own error, and the program, go on.
            self._problem = problem
        recording.release(found)

    @property
    def device(self) -> int:
        """The number of the GPU."""
        return self._device

    @property
    def peak_allocated_bytes(self) -> int:
        """The most that was allocated at any moment of the block."""
        return self._compute().peak_allocated_bytes

    @property
    def peak_reserved_bytes(self) -> int:
        """The most that was reserved at any moment of the block."""
        return self._compute().peak_reserved_bytes

    @property
    def allocated_before_bytes(self) -> int:
        """Allocated when the block began."""
        self._compute()
        return self._allocated

    @property
    def allocated_after_bytes(self) -> int:
        """Allocated when the block ended; in the block, by now."""
        return self._compute().allocated_after_bytes

    @property
    def grown_bytes(self) -> int:
        """Allocated after the block less before; negative if the block freed more."""
        return self.allocated_after_bytes - self._allocated

    @property
    def lines(self) -> list[MemoryLine]:
        """The lines whose blocks, allocated in the block of code, are alive after it; the largest first."""
        return self._compute().lines

    @property
    def peak_lines(self) -> list[MemoryLine]:
        """The lines whose blocks, allocated in the block of code, were alive at its peak; the largest first."""
        return self._compute().peak_lines

    def __str__(self) -> str:
        try:
            return _describe(self)
        except OomphError as error:
            return str(error)

    def __repr__(self) -> str:
        return f"<oomph.watch: {str(self).splitlines()[0]}>"

    def _read_start(self, found: Recording) -> None:
        """Reads the counters between two events: other threads may be allocating."""
        import torch

        for _ in range(1000):
            self._start = found.count
            self._allocated, self._reserved = torch.cuda.memory_allocated(self._device), torch.cuda.memory_reserved(self._device)
            if found.count == self._start:
                return

    def _is_other_process(self) -> bool:
        return os.getpid() != self._process

    def _compute(self) -> _Figures:
        found = self._recording
        if found is None:
            raise OomphError("the block of this watch has not begun", "with oomph.watch() as memory:")
        if self._figures is not None:
            return self._figures
        if self._problem is not None:
            raise self._problem
        if self._is_open and self._is_other_process():
            raise OomphError("this watch belongs to the parent process")
        events = self._events if self._events is not None else found.copy_events(self._start, found.count)
        figures = self._add_up(found, events)
        if not self._is_open:
            self._figures, self._events = figures, None
        return figures

    def _add_up(self, found: Recording, copied: bytes) -> _Figures:
        events = [it for it in recording.list_events(copied) if it[7] == self._device]
        allocated = peak = self._allocated
        peak_at = 0
        for number, (_, change, _, _, _, _, kind, _) in enumerate(events, 1):
            if kind == recording.MEMORY:
                allocated += change
                if allocated > peak:
                    peak, peak_at = allocated, number
        reserved = max(self._reserved, max((it[2] for it in events), default=0))
        return _Figures(peak, reserved, allocated, _list_lines(found, events), _list_lines(found, events[:peak_at]))


def _find_device(device: int | str | torch.device | None) -> int:
    """The number of a GPU whose allocations can be recorded."""
    try:
        import torch
    except ImportError as error:
        raise OomphError(f"oomph.watch needs PyTorch: {error}") from error
    if not torch.cuda.is_available():
        raise OomphError("oomph.watch needs a GPU, and PyTorch finds none", "`oomph phantom -- python SCRIPT` runs a program on a phantom GPU")
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        raise OomphError(f"oomph.watch cannot use the GPU: {str(error).splitlines()[0]}") from error
    backend = torch.cuda.get_allocator_backend()
    if backend != "native":
        raise OomphError(f"oomph.watch reads PyTorch's native allocator, and the program uses `{backend}`")
    try:
        asked = torch.device("cuda", device) if isinstance(device, int) else torch.device(device or "cuda")
    except RuntimeError as error:
        raise OomphError(f"`{device}` is not a device: {str(error).splitlines()[0]}") from error
    index = torch.cuda.current_device() if asked.index is None else asked.index
    if asked.type != "cuda" or not 0 <= index < torch.cuda.device_count():
        raise OomphError(f"`{device}` is not a GPU of this process, which has {torch.cuda.device_count()}")
    return index


def _list_lines(found: Recording, events: Iterable[Event]) -> list[MemoryLine]:
    """The lines of the blocks that are alive after the events."""
    alive: dict[int, tuple[int, int]] = {}
    for address, change, _, stack, _, _, kind, _ in events:
        if kind != recording.MEMORY:
            continue
        if change > 0:
            alive[address] = change, stack
        else:
            alive.pop(address, None)
    return _sum_by_line(found, alive.values())


def _sum_by_line(found: Recording, blocks: Iterable[tuple[int, int]]) -> list[MemoryLine]:
    sums: dict[tuple[str, int], list[int]] = {}
    places: dict[int, tuple[str, int]] = {}
    for size, stack in blocks:
        if stack not in places:
            places[stack] = _find_line(found.read_stack(stack))
        entry = sums.setdefault(places[stack], [0, 0])
        entry[0] += size
        entry[1] += 1
    lines = [MemoryLine(file, line, size, count) for (file, line), (size, count) in sums.items()]
    return sorted(lines, key=lambda it: (-it.bytes, it.file, it.line))


def _find_line(stack: list[tuple[str, str, int]]) -> tuple[str, int]:
    """The innermost line of the user's own code, else of any code; `("", 0)` without a stack, as in a thread of autograd."""
    from .agent.process.frames import is_users

    places = [(file, line) for _, file, line in stack]
    return next((it for it in places if is_users(it[0])), places[0] if places else ("", 0))


def _describe(memory: Watch) -> str:
    peak, before, grown = memory.peak_allocated_bytes, memory.allocated_before_bytes, memory.grown_bytes
    kept = f"{write_size(grown)} more stay" if grown > 0 else f"{write_size(-grown)} fewer stay" if grown else "nothing stays"
    head = f"{write_size(peak)} allocated at the peak of the block, {write_size(peak - before)} more than before; {kept} after it"
    rows = [head, "", f"  reserved  {write_size(memory.peak_reserved_bytes)} at most"]
    rows += _describe_lines("at the peak", memory.peak_lines) + _describe_lines("after", memory.lines)
    return "\n".join(rows)


def _describe_lines(title: str, lines: list[MemoryLine]) -> list[str]:
    if not lines:
        return []
    rows = [f"  {write_size(it.bytes):>12}  {_name_line(it)}" + (f" ({it.blocks} blocks)" if it.blocks > 1 else "") for it in lines[:_SHOWN]]
    rest = sum(it.bytes for it in lines[_SHOWN:])
    rows += [f"  {write_size(rest):>12}  {len(lines) - _SHOWN} more lines"] if rest else []
    return ["", f"  allocated in the block, alive {title}", *rows]


def _name_line(it: MemoryLine) -> str:
    if not it.file:
        return "no Python line (a backward pass, for example)"
    relative = os.path.relpath(it.file)
    return f"{it.file if relative.startswith(os.pardir) else relative}:{it.line}"


def write_size(size: int) -> str:
    """A size as the reports write it, such as `1.50 GiB`."""
    if abs(size) < 1024:
        return f"{size} B"
    value, unit = float(size), "B"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if abs(value) < 1024:
            break
    return f"{value:.2f} {unit}"
