"""Tells DataLoaders for evaluation from those for training.

Sources, in order: the data set (`train=False`, `split="test"`), the name of the variable for the loader, the variables of the data set, the
name of the function that returns the loader; then the same for the function's caller. A loader without any such name, and without
shuffling, is for evaluation if another loader shuffles.
"""

import ast
import re
from collections.abc import Iterable
from types import FrameType

from ...process import frames, local_variables
from ...source.names import last_name, name_of_call
from ...source.spans import find_running
from . import names

# At the start of a word: `valloader` and `testset` are written so, `value` and `device` are not meant.
_EVALUATION = re.compile(r"(^|_)(eval|evaluation|test|testing|valid|validation|(val|dev)(?=_|$|loader|set|data|dl|iter|gen|batch))")
_TRAINING = re.compile(r"(^|_)(train|training|trn(?=_|$))")
_SPLITS = ("split", "mode", "phase", "subset", "partition", "stage")
_CALLERS = 3
_LOADERS = ("Loader", "loader", "BatchSampler")


class Seen:
    """The knowledge from the loaders made so far."""

    def __init__(self) -> None:
        self._one_shuffles = False

    def is_evaluation(self, frame: FrameType, given: dict) -> bool:
        """True if the loader that `frame` makes, with these arguments, is for evaluation."""
        said = _said_by_dataset(given.get("dataset"))
        said = _said_by_makers(frame) if said is None else said
        shuffles = bool(given.get("shuffle")) or given.get("sampler") is not None
        is_evaluation = (not shuffles and self._one_shuffles) if said is None else said
        self._one_shuffles = self._one_shuffles or (shuffles and not is_evaluation)
        return is_evaluation


def _said(text: str) -> bool | None:
    """True if a name speaks of evaluation; `None` if the name speaks of neither or both."""
    plain = names.plain(text)
    is_evaluation, is_training = bool(_EVALUATION.search(plain)), bool(_TRAINING.search(plain))
    return None if is_evaluation == is_training else is_evaluation


def _said_by_any(texts: Iterable[str]) -> bool | None:
    said = {_said(text) for text in texts} - {None}
    return said.pop() if len(said) == 1 else None


def _said_by_dataset(dataset) -> bool | None:
    """True for a data set of evaluation, by `train` and `split` of torchvision's data sets."""
    members = getattr(dataset, "__dict__", {})
    if isinstance(members.get("train"), bool):
        return not members["train"]
    split = members.get("split") or members.get("_split")
    return _said(split) if isinstance(split, str) else None


def _said_by_makers(frame: FrameType | None) -> bool | None:
    """The answer of the innermost frame of the user that has an answer."""
    looked = 0
    while frame is not None and looked < _CALLERS:
        if frames.is_users(frame.f_code.co_filename):
            looked += 1
            said = _said_by_maker(frame)
            if said is not None or not _returns(frame):
                return said
        frame = frame.f_back
    return None


def _said_by_maker(frame: FrameType) -> bool | None:
    statement = _find_statement(frame)
    for texts in (_targets(statement), _arguments(statement, frame), _parameters(frame)):
        said = _said_by_any(texts)
        if said is not None:
            return said
    return _said(frame.f_code.co_name) if _returns(frame) else None


def _returns(frame: FrameType) -> bool:
    """True if the frame returns the loader to its caller, as far as the statement shows."""
    return frame.f_code.co_name != "<module>" and not isinstance(_find_statement(frame), ast.Expr)


def _targets(statement: ast.AST | None) -> list[str]:
    """The names that the statement assigns to."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [_spelled(target) for target in targets if len(targets) == 1]


def _spelled(target: ast.expr) -> str:
    is_item = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)
    return str(target.slice.value) if is_item else last_name(target)


def _arguments(statement: ast.AST | None, frame: FrameType) -> list[str]:
    """The variables in the data set argument of the statement's only loader, and the variables that hold texts."""
    calls = [node for node in ast.walk(statement) if name_of_call(node).endswith(_LOADERS)] if statement is not None else []
    if len(calls) != 1:
        return []
    first = calls[0].args[0] if calls[0].args else next((word.value for word in calls[0].keywords if word.arg == "dataset"), None)
    used = [node for node in ast.walk(first) if isinstance(node, (ast.Name, ast.Attribute))] if first is not None else []
    texts = [last_name(node) for node in used]
    values = local_variables.read_all(frame, texts)
    return [*texts, *(values[text] for text in texts if isinstance(values.get(text), str))]


def _parameters(frame: FrameType) -> list[str]:
    """The function's parameters that name the purpose of the data: `split="val"`, `train=False`."""
    code = frame.f_code
    known = local_variables.read_all(frame, list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]))
    texts = [value for name, value in known.items() if name in _SPLITS and isinstance(value, str)]
    flags = [known[name] for name in ("train", "training", "is_train") if isinstance(known.get(name), bool)]
    return [*texts, *("train" if flag else "eval" for flag in flags)]


def _find_statement(frame: FrameType) -> ast.AST | None:
    """The innermost statement that covers the running line."""
    return next(reversed(find_running(frame)), None)
