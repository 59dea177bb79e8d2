"""Sentences for the errors of `huggingface_hub`: the file that was asked for, and the answer. The report shows them with a hint
(`crates/diagnose/src/failure/hub.rs`)."""

import json
import os
import sys

from ...failure import explain, find_explained
from . import network
from .ranges import BadAnswer
from .remote_file import is_unreachable

# The number of first characters of a bad file in a message.
_SHOWN = 20


def check_text(repository: str, name: str, path: str) -> None:
    """Refuses a fetched file in JSON with other contents: the cache would keep the answer of a proxy."""
    if not name.endswith(".json"):
        return
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    try:
        json.loads(text)
    except ValueError as error:
        os.unlink(path)
        raise BadAnswer(f"the hub at {_find_endpoint()} sent `{text[:_SHOWN].strip()}` as {name} of `{repository}`, expected JSON") from error


def explain_error(error: Exception, repository: str, name: str | None) -> None:
    """Marks an error of the library with a sentence."""
    sentence = None if hasattr(error, "oomph_reason") else _describe(error, repository, name)
    if sentence is not None:
        explain(error, sentence)


def is_refused(error: BaseException) -> bool:
    """True if the hub gave an answer that is no file: then no configuration takes the place of the file."""
    explained = find_explained(error)
    return explained is not None and not is_unreachable(explained)


def _describe(error: Exception, repository: str, name: str | None) -> str | None:
    """The sentence; `None` for an error with a good message, or one that the libraries expect."""
    kinds = {kind.__name__ for kind in type(error).__mro__} | {type(error.__cause__).__name__}
    what = f"{name} of `{repository}`" if name else f"`{repository}`"
    hub = f"the hub at {_find_endpoint()}"
    status = getattr(getattr(error, "response", None), "status_code", None)
    if "GatedRepoError" in kinds:
        return f"`{repository}` is gated: {hub} answered {status}, expected an account that has accepted the terms"
    if "RepositoryNotFoundError" in kinds:
        return f"{hub} has no `{repository}` for this account (status {status}), expected the name of a model"
    if "FileMetadataError" in kinds:
        return f"{hub} sent {what} without the headers of a hub, expected X-Repo-Commit and ETag"
    if "TooManyRedirects" in kinds:
        return f"{hub} redirects {what} in a loop, expected the file"
    closed = network.describe()
    if kinds & {"LocalEntryNotFoundError", "IncompleteSnapshotError"} and closed is not None:
        return f"{what} is not on this machine, and {hub} cannot be reached: {closed}"
    return f"{hub} answered {status} for {what}, expected the file" if status is not None and status >= 500 else None


def _find_endpoint() -> str:
    return sys.modules["huggingface_hub.constants"].ENDPOINT
