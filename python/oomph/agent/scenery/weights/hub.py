"""The Hugging Face Hub in a dry run: configurations and headers of weights are fetched, weights are not. See Note [Missing weights].

The download of a weight file in `huggingface_hub.file_download` is replaced by that of its header; all else is the library's: revisions,
etags, errors, locks. A program's call for a repository in the user's cache begins as usual. When the call comes to a weight file that is not
there, the call is repeated in the mirror (Note [Mirror] in `mirror.py`), to which all later calls for the repository lead.
"""

import contextvars
import functools
import inspect
import os
import shutil
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from ...hooks import innermost
from .. import fetches
from . import formats, ledger, network, reasons
from .mirror import HollowFile, Mirror
from .ranges import BadAnswer, Ranges


@dataclass(frozen=True)
class _Call:
    """A call of a function that downloads."""

    repository: str
    mirror: Mirror
    local_dir: str | None

    @property
    def is_led(self) -> bool:
        """True if an earlier call has come to a missing weight file of the repository."""
        return not self.mirror.is_itself and self.mirror.exists()


class _Elsewhere(Exception):
    """A weight file is missing, and must not come into the user's cache: the call is to be repeated in the mirror."""


# The running call, of this thread.
_current: contextvars.ContextVar[_Call | None] = contextvars.ContextVar("oomph_hub_call", default=None)
# True in a download of a file within that of a snapshot, which has threads of its own.
_is_within: contextvars.ContextVar[bool] = contextvars.ContextVar("oomph_hub_within", default=False)
# The blobs in the ledger.
_noted: set[str] = set()
os.register_at_fork(after_in_child=_noted.clear)


def _lead(call, *args, **kwargs):
    """A function of the Hub with `repo_id`, `cache_dir`, `repo_type` and perhaps `local_dir`, led to the mirror. The download of a file within
    that of a snapshot leaves the repetition to the latter."""
    names = inspect.signature(innermost(call)).parameters
    arguments = dict(zip(names, args, strict=False)) | kwargs
    found, fetch = _find_call(arguments), functools.partial(fetches.fetch, call)
    if found is None:
        return fetch(*args, **kwargs)
    network.close_if_asked()
    token = _current.set(found)
    try:
        return _run(fetch, found, _prefer_existing(arguments), not _is_within.get())
    finally:
        _current.reset(token)


def _lead_within(call, *args, **kwargs):
    token = _is_within.set(True)
    try:
        return call(*args, **kwargs)
    finally:
        _is_within.reset(token)


def _find_call(arguments: dict) -> _Call | None:
    """The call, if a model's repository is asked for."""
    repository = arguments.get("repo_id")
    if not isinstance(repository, str) or arguments.get("repo_type") not in (None, "model"):
        return None
    return _Call(repository, Mirror.of(repository, arguments.get("cache_dir")), arguments.get("local_dir"))


def _run(original: Callable, call: _Call, arguments: dict, is_outermost: bool):
    try:
        if call.is_led:
            result = _lead_to_mirror(original, call, arguments)
        else:
            result = _try_as_usual(original, call, arguments, is_outermost)
    except _Elsewhere:
        raise
    except Exception as error:
        reasons.explain_error(error, call.repository, arguments.get("filename"))
        raise
    _note(call, result)
    return result


def _try_as_usual(original: Callable, call: _Call, arguments: dict, is_outermost: bool):
    """Calls a function as the program does, and in the mirror after that if a weight file is missing."""
    try:
        return original(**arguments)
    except _Elsewhere:
        if not is_outermost:
            raise
    return _lead_to_mirror(original, call, arguments)


def _lead_to_mirror(original: Callable, call: _Call, arguments: dict):
    call.mirror.refresh()
    inner = _Call(call.repository, Mirror.of(call.repository, call.mirror.cache), call.local_dir)
    token = _current.set(inner)
    try:
        return original(**arguments | {"cache_dir": call.mirror.cache})
    finally:
        _current.reset(token)


def _prefer_existing(arguments: dict) -> dict:
    """Forces no second download of weights: a file of the user's is preferred to a header."""
    is_weight = formats.is_weight_file(str(arguments.get("filename", "")), None)
    return arguments | {"force_download": False} if is_weight and "force_download" in arguments else arguments


def _note(call: _Call, result: object) -> None:
    """Notes the hollow files of a result, a path, in the ledger."""
    if isinstance(result, str):
        for blob, file in call.mirror.list_hollow(result):
            if blob not in _noted:
                _noted.add(blob)
                _note_file(call, file)


def _note_file(call: _Call, file: HollowFile) -> None:
    ledger.note(ledger.WEIGHTS, call.repository, ledger.HEADERS, tensors=file.tensors, bytes=file.bytes, fetched_bytes=file.fetched_bytes)


def _download(call, *args, **kwargs) -> None:
    """`_download_to_tmp_and_move`, with a header in place of weights."""
    arguments = dict(zip(inspect.signature(innermost(call)).parameters, args, strict=False)) | kwargs
    current, name, size = _current.get(), arguments["filename"], arguments.get("expected_size")
    if current is None or not formats.is_weight_file(name, size):
        call(*args, **kwargs)
        if current is not None:
            reasons.check_text(current.repository, name, str(arguments["destination_path"]))
        return
    if current.local_dir is None and not current.mirror.is_itself:
        raise _Elsewhere
    _fetch_header(current, arguments)


@fetches.without
def _fetch_header(call: _Call, arguments: dict) -> None:
    """Puts a hollow file in the place of a weight file."""
    destination, name = str(arguments["destination_path"]), arguments["filename"]
    remote = Ranges(name, arguments["url_to_download"], dict(arguments["headers"] or {}), arguments.get("expected_size"))
    # A folder, for a file of the right name in messages.
    folder = f"{destination}.{uuid.uuid4().hex[:8]}.incomplete"
    os.makedirs(folder)
    try:
        path = os.path.join(folder, os.path.basename(name))
        tensors, size, _ = formats.find_writer(name)(path, remote.find_size(), remote.read)
        os.replace(path, destination)
    except BadAnswer as error:
        raise BadAnswer(f"`{call.repository}`: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    file = HollowFile(tensors, size, remote.fetched_bytes)
    if call.local_dir is None:
        call.mirror.note_hollow(destination, file)
    else:
        fetches.note_hollow(destination)
        _note_file(call, file)


LAYERS = {
    "huggingface_hub.file_download:hf_hub_download": _lead,
    "huggingface_hub.file_download:try_to_load_from_cache": _lead,
    "huggingface_hub.file_download:_download_to_tmp_and_move": _download,
    "huggingface_hub._snapshot_download:snapshot_download": _lead,
    "huggingface_hub._snapshot_download:hf_hub_download": _lead_within,
}
