"""The files that functions of libraries download, noted for the launcher (Note [Downloads] in crates/drive/src/guard/downloads.rs).

While a function below runs, its thread's written and renamed files are downloads. At the end of the function each file is noted with size and time;
a later change by the program shows as another size or time. Files unpacked from a noted archive, and noted files under a new name, are noted as
well. No function below saves values of the program.
"""

import contextvars
import functools
import ipaddress
import os
import sys
from collections.abc import Callable
from urllib.parse import urlsplit

from .. import phantom, wire
from ..failure import guarded
from ..hooks.importing import after_import

# The functions that download, by module; a class stands in front of a method. Those of the Hub are changed in `weights.hub`.
_FUNCTIONS = {
    "urllib.request": ("urlretrieve",),
    "torch.hub": ("download_url_to_file", "load_state_dict_from_url", "_get_cache_or_reload"),
    "nltk.downloader": ("Downloader.download",),
    "keras.src.utils.file_utils": ("get_file",),
    "keras.utils": ("get_file",),
    "tensorflow.python.keras.utils.data_utils": ("get_file",),
    "clip.clip": ("_download",),
    "whisper": ("_download",),
    "open_clip.pretrained": ("download_pretrained_from_url",),
    "datasets.utils.file_utils": ("get_from_cache",),
    "kagglehub": ("dataset_download", "model_download", "competition_download", "notebook_output_download"),
    "modelscope.hub.snapshot_download": ("snapshot_download", "dataset_snapshot_download"),
    "modelscope.hub.file_download": ("model_file_download", "dataset_file_download", "http_get_model_file"),
}
# The methods that unpack an archive: the class, the method, and the attribute that names the archive; "" for the first argument.
_UNPACKERS = {
    "zipfile": (("ZipFile", "extract", "filename"), ("ZipFile", "extractall", "filename")),
    "tarfile": (("TarFile", "extract", "name"), ("TarFile", "extractall", "name")),
    "datasets.utils.extract": (("ExtractManager", "extract", ""),),
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_SCHEMES = ("http", "https", "ftp")
# The paths of the running function, of this thread.
_running: contextvars.ContextVar[dict[str, None] | None] = contextvars.ContextVar("oomph_fetch", default=None)
# The noted files: size and time of change.
_noted: dict[str, tuple[int, int]] = {}
_is_listening = False


@guarded
def wait() -> None:
    """Changes each library when the program imports it, over a phantom GPU only."""
    global _is_listening
    if _is_listening or phantom.find() is None:
        return
    _is_listening = True
    sys.addaudithook(_listen)
    for module, names in _FUNCTIONS.items():
        after_import(module, functools.partial(_change, module, names))
    for module, methods in _UNPACKERS.items():
        after_import(module, functools.partial(_change_unpackers, module, methods))


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


def note_hollow(path: str) -> None:
    """Notes a hollow file in a folder of the program (Note [Kept files] in crates/drive/src/guard/kept.rs)."""
    folder = os.environ.get(wire.RUN_DIR)
    if folder is not None and wire.GUARD in os.environ:
        with open(os.path.join(folder, wire.HOLLOW), "ab") as file:
            file.write(os.fsencode(_locate(path)) + b"\0")


def _change(module: str, names: tuple[str, ...]) -> None:
    for name in names:
        holder, _, function = name.rpartition(".")
        place = getattr(sys.modules[module], holder, None) if holder else sys.modules[module]
        if callable(getattr(place, function, None)):
            setattr(place, function, fetching(getattr(place, function)))


def _change_unpackers(module: str, methods: tuple[tuple[str, str, str], ...]) -> None:
    for holder, name, archive in methods:
        place = getattr(sys.modules[module], holder)
        setattr(place, name, _unpacking(getattr(place, name), archive))


def fetching(original: Callable) -> Callable:
    """A function that downloads, with notes on its files."""

    @functools.wraps(original)
    def stand_in(*args, **kwargs):
        if _running.get() is not None or not all(_is_remote(value) for value in (*args, *kwargs.values())):
            return original(*args, **kwargs)
        return _run(original, args, kwargs, _has_connected)

    return stand_in


def _unpacking(original: Callable, archive: str) -> Callable:
    @functools.wraps(original)
    def stand_in(self, *args, **kwargs):
        path = getattr(self, archive, None) if archive else next(iter((*args, *kwargs.values())), None)
        if _running.get() is not None or not _is_as_noted(path):
            return original(self, *args, **kwargs)
        return _run(original, (self, *args), kwargs, lambda: True)

    return stand_in


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
