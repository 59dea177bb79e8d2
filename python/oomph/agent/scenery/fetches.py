"""The files that functions of libraries download, noted for the launcher (Note [Downloads] in crates/drive/src/guard/downloads.rs).

While a function that downloads runs, its thread's written and renamed files are downloads. At the end of the function each file is noted with size and time;
a later change by the program shows as another size or time. Files unpacked from a noted archive, and noted files under a new name, are noted as
well. None of the functions saves values of the program.
"""

import contextvars
import functools
import ipaddress
import os
import sys
from collections.abc import Callable
from urllib.parse import urlsplit

from .. import wire
from ..hooks.replacing import Layer
from ..hooks.rows import libraries

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_SCHEMES = ("http", "https", "ftp")
# The paths of the running function, of this thread.
_running: contextvars.ContextVar[dict[str, None] | None] = contextvars.ContextVar("oomph_fetch", default=None)
# The noted files: size and time of change.
_noted: dict[str, tuple[int, int]] = {}


def without(function: Callable) -> Callable:
    """A function of ours within a download, whose files have no values."""

    @functools.wraps(function)
    def stand_in(*args, **kwargs):
        token = _running.set(None)
        try:
            return function(*args, **kwargs)
        finally:
            _running.reset(token)

    return stand_in


def fetch(call: Callable, *args, **kwargs):
    """The layer of a function that downloads: its files are noted."""
    if _running.get() is not None or not all(_is_remote(value) for value in (*args, *kwargs.values())):
        return call(*args, **kwargs)
    return _run(call, args, kwargs, _has_connected)


def note_hollow(path: str) -> None:
    """Notes a hollow file in a folder of the program (Note [Kept files] in crates/drive/src/guard/kept.rs)."""
    folder = os.environ.get(wire.RUN_DIR)
    if folder is not None and wire.GUARD in os.environ:
        with open(os.path.join(folder, wire.HOLLOW), "ab") as file:
            file.write(os.fsencode(_locate(path)) + b"\0")


def _unpack(archive: str) -> Layer:
    """The layer of a method that unpacks; `archive` is the attribute that names the archive, "" for the first argument."""

    def layer(call, unpacker, *args, **kwargs):
        path = getattr(unpacker, archive, None) if archive else next(iter((*args, *kwargs.values())), None)
        if _running.get() is not None or not _is_as_noted(path):
            return call(unpacker, *args, **kwargs)
        return _run(call, (unpacker, *args), kwargs, lambda: True)

    return layer


def _run(original: Callable, args: tuple, kwargs: dict, is_witnessed: Callable[[], bool]):
    paths: dict[str, None] = {}
    token = _running.set(paths)
    try:
        result = original(*args, **kwargs)
    finally:
        _running.reset(token)
    if paths and is_witnessed():
        _note({path: _state(path) for path in paths if os.path.isfile(path) and not os.path.islink(path)})
    return result


def _is_remote(value: object) -> bool:
    """False for an address on this machine: a file, or a server of the program."""
    value = getattr(value, "full_url", value)
    if not isinstance(value, str) or "://" not in value:
        return not (isinstance(value, str) and value.startswith("file:"))
    try:
        parts = urlsplit(value)
        port = parts.port or 80
    except ValueError:
        return False
    return parts.scheme in _SCHEMES and not (_is_own_address(parts.hostname or "") and port in _list_own_ports())


def _is_own_address(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read_connections() -> list[list[str]]:
    """The phantom's notes on connections (Note [Connections] in crates/phantom/src/files/network.rs)."""
    try:
        with open(os.path.join(os.environ.get(wire.RUN_DIR, ""), wire.HOSTS), encoding="utf-8", errors="replace") as file:
            return [note.split(" ") for note in file.read().split("\0")]
    except OSError:
        return []


def _list_own_ports() -> set[int]:
    """The ports on which a process of the run listens."""
    return {int(note[1]) for note in _read_connections() if note[0] == "b" and len(note) == 2 and note[1].isdigit()}


def _has_connected() -> bool:
    """True if the run has a connection to a program that is not its own."""
    own = {str(port) for port in _list_own_ports()}
    return any(note[0] == "c" and len(note) == 3 and not (_is_own_address(note[1]) and note[2] in own) for note in _read_connections())


def _listen(event: str, args: tuple) -> None:
    paths = _running.get()
    if event == "open":
        if paths is not None and isinstance(args[2], int) and args[2] & _WRITES and isinstance(args[0], (str, bytes, os.PathLike)):
            paths[_locate(args[0])] = None
    elif event == "os.rename" and (paths is not None or _noted):
        source, target = _locate(args[0]), _locate(args[1])
        if paths is not None:
            _move(paths, source, target)
        _move_notes(source, target)


def _move(paths: dict[str, None], source: str, target: str) -> None:
    """A file or a folder of a download is renamed."""
    for path in [path for path in paths if path == source or path.startswith(source + os.sep)]:
        del paths[path]
        paths[target + path[len(source) :]] = None
    # A native library may have written it.
    paths.setdefault(target)


def _move_notes(source: str, target: str) -> None:
    moved = [path for path in _noted if path == source or path.startswith(source + os.sep)]
    _note({target + path[len(source) :]: _noted[path] for path in moved if _is_as_noted(path)})


def _locate(path: object) -> str:
    """The path with the links of its folder resolved."""
    folder, name = os.path.split(os.path.abspath(os.fsdecode(path)))
    return os.path.join(os.path.realpath(folder), name)


def _is_as_noted(path: object) -> bool:
    """True for a noted file that was not changed."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    located = _locate(path)
    try:
        return _noted.get(located) == _state(located)
    except OSError:
        return False


def _state(path: str) -> tuple[int, int]:
    found = os.lstat(path)
    return found.st_size, found.st_mtime_ns


def _note(states: dict[str, tuple[int, int]]) -> None:
    """Notes files with their states."""
    folder = os.environ.get(wire.RUN_DIR)
    if not states or folder is None or wire.GUARD not in os.environ:
        return
    _noted.update(states)
    notes = [os.fsencode(f"{size} {modified} {path}\0") for path, (size, modified) in states.items()]
    with open(os.path.join(folder, wire.DOWNLOADS), "ab") as file:
        file.write(b"".join(notes))


LAYERS = {
    **dict.fromkeys(libraries.FETCHES, fetch),
    "zipfile:ZipFile.extract": _unpack("filename"),
    "zipfile:ZipFile.extractall": _unpack("filename"),
    "tarfile:TarFile.extract": _unpack("name"),
    "tarfile:TarFile.extractall": _unpack("name"),
    "datasets.utils.extract:ExtractManager.extract": _unpack(""),
}
sys.addaudithook(_listen)
