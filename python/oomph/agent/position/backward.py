"""Backward passes: every call into the autograd engine, and the mark in the engine's own threads.

All of `Tensor.backward`, `torch.autograd.backward` and `torch.autograd.grad` enter the engine through
`torch.autograd.graph._engine_run_backward` (2.2 and later; torch/autograd/graph.py). The module is named by pre-hooks of
graph nodes: `modules` registers the hooks of forward passes, this file the hook of the outputs, which runs first.
"""

import sys
import threading
from collections.abc import Callable, Sequence

import torch

from .. import records
from ..failure import guarded
from ..hooks import events
from ..part import Write
from ..process import frames
from .marks import Marks

# The most lines of calls with `create_graph=True`.
_MOST_LINES = 16


class Backward:
    """The phase around every call of the engine."""

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        # The thread that waits for the outermost backward. Only its stack has the script's line: the engine's threads run no Python of the
        # script.
        self.waiting_thread: int | None = None
        self._depth = 0
        # The calls of the engine so far.
        self.count = 0
        # Hears of each outermost call.
        self.on_call: Callable[[], object] = lambda: None
        self.write: Write | None = None
        # The user's lines whose gradients have a graph.
        self._graph_lines: set[tuple[str, int]] = set()

    def install(self) -> None:
        """Stands around the engine."""
        events.around_backward(self._run)

    def _run(self, run, outputs, *args, **kwargs):
        phase, hooks = self.marks.phase, self._begin(outputs)
        if len(args) > 2 and args[2] is True and kwargs.get("accumulate_grad", False):
            self._note_graph()
        try:
            return run(outputs, *args, **kwargs)
        finally:
            self._end(phase, hooks)

    @guarded
    def _note_graph(self) -> None:
        """Records the user's line once."""
        line = frames.users_line(sys._getframe(1))
        if self.write is not None and line[0] and line not in self._graph_lines and len(self._graph_lines) < _MOST_LINES:
            self._graph_lines.add(line)
            self.write(records.gradient_graph(file=line[0], line=line[1]))

    @guarded
    def _begin(self, outputs: Sequence) -> list:
        self._depth += 1
        self.count += 1
        if self._depth == 1:
            self.on_call()
            self.waiting_thread = threading.get_ident()
        self.marks.enter_phase("backward")
        return [node.register_prehook(self._first_node) for node in _nodes(outputs)]

    @guarded
    def _end(self, phase: str, hooks: list | None) -> None:
        for hook in hooks or ():
            hook.remove()
        self._depth -= 1
        if self._depth == 0:
            self.waiting_thread = None
        inside = self._depth > 0 or self.marks.thread.callers or phase == "optimizer"
        self.marks.enter_phase(phase if inside else "other")
        self.marks.enter_module(self.marks.thread.module)

    def _first_node(self, _gradients) -> None:
        """The engine's thread has begun: the mark it had from the last backward is stale."""
        self.marks.enter_module("")


def _nodes(outputs: Sequence):
    """The graph nodes of what is differentiated: tensors, or `GradientEdge`s."""
    for output in outputs:
        node = output.grad_fn if isinstance(output, torch.Tensor) else getattr(output, "node", None)
        if node is not None:
            yield node
