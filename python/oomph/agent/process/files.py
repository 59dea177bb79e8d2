"""Notes the folders that the program lists: the phantom sees every opened file, but not the reason for a read of a folder.

See Note [Files looked at] in crates/phantom/src/files.rs. An import lists folders as well, but depends only on importable names.
"""

import ctypes
import os
import sys

from .. import wire

# Modules that list folders to find modules and installed packages.
_IMPORTERS = ("importlib", "importlib_metadata", "pkgutil", "pkg_resources")


_watching = False


def watch() -> None:
    """Notes listed folders, and folders that Python has searched already; does nothing unless `OOMPH_FILES` is set.

    A child of the fork server watches already.
    """
    global _watching
    library = ctypes.CDLL(None)
    if _watching or wire.FILES not in os.environ or not hasattr(library, "oomph_note_listing"):
        return
    _watching = True
    note = library.oomph_note_listing
    note.argtypes = [ctypes.c_char_p, ctypes.c_int]
    note.restype = None
    for folder in list(sys.path_importer_cache):
        note(os.fsencode(folder), 1)
    sys.addaudithook(_listener(note))


def go_on(path: str) -> None:
    """Sends further notes to `path`: a forked child starts a run of its own."""
    library = ctypes.CDLL(None)
    if hasattr(library, "oomph_note_files"):
        library.oomph_note_files.argtypes = [ctypes.c_char_p]
        library.oomph_note_files.restype = None
        library.oomph_note_files(os.fsencode(path))


def _listener(note):
    def listen(event: str, args: tuple) -> None:
        if event in ("os.listdir", "os.scandir"):
            folder = args[0]
            if isinstance(folder, int):
                folder = os.readlink(f"/proc/self/fd/{folder}")
            note(os.fsencode("." if folder is None else folder), int(_is_import(sys._getframe(1).f_code.co_filename)))

    return listen


def _is_import(file: str) -> bool:
    """True if a file belongs to Python's import system."""
    if file.startswith("<frozen importlib"):
        return True
    folder, name = os.path.split(file)
    return os.path.basename(folder) in _IMPORTERS or name == "pkgutil.py" or "/importlib/metadata/" in file
