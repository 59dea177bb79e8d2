"""A cache of oomph's own for repositories of the Hugging Face Hub whose weights are not on this machine.

Note [Mirror]
~~~~~~~~~~~~~
Hollow files must not lie in the user's cache of the Hub, where a real training reads. A repository with hollow files has a *mirror*: a folder
in oomph's cache with the layout of the Hub's cache (`refs`, `snapshots`, `blobs`). The mirror has copies of the small files and links to the
large files of the user's folder, and hollow files for the rest; a file of the user's replaces a hollow file. Functions of `huggingface_hub`
get the mirror as `cache_dir`, so that etags, revisions and errors stay those of the library. The mirror is kept between runs
(Note [Downloads] in `crates/drive/src/guard/downloads.rs`): later runs have no network.

A folder for each `cache_dir` of the user; a hollow file of the blob ETAG has a record, `hollow/ETAG`.
"""

import contextlib
import functools
import hashlib
import json
import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass

# A smaller file is copied, and stays when the user's folder goes.
_MOST_COPIED_BYTES = 32 << 20
_HOLLOW = "hollow"
_UNFINISHED = (".incomplete", ".lock")


@dataclass(frozen=True)
class HollowFile:
    """The record of a hollow file."""

    tensors: int
    bytes: int
    fetched_bytes: int


@functools.cache
def find_root() -> str:
    """The folder of all mirrors, the download cache `oomph/hub` of Note [Downloads]."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(caches, "oomph", "hub")


@dataclass(frozen=True)
class Mirror:
    """A repository in a cache of the user, and its place in oomph's cache."""

    users_folder: str
    # The `cache_dir` of the mirror, and the folder of the repository there.
    cache: str
    folder: str

    @classmethod
    def of(cls, repository: str, cache_dir: str | os.PathLike | None) -> "Mirror":
        """The mirror of a model's repository; that of a path in a mirror is the same."""
        cache = os.path.realpath(os.path.expanduser(cache_dir or sys.modules["huggingface_hub.constants"].HF_HUB_CACHE))
        name = sys.modules["huggingface_hub.file_download"].repo_folder_name(repo_id=repository, repo_type="model")
        root = os.path.realpath(find_root())
        own = cache if os.path.dirname(cache) == root else os.path.join(root, hashlib.sha256(cache.encode()).hexdigest()[:8])
        return cls(os.path.join(cache, name), own, os.path.join(own, name))

    @property
    def is_itself(self) -> bool:
        """True if the program's `cache_dir` is that of the mirror."""
        return self.users_folder == self.folder

    def exists(self) -> bool:
        """True if a run has made the mirror."""
        return os.path.isdir(self.folder)

    def refresh(self) -> None:
        """Makes the mirror, and brings in the files of the user's folder."""
        os.makedirs(os.path.join(self.folder, _HOLLOW), exist_ok=True)
        for path in () if self.is_itself else _list_files(self.users_folder):
            self._bring(path, os.path.join(self.folder, os.path.relpath(path, self.users_folder)))

    def _bring(self, path: str, own: str) -> None:
        """Brings in a file of the user's, if the mirror has no such file or only a hollow file."""
        record = os.path.join(self.folder, _HOLLOW, os.path.basename(own))
        is_reference = f"{os.sep}refs{os.sep}" in path and os.path.exists(own) and os.path.getmtime(path) > os.path.getmtime(own)
        if os.path.exists(own) and not os.path.exists(record) and not is_reference:
            return
        with _replacing(own) as made:
            if os.path.islink(path) and not os.path.isabs(os.readlink(path)) and _is_within(path, self.users_folder):
                os.symlink(os.readlink(path), made)
            elif os.path.getsize(path) <= _MOST_COPIED_BYTES:
                shutil.copy2(path, made)
            else:
                os.symlink(os.path.realpath(path), made)
        if os.path.exists(record):
            os.unlink(record)

    def note_hollow(self, blob: str, file: HollowFile) -> None:
        """Writes the record of a hollow file."""
        with _replacing(os.path.join(self.folder, _HOLLOW, os.path.basename(blob))) as made, open(made, "w") as record:
            json.dump(asdict(file), record)

    def list_hollow(self, path: str) -> Iterator[tuple[str, HollowFile]]:
        """The hollow files behind a file or a folder of a snapshot, by blob."""
        for file in _list_files(path) if os.path.isdir(path) else (path,):
            blob = os.path.realpath(file)
            with contextlib.suppress(OSError, ValueError, TypeError), open(os.path.join(self.folder, _HOLLOW, os.path.basename(blob))) as record:
                yield blob, HollowFile(**json.load(record))


def _list_files(folder: str) -> Iterator[str]:
    """The finished files below a folder; a link that leads nowhere is none."""
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            if not name.endswith(_UNFINISHED) and os.path.isfile(path):
                yield path


def _is_within(path: str, folder: str) -> bool:
    """True for a link to a file below a folder."""
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[str]:
    """A path to make a file at, which then takes the place of `path`."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    made = f"{path}.{uuid.uuid4().hex[:8]}.incomplete"
    try:
        yield made
        os.replace(made, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made)
