"""Files without a descriptor in between: Note [No descriptor] in crates/recorder/src/append.rs."""

import ctypes
import errno
import os
import posix
from functools import cache

# Beside the unpacked agent; a checkout of the source has none.
_LIBRARY = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "lib", "liboomph_recorder.so")
_APPENDING = posix.O_WRONLY | posix.O_APPEND | posix.O_CLOEXEC
_NEW = _APPENDING | posix.O_CREAT | posix.O_EXCL
_SAME = _APPENDING | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_NOCTTY


class _Identity(ctypes.Structure):
    """As `FileIdentity` in crates/recorder/src/append.rs."""

    _fields_ = [("device", ctypes.c_uint64), ("inode", ctypes.c_uint64)]


class LibraryFile:
    """A file that the recorder's library writes: a call keeps the interpreter's lock, so no thread closes or opens a file meanwhile."""

    def __init__(self, library: ctypes.PyDLL, path: str) -> None:
        self._library = library
        self._path = os.fsencode(path)
        self._identity = _Identity()

    def create(self, line: bytes) -> int:
        """Creates the file with a first line; returns 0 or the system's error."""
        return self._library.oomph_recorder_create(self._path, ctypes.byref(self._identity), line, len(line))

    def append(self, line: bytes) -> int:
        """Appends a line; returns 0 or the system's error."""
        return self._library.oomph_recorder_append(self._path, ctypes.byref(self._identity), line, len(line))


class PlainFile:
    """The same without the library."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def create(self, line: bytes) -> int:
        """As `LibraryFile.create`."""
        return self._write(_NEW, line)

    def append(self, line: bytes) -> int:
        """As `LibraryFile.append`."""
        return self._write(_SAME, line)

    def _write(self, flags: int, line: bytes) -> int:
        try:
            file = posix.open(self._path, flags, 0o644)
            try:
                found = posix.fstat(file)
                if self._identity not in (None, (found.st_dev, found.st_ino)):
                    return errno.ESTALE
                self._identity = (found.st_dev, found.st_ino)
                self._append(file, line, found.st_size)
            finally:
                posix.close(file)
        except OSError as error:
            return error.errno or errno.EIO
        return 0

    def _append(self, file: int, line: bytes, before: int) -> None:
        """Appends the whole line or nothing: lines behind a cut one could not be read."""
        try:
            while line:
                line = line[posix.write(file, line) :]
        except OSError:
            posix.ftruncate(file, before)
            raise


@cache
def load_library(path: str = _LIBRARY) -> ctypes.PyDLL:
    """The recorder's library. Its functions keep the interpreter's lock."""
    library = ctypes.PyDLL(path)
    text, bytes_, size, pointer = ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
    library.oomph_recorder_create.argtypes = [text, pointer, bytes_, size]
    library.oomph_recorder_append.argtypes = [text, pointer, bytes_, size]
    library.oomph_recorder_reserve.argtypes = [bytes_, size, ctypes.c_int]
    library.oomph_recorder_save.argtypes = [text, bytes_, size]
    library.oomph_recorder_start.argtypes = [text, ctypes.c_uint64, pointer]
    library.oomph_recorder_count.restype = ctypes.c_uint64
    library.oomph_recorder_step.argtypes = [ctypes.c_uint32]
    library.oomph_recorder_probe.argtypes = [pointer, pointer, size]
    library.oomph_recorder_probe.restype = size
    return library


def make_file(path: str) -> LibraryFile | PlainFile:
    """The file of this path, which `create` makes."""
    try:
        return LibraryFile(load_library(), path)
    except OSError:
        return PlainFile(path)
