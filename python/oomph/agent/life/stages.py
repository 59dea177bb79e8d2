"""The stages of a job, each a part of the mark of every allocation.

`load` until the first training step, `steps`, `worst-batches`, `evaluation` (a trained model runs in evaluation mode or without
gradients) and `generation`, `save` (from the call that writes a checkpoint, or from the branch with the call, to the next forward), `later-steps` after the
first evaluation or save, `next-epoch` from the second begin of a training loop, and `end` behind the last training loop.
"""

import ast
import sys
from collections.abc import Callable

import torch

from .. import hooks, records
from ..failure import guarded
from ..hooks import events
from ..part import Write
from ..position.modules import own_tensors
from ..process import frames
from ..source import trees
from ..source.names import name_of_call
from . import rewriting

# The parts of names of functions that write a checkpoint or a model, and that evaluate.
_SAVING = {"save", "saves", "saved", "export", "exports", "checkpoint", "snapshot", "dump"}
_EVALUATING = {"eval", "evals", "evaluate", "evaluates", "evaluation", "valid", "validate", "validation", "val", "test", "tests"}
_COLLECTING = "state_dict"
_SAVE_FUNCTIONS = (
    "torch.serialization:save", "safetensors.torch:save_file", "transformers.modeling_utils:PreTrainedModel.save_pretrained",
    "torch.distributed.checkpoint.state_dict_saver:save",
)  # fmt: skip


class Stages:
    """The stage that the program is in."""

    def __init__(self, show: Callable[[str], object], step: Callable[[], int]) -> None:
        self._show = show
        self._step = step
        self._write: Write | None = None
        self._base = "load"
        # A stage between steps, until the next forward of a training step.
        self._inner: str | None = None
        self._shown = "load"
        self._met: set[str] = set()
        self._has_optimizer = False
        # By file: the stages of the functions of the file.
        self._named: dict[str, dict[str, str]] = {}
        # By the number of a branch.
        self._of_branches: dict[int, str | None] = {}

    def install(self, write: Write) -> None:
        """Hears of what begins and ends a stage."""
        self._write = write
        self._note("load")
        events.on_optimizer_made(lambda _optimizer: self._note_optimizer())
        for name in _SAVE_FUNCTIONS:
            hooks.around(name, self._save)
        hooks.around("transformers.generation.utils:GenerationMixin.generate", self._generate)

    def _note_optimizer(self) -> None:
        self._has_optimizer = True

    def begin_forward(self, module: torch.nn.Module) -> None:
        """The program calls a model."""
        is_trained = any(it.requires_grad for _, it in own_tensors([module]))
        if not is_trained or self._inner == "generation":
            return
        if module.training and torch.is_grad_enabled():
            self.train()
        elif self._base != "end":
            self._enter("evaluation")

    def train(self) -> None:
        """A training step runs."""
        self._inner = None
        if self._base in ("load", "end"):
            self._base = "steps" if self._base == "load" else "later-steps"
        self._change()

    def begin_loop(self, is_again: bool) -> None:
        """A loop begins; `is_again` for a loop that has trained before."""
        if is_again and self._base != "end":
            self._inner, self._base = None, "next-epoch"
        elif self._base == "load" and self._has_optimizer:
            self._base = "steps"
        self._change()

    def begin_step_pass(self) -> None:
        """A pass of a loop with optimizer steps begins: an evaluation or a save is over."""
        self._inner = None
        self._change()

    def end_training(self) -> None:
        """The outermost loop with steps has ended."""
        self._inner, self._base = None, "end"
        self._change()

    def begin_pass(self, is_largest: bool) -> None:
        """A pass of a loader's loop begins."""
        if is_largest and self._base in ("steps", "later-steps", "next-epoch"):
            self._base = "worst-batches"
        elif not is_largest and self._base == "worst-batches":
            self._base = "later-steps"
        self._change()

    @guarded
    def begin_branch(self, number: int) -> None:
        """A branch of a condition in the program's own code runs."""
        file, first = rewriting.BRANCHES[number]
        if self._base in ("load", "end") or self._inner is not None:
            return
        if number not in self._of_branches:
            self._of_branches[number] = self._find_stage(file, first)
        stage = self._of_branches[number]
        if stage is not None:
            self._enter(stage)

    def _enter(self, stage: str) -> None:
        self._inner = stage
        if self._base == "steps":
            self._base = "later-steps"
        self._change()

    def _save(self, call, *args, **kwargs):
        self._enter("save")
        return call(*args, **kwargs)

    def _generate(self, call, *args, **kwargs):
        before, self._inner = self._inner, "generation"
        self._change()
        try:
            return call(*args, **kwargs)
        finally:
            self._inner = before

    @guarded
    def _change(self) -> None:
        stage = self._inner or self._base
        if stage != self._shown:
            self._shown = stage
            self._show(stage)
            self._note(stage)

    def _note(self, stage: str) -> None:
        if stage not in self._met and self._write is not None:
            self._met.add(stage)
            file, line = frames.users_line(sys._getframe(1))
            is_users = frames.is_users(file)
            self._write(records.stage(stage=stage, step=self._step(), file=file if is_users else "", line=line if is_users else 0))

    def _find_stage(self, file: str, first: ast.stmt) -> str | None:
        """The stage that a branch leads to, by the names of the functions that are called there, and below."""
        if file not in self._named:
            self._named[file] = _name_functions(file)
        block = next((it for node in trees.walk(file) if isinstance(node, ast.If) for it in (node.body, node.orelse) if it and it[0].lineno == first.lineno), [])
        names = [name_of_call(node) for it in block for node in ast.walk(it) if isinstance(node, ast.Call)]
        found = [stage for name in names if (stage := self._named[file].get(name) or _stage_of_name(name)) is not None]
        return found[0] if found else None


def _stage_of_name(name: str | None) -> str | None:
    words = set((name or "").lower().split("_"))
    if words & _EVALUATING:
        return "evaluation"
    # `load_state_dict` collects nothing.
    is_collecting = name is not None and name.endswith("_" + _COLLECTING) and "load" not in words
    return "save" if words & _SAVING or is_collecting else None


def _name_functions(file: str) -> dict[str, str]:
    """The stages of the functions of a file that call, at last, one with the name of a stage."""
    calls = {
        node.name: {name_of_call(it) for it in ast.walk(node) if isinstance(it, ast.Call)}
        for node in trees.walk(file)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    found: dict[str, str] = {}
    while True:
        new = {name: stage for name, called in calls.items() if name not in found and (stage := _stage_of_calls(name, called, found)) is not None}
        if not new:
            return found
        found.update(new)


def _stage_of_calls(name: str, called: set[str | None], known: dict[str, str]) -> str | None:
    stages = [known.get(it or "") or _stage_of_name(it) for it in (name, *sorted(filter(None, called)))]
    return next((it for it in stages if it is not None), None)
