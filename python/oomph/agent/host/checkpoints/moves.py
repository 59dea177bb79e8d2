"""Renames of folders in a world of its own (Note [World] in crates/world/src/lib.rs).

The overlay of a user namespace refuses to rename a folder that was there before (`EXDEV`, Documentation/filesystems/overlayfs.rst, 6.18); the
folder is copied and removed then, as `mv` does.
"""

import errno
import functools
import os
import pathlib
import shutil
from collections.abc import Callable


def install() -> None:
    """Replaces `os.rename` and `os.replace`."""
    # In Python 3.10 pathlib keeps its own references to these functions.
    accessor = getattr(pathlib, "_NormalAccessor", None)
    for name in ("rename", "replace"):
        function = _renaming(getattr(os, name))
        setattr(os, name, function)
        if hasattr(accessor, name):
            setattr(accessor, name, staticmethod(function))


def _renaming(rename: Callable) -> Callable:
    @functools.wraps(rename)
    def wrapper(src, dst, **kwargs):
        try:
            return rename(src, dst, **kwargs)
        except OSError as error:
            if error.errno != errno.EXDEV or kwargs or not _can_copy(src, dst):
                raise
        shutil.copytree(src, dst, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(src)
        return None

    wrapper.__module__ = "os"
    return wrapper


def _can_copy(source: object, target: object) -> bool:
    """True for a folder that a rename would move: to a free path, or over an empty folder of the same disk."""
    if not os.path.isdir(source) or os.path.islink(source):
        return False
    parent = os.path.dirname(os.path.abspath(os.fsdecode(target)))
    is_free = not os.path.lexists(target) or (os.path.isdir(target) and not os.listdir(target))
    return is_free and os.path.isdir(parent) and os.stat(parent).st_dev == os.stat(source).st_dev
