"""Marks for PyTorch before 2.10, whose history has no text for events: the marks are written into the snapshot afterwards.

Note [Positions]
~~~~~~~~~~~~~~~~
The allocator counts its allocations and frees since the program began (`allocation.all` of `memory_stats`), in the same critical section
that appends an `alloc` or `free_requested` to the history (`DeviceCachingAllocator::malloc` and `free`, c10/cuda/CUDACachingAllocator.cpp,
2.5). So the sum of both counts is a position in the history, and a mark with this position holds for exactly the events that follow: no
clock, no ties. For a history without its beginning, counting starts from the end.

A loss: PyTorch 2.10 and later keep a mark per thread (Note [Marks and threads] in `position.marks`), here the mark is the process's, set by the last
thread. The difference shows only if two threads of the program allocate at once. A mark costs a call of `memory_stats` per device, some 30
microseconds.
"""

from collections.abc import Callable

import torch

from .stats import Stats

_COUNTED = ("alloc", "free_requested")
# A segment event comes right before the event of the block in the segment; a failing request has no later event.
_BEFORE_A_COUNTED = ("segment_alloc", "segment_map", "oom")


class Positions:
    """The marks of one process, each with its position in the history of every device."""

    def __init__(self, stats: Stats) -> None:
        self._stats = stats
        # Positions, one for each device, and the text that holds from that position on.
        self._marks: list[tuple[tuple[int, ...], str]] = []

    def reset(self) -> None:
        """Starts afresh, in a forked child."""
        self._marks.clear()

    def setter(self) -> Callable[[str], None]:
        """The function that sets the current mark: PyTorch's own, if PyTorch has one."""
        return getattr(torch._C, "_cuda_setMemoryMetadata", None) or self.note

    def note(self, text: str) -> None:
        """Sets the mark; replaces a mark without events."""
        here = self._here()
        if self._marks and self._marks[-1][0] == here:
            self._marks.pop()
        self._marks.append((here, text))

    def write_into(self, snapshot: dict) -> None:
        """Writes the `user_metadata` into the events of every device, as later versions of PyTorch do."""
        if not self._marks:
            return
        ends = self._here()
        for device, trace in enumerate(snapshot["device_traces"][: len(ends)]):
            marks = [(positions[device], text) for positions, text in self._marks]
            _attach(trace, ends[device], marks)

    def _here(self) -> tuple[int, ...]:
        return tuple(self._stats.position(device) for device in range(torch.cuda.device_count()))


def _attach(trace: list[dict], end: int, marks: list[tuple[int, str]]) -> None:
    """Walks a device's events and its marks side by side; `end` is the position behind the last event."""
    position = end - sum(event["action"] in _COUNTED for event in trace)
    following = iter(marks)
    text, after = None, next(following, None)
    for event in trace:
        while after is not None and after[0] <= position:
            text, after = after[1], next(following, None)
        if event["action"] in _COUNTED or event["action"] in _BEFORE_A_COUNTED:
            event["user_metadata"] = text
        position += event["action"] in _COUNTED
