"""Which checkpoints were there before the dry run, which the program made, and which are gone for it though they are there.

What is on a phantom GPU has no values, so a checkpoint of it holds zeros, and a loss that reads as zero is the best so far: a
dry run has nothing to put in the place of what was trained. So what was there stays, and the program is told that all went well
(`saves`, `removals`). Checkpoints that were not there are written as always, since the program may load them again; they are told
of at the end.

What the program made is known by path and inode: a path alone may be another file by now, and an inode is soon another's.
"""

import os
import pathlib
import pickle
import time
from collections import Counter
from collections.abc import Iterator

# Files of these names are taken for checkpoints. Among them are those of torch.distributed.checkpoint (`.distcp`, `.metadata`),
# torch.export (`.pt2`), NeMo and Stable-Baselines3 (`.zip`).
_NAMED = (".pt", ".pth", ".ckpt", ".safetensors", ".distcp", ".pt2", ".nemo")
_ALSO_NAMED = (".bin", ".tar", ".zip", ".metadata")
# So are those that say which checkpoint to go on with: DeepSpeed's, detectron2's and MMEngine's, Megatron's.
_POINTERS = ("latest", "last_checkpoint", "latest_checkpointed_iteration.txt")
# A zip file's first bytes, and the name of what torch.save puts first into one; before 1.6 it began with a number, pickled
# (`MAGIC_NUMBER` in torch/serialization.py).
_ZIP, _FIRST_ENTRY, _HEAD_BYTES = b"PK\x03\x04", b"/data.pkl", 256
_LEGACY = pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2)


def is_path(value: object) -> bool:
    """Whether a value names a file, as opposed to being one."""
    return isinstance(value, (str, bytes, os.PathLike))


def place_of(path: object) -> str:
    """Where a file stands, itself and not what it links to."""
    folder, name = os.path.split(os.fsdecode(path).rstrip(os.sep) or os.sep)
    return os.path.join(os.path.realpath(folder), name)


class Kept:
    """What is known of the files of one run. All paths are absolute."""

    def __init__(self) -> None:
        # What would have been written over, renamed or removed, in that order.
        self.spared: dict[str, None] = {}
        # Where the program believes that nothing is, and how often it saw to that.
        self.left: Counter[str] = Counter()
        # When the program began, in seconds since the epoch.
        self._began = time.time()
        # By path, which file stood there when the program had made it.
        self._made: dict[str, tuple[int, int]] = {}
        # Those of them that are checkpoints, in the order in which they were written.
        self._saved: dict[str, None] = {}
        # Further names that the program gave to what it did not make.
        self._links: dict[str, tuple[int, int]] = {}

    def is_made(self, path: str) -> bool:
        """Whether the program made what stands at a path itself, be it a link, or a folder that holds it."""
        while path not in self._made or self._made[path] != _identity(path):
            path, child = os.path.dirname(path), path
            if path == child:
                return False
        return True

    def is_saved(self, path: str) -> bool:
        """Whether what stands at a path is a checkpoint that the program made."""
        return path in self._saved and os.path.lexists(path) and self.is_made(path)

    def is_gone(self, path: str) -> bool:
        """Whether what stands at a path is gone for the program, itself or with a folder that it is in."""
        if not os.path.lexists(path) or self.is_made(path):
            return False
        return path in self.left or any(os.fspath(folder) in self.left for folder in pathlib.PurePath(path).parents)

    def is_there(self, path: str) -> bool:
        """Whether a file stands at a path that the program did not make, and is not empty. What another process made meanwhile
        counts: rather one checkpoint of zeros too few than one of a training that goes on beside the dry run."""
        return os.path.isfile(path) and os.path.getsize(path) > 0 and not self.is_made(path)

    def is_old(self, path: str) -> bool:
        """Whether it was last written before the program began: what is younger is rather that of a process which it started."""
        return os.lstat(path).st_mtime < self._began

    def is_further_link(self, path: str) -> bool:
        """Whether it is a name that the program gave to a file which has others."""
        return self._links.get(path) == _identity(path) and os.lstat(path).st_nlink > 1

    def is_checkpoint(self, path: str) -> bool:
        """Whether a file is called like one, or torch.save wrote it before the program began, under any name."""
        return path.endswith(_NAMED + _ALSO_NAMED) or self.is_pointer(path) or (self.is_old(path) and _is_from_torch(path))

    def is_pointer(self, path: str) -> bool:
        """Whether a file is called like one that names a checkpoint."""
        return os.path.basename(path) in _POINTERS

    def spare(self, path: str) -> None:
        """It stays as it is, and the program believes that it is new."""
        self.spared[path] = None
        self.left.pop(path, None)

    def spare_gone(self, path: str) -> None:
        """It stays as it is, and the program believes that it is gone."""
        self.spared[path] = None
        self.left[path] += 1

    def note_made(self, path: str) -> None:
        """The program has just made what stands at a path."""
        if os.path.lexists(path):
            self._made[path] = _identity(path)
            if path.endswith(_NAMED):
                self._saved[path] = None

    def note_saved(self, path: str) -> None:
        """The program has just written a checkpoint."""
        self.note_made(path)
        self._saved[path] = None

    def note_link(self, path: str) -> None:
        """The program has just given a further name to a file that it did not make."""
        self._links[path] = _identity(path)

    def note_moved(self, source: str, target: str) -> None:
        """What the program made at a path, or below it, has another one now."""
        for places in (self._made, self._saved, self._links):
            for path in [path for path in places if path == source or path.startswith(source + os.sep)]:
                places[target + path[len(source) :]] = places.pop(path)
        if target.endswith(_NAMED) and self.is_made(target):
            self._saved[target] = None

    def written(self) -> Iterator[str]:
        """The checkpoints that the program wrote and left behind."""
        return (path for path in self._saved if os.path.isfile(path) and self.is_saved(path))


def _is_from_torch(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            head = opened.read(_HEAD_BYTES)
    except OSError:
        return False
    return head.startswith(_LEGACY) or (head.startswith(_ZIP) and _FIRST_ENTRY in head)


def _identity(path: str) -> tuple[int, int]:
    status = os.lstat(path)
    return status.st_dev, status.st_ino
