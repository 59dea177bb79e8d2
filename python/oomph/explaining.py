"""`oomph.explain`: why did a program run out of memory?"""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .command import OomphError, StrPath, read_document, read_failure, run_command, to_path

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """The answer of `oomph explain`."""

    #: The name of the cause, that of the first finding (`oomph rule` lists them); `None` if nothing was found.
    cause: str | None
    #: The first sentence of the report.
    summary: str
    #: The findings, most serious first, as in the JSON: `rule`, `message`, `location`, `evidence`, `remedies`.
    findings: list[dict[str, Any]]
    #: The JSON object, of the schema `docs/schema/explain.json`; of two runs that of `docs/schema/against.json`,
    #: of a real run that of `docs/schema/run.json`.
    report: dict[str, Any] = field(repr=False)
    #: The report as the command prints it.
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


def explain(*sources: StrPath | BaseException, text: str | None = None) -> Explanation:
    """Explains what a crash left: paths of logs, snapshots and run folders, an exception such as `torch.OutOfMemoryError`, or `text`.

    Raises `OomphError` if a file cannot be read, or a text has no out-of-memory error.
    """
    paths = [to_path(it) for it in sources if not isinstance(it, BaseException)]
    texts = [_describe(it) for it in sources if isinstance(it, BaseException)]
    texts += [] if text is None else [text]
    if not paths and not texts:
        raise OomphError("nothing to explain", "name a log, a snapshot or a run folder; or give an exception, or text=")
    words = [*paths, *(["-"] if texts else [])]
    return _explain(words, "\n".join(texts) if texts else None)


def _describe(error: BaseException) -> str:
    """The traceback of an exception with its causes, as Python prints it."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def _explain(words: Sequence[str], text: str | None) -> Explanation:
    ended = run_command(["explain", "--format=json", *words], text=text)
    report = read_document(ended.stdout)
    if "verdict" not in report or ended.status not in (0, 1):
        raise _hint_at_text(read_failure(ended, report), words)
    printed = run_command(["explain", *words], text=text)
    # A real run that memory ended has the report of `check` inside.
    findings: list[dict[str, Any]] = (report.get("out_of_memory") or report).get("findings", [])
    cause = findings[0]["rule"] if findings else None
    return Explanation(cause, report["headline"], findings, report, printed.stdout)


def _hint_at_text(error: OomphError, words: Sequence[str]) -> OomphError:
    """The error, with another hint if a message was given in place of a path."""
    is_message = any(len(word.split()) > 3 and not os.path.exists(word) for word in words)
    if not is_message:
        return error
    return OomphError(error.message, "a message is given as text=", status=error.status, stderr=error.stderr, kind=error.kind)
