"""Checkpoints of an address, with the functions of `torch.hub`: only the header is fetched. See Note [Missing weights]."""

import functools
import hashlib
import inspect
import os
from urllib.parse import urlsplit

import torch

from ... import wire
from ...hooks import innermost
from ...host import hollow
from .. import fetches
from . import archives, ledger, model_states, remote_file
from .remote_file import AnswerError, NoNetworkError

# The hollow files by the path at which the program wants them, where that path is in a cache.
_elsewhere: dict[str, str] = {}


@functools.cache
def fetch(url: str, name: str | None = None) -> str:
    """The hollow file of an address, in the run's folder; `AnswerError` if the remote file is no checkpoint."""
    folder = os.path.join(hollow.make_folder(os.getpid()), hashlib.sha256(url.encode()).hexdigest()[:16])
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name or name_of(url))
    _write(remote_file.open_remote(url), path)
    return path


def name_of(url: str) -> str:
    """The name of a remote file."""
    return os.path.basename(urlsplit(url).path) or "weights"


def is_remote(url: object) -> bool:
    """True for an address of HTTP."""
    return isinstance(url, str) and urlsplit(url).scheme in ("http", "https")


@fetches.without
def _write(remote: remote_file.RemoteFile, path: str) -> None:
    """Writes the hollow file, all or nothing, and notes it."""
    part = f"{path}.part"
    try:
        contents = archives.write_hollow_archive(part, remote.size, remote.read)
        os.replace(part, path)
    except archives.ArchiveError as error:
        raise AnswerError(f"{remote.url} {error}") from error
    finally:
        if os.path.exists(part):
            os.remove(part)
    remote_file.keep(remote)
    ledger.note(
        ledger.WEIGHTS, remote.url, ledger.HEADERS, tensors=contents.tensors, bytes=contents.bytes, fetched_bytes=remote.fetched_bytes
    )


def _load_address(call, *args, **kwargs):
    given = inspect.signature(innermost(call)).bind(*args, **kwargs).arguments
    url = given["url"]
    name = given.get("file_name") or name_of(url)
    folder = given.get("model_dir") or os.path.join(torch.hub.get_dir(), "checkpoints")
    if not is_remote(url) or os.path.exists(os.path.join(folder, name)):
        return call(*args, **kwargs)
    try:
        path = fetch(url, name)
    except NoNetworkError as error:
        return model_states.ModelState(url, str(error), given.get("map_location"))
    # The hash in the name is that of the values.
    return call(**{**given, "model_dir": os.path.dirname(path), "file_name": name, "check_hash": False})


def _download(call, *args, **kwargs) -> None:
    given = inspect.signature(innermost(call)).bind(*args, **kwargs).arguments
    if not is_remote(given["url"]) or not _place(given["url"], os.path.expanduser(given["dst"])):
        call(*args, **kwargs)


def _place(url: str, path: str) -> bool:
    """Makes the hollow file for a path of the program; False if the remote file is no checkpoint."""
    remote = remote_file.open_remote(url)
    if archives.format_of(remote.read(0, min(remote.size, 1 << 12))) in (None, archives.TAR):
        return False
    if wire.GUARD in os.environ and not _is_in_cache(path):
        _write(remote, path)
        fetches.note_hollow(path)
    else:
        _elsewhere[os.path.realpath(path)] = fetch(url, os.path.basename(path))
    return True


def _is_in_cache(path: str) -> bool:
    """True if a file there would outlive the run."""
    home = os.path.expanduser("~")
    caches = [os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), torch.hub.get_dir()]
    caches += [os.environ[name] for name in ("TORCH_HOME", "HF_HOME", "HF_HUB_CACHE") if os.environ.get(name)]
    return any(os.path.realpath(path).startswith(os.path.realpath(cache) + os.sep) for cache in caches)


def _redirect(call, f, *args, **kwargs):
    if _elsewhere and isinstance(f, (str, os.PathLike)) and not os.path.exists(f):
        f = _elsewhere.get(os.path.realpath(f), f)
    return call(f, *args, **kwargs)


LAYERS = {
    "torch.hub:download_url_to_file": _download,
    "torch.hub:load_state_dict_from_url": _load_address,
    "torch.serialization:load": _redirect,
}
