"""The places of a way: a folder with its files, a hub, and the caches of its user."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hub_served

HERE = Path(__file__).resolve().parent
PATIENCE = 600


class World:
    """A temporary folder that stands for a user's machine, and the real files of a way."""

    def __init__(self, folder: Path, program: Path, weights: tuple[str, ...], repository: str) -> None:
        self.folder, self.program, self.weights, self.repository = folder, program, weights, repository
        # Where the program finds a folder, and where the hub has all files.
        self.source, self.served = folder / "source", folder / "hub" / repository
        self.home = folder / "home"

    def make(self) -> None:
        """Writes the real files by a plain process, and the hub's copy of them."""
        self.source.mkdir()
        command = [sys.executable, str(self.program), "--make", str(self.source)]
        done = subprocess.run(command, env=self._environment(), cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"{command}: {done.returncode}: {done.stderr[-4000:]}"
        assert self.weight_paths(self.source), f"{self.program.name} writes no {self.weights}: {sorted(self.source.rglob('*'))}"
        shutil.copytree(self.source, self.served)
        shutil.copytree(self.source, self.folder / "hub" / "files")

    def weight_paths(self, folder: Path) -> list[Path]:
        """The files of weights in a folder."""
        return sorted({path for pattern in self.weights for path in folder.rglob(pattern) if path.is_file()})

    def weight_bytes(self) -> int:
        """Size of the weights on the hub."""
        return sum(path.stat().st_size for path in self.weight_paths(self.served))

    def remove_weights(self) -> None:
        """Leaves the configuration in `source`."""
        for path in self.weight_paths(self.source):
            path.unlink()

    def empty_home(self) -> None:
        """Removes all caches."""
        shutil.rmtree(self.home, ignore_errors=True)

    def fill_hub_cache(self, with_weights: bool) -> None:
        """Makes the cache that `huggingface_hub` would have after a download."""
        repository = self.home / "hf" / "hub" / f"models--{self.repository.replace('/', '--')}"
        snapshot = repository / "snapshots" / hub_served.COMMIT
        left = [] if with_weights else self.weight_paths(self.served)
        for path in self.served.rglob("*"):
            if path.is_file() and path not in left:
                _add_to_cache(repository, path, snapshot / path.relative_to(self.served))
        (repository / "refs").mkdir(parents=True)
        (repository / "refs" / "main").write_text(hub_served.COMMIT)

    def fill_torch_cache(self) -> None:
        """Makes the cache of `load_state_dict_from_url` with all weights."""
        folder = self.home / "torch" / "hub" / "checkpoints"
        folder.mkdir(parents=True)
        for path in self.weight_paths(self.served):
            shutil.copy(path, folder)

    def cached_weights(self) -> list[Path]:
        """Files with the names or sizes of weights in the caches of other programs."""
        sizes = {path.stat().st_size for path in self.weight_paths(self.served) if path.suffix != ".json"}
        found = []
        for cache in (self.home / "hf", self.home / "torch"):
            named = set(self.weight_paths(cache))
            # `.no_exist` has an empty file for each name that the hub does not have, and an index is text of the hub's.
            files = (path for path in cache.rglob("*") if path.is_file() and path.suffix != ".json" and ".no_exist" not in path.parts)
            found += [path for path in files if path in named or path.stat().st_size in sizes]
        return sorted(found)

    def check(self, oomph: Path, options: tuple[str, ...], source: str, endpoint: str = "", **variables: str) -> subprocess.CompletedProcess:
        """Runs `oomph check` on the program."""
        command = [str(oomph), "check", "--json", "-v", "--gpu", "rtx-4090", "--python", sys.executable, *options, str(self.program), source]
        environment = self._environment() | ({"HF_ENDPOINT": endpoint} if endpoint else {}) | variables
        return subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)

    def _environment(self) -> dict[str, str]:
        outer = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "TORCH_", "TRANSFORMERS_"))}
        homes = {"HOME": self.home, "XDG_CACHE_HOME": self.home / "cache", "HF_HOME": self.home / "hf", "TORCH_HOME": self.home / "torch"}
        self.home.mkdir(exist_ok=True)
        # Threads that load tensors would move the peak by some KiB from run to run (`core_model_loading.py`, transformers 5.17).
        shared = {"PYTHONPATH": str(HERE / "parts"), "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_DEACTIVATE_ASYNC_LOAD": "1"}
        return outer | {key: str(value) for key, value in homes.items()} | shared


def _add_to_cache(repository: Path, path: Path, link: Path) -> None:
    blob = repository / "blobs" / hub_served.etag_of(path)
    blob.parent.mkdir(parents=True, exist_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    if not blob.exists():
        shutil.copy(path, blob)
    link.symlink_to(os.path.relpath(blob, link.parent))


@contextmanager
def enter(program: Path, weights: tuple[str, ...], repository: str) -> Iterator[World]:
    """A world with the real files of a program."""
    with tempfile.TemporaryDirectory(prefix="oomph-weights-", ignore_cleanup_errors=True) as folder:
        world = World(Path(folder), program, weights, repository)
        world.make()
        yield world
