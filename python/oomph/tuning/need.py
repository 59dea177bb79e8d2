"""The device memory that a configuration of a program needs, by one dry run for each configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from ..checking import Check, check

__all__ = ["Command", "Need", "Needs"]

#: The words of a command with `{name}` for the value of a parameter, or a function that makes the words.
Command = Union[Sequence[str], Callable[[Mapping[str, Any]], Sequence[str]]]

# A path of names: `{batch}`, and `{model.width}` in a nested configuration. Other braces are left: Hydra has `{a: 1}`.
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w.]*)\}")
_SCRIPTS = (".py", ".ipynb")
# A driver reserves memory in units of 2 MiB.
_LEAST_EXCESS_BYTES = 2 << 20


@dataclass(frozen=True)
class Need:
    """The memory that one configuration needs of the device. Sizes are in bytes."""

    #: The device memory that the program takes without a limit, with the CUDA context.
    need_bytes: int
    #: The device's memory less the need.
    spare_bytes: int
    #: `fits`, `fits_so_far` or `oom`, as in the report of `oomph check`.
    verdict: str
    #: The first sentence of the report.
    summary: str
    #: The number of ranks; 1 for a program of one process.
    ranks: int = 1

    @property
    def capacity_bytes(self) -> int:
        """The device's memory, less the memory of other processes."""
        return self.need_bytes + self.spare_bytes

    @property
    def fits(self) -> bool:
        """False if the program runs out of memory. A program that fits so far counts as one that fits."""
        return self.verdict != "oom"

    @property
    def excess_bytes(self) -> int:
        """The need less the device's memory, positive exactly if the program runs out.

        The sign needs care twice: a fragmented pool runs out below the device's memory, and a release of PyTorch's cache fits a larger need.
        """
        if self.fits:
            return min(-self.spare_bytes, 0)
        return max(-self.spare_bytes, _LEAST_EXCESS_BYTES)


class Needs:
    """The needs of a program's configurations, each found by one dry run and kept in memory.

    `command` is a list of words, such as `["train.py", "--batch", "{batch}"]`, or a function from the parameters to such words. A script is run
    by the Python of the caller, any other first word is a program: `["torchrun", "--nproc-per-node", "2", "train.py"]`. The settings are the
    keywords of `oomph.check`: `gpu`, `vram`, `steps`, `timeout`, `cwd` and the others.
    """

    def __init__(self, command: Command, **settings: Any) -> None:
        self._command = command if callable(command) else list(command)
        self._settings = settings
        # No lock guards the table, because Ray pickles it. Two threads with one new configuration make two dry runs.
        self._known: dict[tuple[str, ...], Need] = {}

    def __len__(self) -> int:
        """The number of known configurations."""
        return len(self._known)

    def find(self, params: Mapping[str, Any]) -> Need:
        """Returns the need of a configuration; the first call of each configuration makes a dry run, of seconds.

        Raises `OomphError` if the program failed or the settings are bad, and `KeyError` for a placeholder without a parameter.
        """
        words = tuple(self.make_words(params))
        if words not in self._known:
            self._known[words] = _ask(words, self._settings)
        return self._known[words]

    def make_words(self, params: Mapping[str, Any]) -> list[str]:
        """Returns the words of a configuration's command line."""
        if callable(self._command):
            return [str(word) for word in self._command(params)]
        return [_PLACEHOLDER.sub(lambda match: str(_look_up(params, match[1])), word) for word in self._command]


def _look_up(params: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter, by its name or by its path in nested mappings."""
    if name in params:
        return params[name]
    value: Any = params
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise KeyError(f"the command has `{{{name}}}`, and the configuration has no such parameter: {', '.join(map(str, params))}")
        value = value[part]
    return value


def _ask(words: Sequence[str], settings: Mapping[str, Any]) -> Need:
    """Makes the dry run of a command."""
    if words and words[0].endswith(_SCRIPTS):
        return _to_need(check(words[0], *words[1:], **settings))
    return _to_need(check(list(words), **settings))


def _to_need(answer: Check) -> Need:
    ranks = max(1, len(answer.report["ranks"]))
    return Need(answer.need_bytes, answer.spare_bytes, answer.verdict, answer.summary, ranks)
