"""`%oomph free`: removes what holds memory, and compares the freed bytes with the prediction."""

import difflib
import gc
import re
import sys
from dataclasses import dataclass

from IPython.core.error import UsageError

from . import sentences, survey
from .report import Report
from .shell import Shell

_SPECIAL = ("traceback", "cycles", "cache", "Out")
_EVERYTHING = ["traceback", "cycles", "Out", "cache"]
_NUMBERED = re.compile(r"Out\[(\d+)\]|_(\d+)")


@dataclass
class Memory:
    """The memory of all devices at an instant."""

    allocated_bytes: int
    reserved_bytes: int


def free(shell: Shell, names: list[str]) -> str:
    """Removes the named holders, without a name all that is not a variable; returns the sentences."""
    is_everything = not names
    names = list(dict.fromkeys(names or _EVERYTHING))
    for name in names:
        _check(shell, name)
    report = survey.take(shell)
    # A variable `cache` with a row is the variable; to every other session the name is PyTorch's cache.
    has_cache = not is_everything and any(row.name == "cache" for device in report.devices for row in device.rows)
    releases = "cache" in names and not has_cache
    removed = _rows_of(shell, [it for it in names if it != "cache" or has_cache])
    predicted = sum(size for device in report.devices for size, holders in device.blocks if holders and holders <= removed)
    before = measure()
    for name in names:
        _remove(shell, name, has_cache)
    gc.collect()
    if releases and before is not None:
        sys.modules["torch"].cuda.empty_cache()
    after = measure()
    lines = [*_describe(report, names, predicted, before, after), _list_remaining(report, removed)]
    if before and after and before.allocated_bytes - after.allocated_bytes < predicted:
        lines.append(_explain_difference(shell, predicted - before.allocated_bytes + after.allocated_bytes))
    return "\n".join(filter(None, lines))


def measure() -> Memory | None:
    """The memory now; `None` while no device is in use."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda") or not torch.cuda.is_initialized():
        return None
    devices = range(torch.cuda.device_count())
    return Memory(sum(map(torch.cuda.memory_allocated, devices)), sum(map(torch.cuda.memory_reserved, devices)))


def _check(shell: Shell, name: str) -> None:
    """Refuses an unknown name, with the nearest known."""
    known = list_names(shell)
    if name in known:
        return
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean `{near[0]}`?" if near else "; `%oomph` lists the names"
    raise UsageError(f"no variable, output or part `{name}` to free{hint}")


def list_names(shell: Shell) -> list[str]:
    """All names that can be freed."""
    outputs = [it for name, (_, others) in shell.list_outputs().items() for it in (name, *others)]
    return [*shell.list_variables(), *outputs, *shell.name_outputs(), *_SPECIAL, "_", "__", "___"]


def _rows_of(shell: Shell, names: list[str]) -> set[str]:
    """The names of the rows that go: with each variable or output the outputs that are the same object, and the cycles."""
    found = {"cycles"}
    outputs = shell.list_outputs()
    variables = shell.list_variables()
    for name in names:
        found.add(name)
        value = _find_value(shell, name, variables)
        found.update(it for it, (kept, others) in outputs.items() if name in (it, *others) or name == "Out" or (value is not None and kept is value))
    return found


def _find_value(shell: Shell, name: str, variables: dict[str, object]) -> object:
    if name in variables:
        return variables[name]
    match = _NUMBERED.fullmatch(name)
    if match:
        return shell.outputs.get(int(match[1] or match[2]))
    return next((value for key, (value, others) in shell.list_outputs().items() if name in (key, *others)), None)


def _remove(shell: Shell, name: str, has_cache: bool) -> None:
    if name == "traceback":
        shell.remove_exceptions()
    elif name == "Out":
        shell.remove_outputs()
    elif name in shell.list_variables() and (name not in _SPECIAL or has_cache):
        shell.remove_variable(name)
    elif name not in _SPECIAL:
        value = _find_value(shell, name, {})
        if value is not None:
            shell.remove_value(value)


def _describe(report: Report, names: list[str], predicted: int, before: Memory | None, after: Memory | None) -> list[str]:
    """The sentences about the freed memory."""
    if before is None or after is None:
        return [f"removed {_join(names)}; {report.reason or 'nothing is on a GPU'}"]
    freed = before.allocated_bytes - after.allocated_bytes
    return [
        f"freed {sentences.size(freed)} by removing {_join(names)}; predicted: {sentences.size(predicted)}",
        f"allocated {sentences.size(before.allocated_bytes)} -> {sentences.size(after.allocated_bytes)}, "
        f"reserved {sentences.size(before.reserved_bytes)} -> {sentences.size(after.reserved_bytes)}",
    ]


def _explain_difference(shell: Shell, missing_bytes: int) -> str:
    """The sentence about memory that stays against the prediction."""
    return f"{sentences.size(missing_bytes)} less than predicted, held elsewhere; {sentences.first_sentence(survey.take(shell))}"


def _list_remaining(report: Report, removed: set[str]) -> str:
    """The sentence about memory that a removed name led to, and that others hold."""
    lines = []
    for device in report.devices:
        for row in device.rows:
            others = [it for it in row.also_held_by if it not in removed]
            kept = sum(size for size, holders in device.blocks if row.name in holders and holders - removed)
            if row.name in removed and row.name != "cycles" and kept:
                lines.append(f"{sentences.size(kept)} of `{row.name}` stay: also held by {_join(others[:3])}")
    return "\n".join(lines[:3])


def _join(names: list[str]) -> str:
    return ", ".join(f"`{it}`" for it in names)
