"""diffusers before 0.33: the shards of a checkpoint are in a folder. See Note [Missing weights].

`_get_checkpoint_shard_files` returns the folder, and `accelerate.load_checkpoint_and_dispatch` then loads the shards beside the index
(`diffusers/models/modeling_utils.py`, 0.31): with hollow shards, the index is that of their folder.
"""

import contextlib
import functools
import inspect
import os
import shutil
import sys
from collections.abc import Callable

from . import state_files

# By index: the folder of its shards.
_folders: dict[str, str] = {}


def lay_out(index: str, paths: list[str]) -> str:
    """A folder with an index and its shards."""
    folder = state_files.make_folder()
    shutil.copy(index, folder)
    for path in paths:
        os.symlink(os.path.realpath(path), os.path.join(folder, os.path.basename(path)))
    _folders[index] = folder
    return folder


def remember(original: Callable) -> Callable:
    """Remembers where the shards of an index are."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def find_shards(*args, **kwargs):
        index = os.fspath(signature.bind(*args, **kwargs).arguments["index_filename"])
        folder, metadata = original(*args, **kwargs)
        if os.path.realpath(folder) != os.path.realpath(os.path.dirname(index)):
            _folders[index] = folder
            with contextlib.suppress(FileExistsError):
                os.symlink(os.path.realpath(index), os.path.join(folder, os.path.basename(index)))
        return folder, metadata

    return find_shards


def change_loading() -> None:
    """Leads the load of an index to the folder of its shards. diffusers does without accelerate, which then loads nothing."""
    accelerate = sys.modules.get("accelerate")
    if accelerate is not None:
        accelerate.load_checkpoint_and_dispatch = _loading(accelerate.load_checkpoint_and_dispatch)


def _loading(original: Callable) -> Callable:
    @functools.wraps(original)
    def load_checkpoint_and_dispatch(model, checkpoint, *args, **kwargs):
        folder = _folders.get(checkpoint) if isinstance(checkpoint, str) else None
        return original(model, checkpoint if folder is None else os.path.join(folder, os.path.basename(checkpoint)), *args, **kwargs)

    return load_checkpoint_and_dispatch
