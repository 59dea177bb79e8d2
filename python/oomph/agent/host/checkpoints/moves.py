"""Renames of folders in a world of its own (Note [World] in crates/world/src/lib.rs).

The overlay of a user namespace refuses to rename a folder that was there before (`EXDEV`, Documentation/filesystems/overlayfs.rst, 6.18); the
folder is copied and removed then, as `mv` does.
"""

import errno
import os
import shutil
from collections.abc import Callable

from ... import hooks


def install() -> None:
    """Stands around `os.rename` and `os.replace`."""
    for name in ("rename", "replace"):
        hooks.around(f"os:{name}", _rename)


def _rename(rename: Callable, src, dst, **kwargs) -> None:
    try:
        return rename(src, dst, **kwargs)
    except OSError as error:
        if error.errno != errno.EXDEV or kwargs or not _can_copy(src, dst):
            raise
    shutil.copytree(src, dst, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(src)
    return None


def _can_copy(source: object, target: object) -> bool:
    """True for a folder that a rename would move: to a free path, or over an empty folder of the same disk."""
    if not os.path.isdir(source) or os.path.islink(source):
        return False
    parent = os.path.dirname(os.path.abspath(os.fsdecode(target)))
    is_free = not os.path.lexists(target) or (os.path.isdir(target) and not os.listdir(target))
    return is_free and os.path.isdir(parent) and os.stat(parent).st_dev == os.stat(source).st_dev
