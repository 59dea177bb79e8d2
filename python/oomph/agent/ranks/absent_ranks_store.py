"""The rendezvous of a lone rank: a store in this process. See Note [Absent ranks] in `absent_ranks`."""

import importlib
import re
from urllib.parse import parse_qs, urlparse

from torch.distributed import Store

from .job_rank import JobRank

# `ncclUniqueId` of nccl.h. The phantom accepts any value.
_NCCL_ID = bytes(128)
# The keys under which ProcessGroupNCCL shares an identifier: a count, two ranks, or one root of several.
_NCCL_KEY = re.compile(r"(UniqueNCCLID:)?\d+([:_]\d+)*")


class AbsentRank(RuntimeError):
    """Raised when the program waits for a message of an absent rank."""


class LoneStore(Store):
    """A store with a single writer."""

    def __init__(self, world_size: int) -> None:
        super().__init__()
        self._world_size = world_size
        self._values: dict[str, bytes] = {}
        self._counters: set[str] = set()

    def set(self, key, value):
        """Keeps a value."""
        self._values[key] = value.encode() if isinstance(value, str) else bytes(value)

    def get(self, key):
        """Returns the stored value, or the identifier that another rank would have made for NCCL."""
        if key not in self._values and _NCCL_KEY.fullmatch(key.rpartition("/")[2]):
            return _NCCL_ID
        self._require(key)
        return self._values[key]

    def add(self, key, amount):
        """Counts as if every rank had added the same amount, so that waiting for all ranks ends at once."""
        self._counters.add(key)
        total = int(self._values.get(key, b"0")) + amount * self._world_size
        self._values[key] = str(total).encode()
        return total

    def compare_set(self, key, expected, desired):
        """Sets where nothing, or `expected`, was set."""
        held = self._values.get(key)
        if held is None or held == _bytes(expected):
            self._values[key] = _bytes(desired)
        return self._values[key]

    def append(self, key, value):
        """Adds to the end of a value."""
        self._values[key] = self._values.get(key, b"") + _bytes(value)

    def check(self, keys):
        """True if all keys are set."""
        return all(key in self._values for key in keys)

    def wait(self, keys, timeout=None):
        """The last rank to arrive sets the keys that follow on a counter."""
        for key in keys:
            if not any(key.startswith(counter) for counter in self._counters):
                self._require(key)

    def delete_key(self, key):
        """Forgets a value."""
        return self._values.pop(key, None) is not None

    def num_keys(self):
        """The number of stored keys."""
        return len(self._values)

    def multi_get(self, keys):
        """Several at once."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys, values):
        """Several at once."""
        for key, value in zip(keys, values):
            self.set(key, value)

    def has_extended_api(self):
        """`append`, `multi_get` and `multi_set`."""
        return True

    def clone(self):
        """Returns this store: split-off groups meet where their parent does."""
        return self

    def set_timeout(self, timeout):
        """Nothing ever waits."""

    def _require(self, key: str) -> None:
        if key not in self._values:
            raise AbsentRank(
                f"the program waits for {key!r}, which another rank would set; with --world-size only one rank runs. "
                "Check it with all its processes: oomph check --gpus N -- torchrun --nproc-per-node N ..."
            )


def _bytes(value) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def install(rank: JobRank) -> None:
    """Makes every rendezvous return this store; a program that states its own rank and size keeps both."""
    store = LoneStore(rank.world_size)

    def meet(url: str, timeout=None, **_options):
        stated = parse_qs(urlparse(url).query)
        number = int(stated.get("rank", [rank.rank])[0])
        size = int(stated.get("world_size", [rank.world_size])[0])
        yield store, number, size
        raise RuntimeError("Unable to perform rerendezvous")

    # By its full name: the package has a function of the same.
    handlers = importlib.import_module("torch.distributed.rendezvous")._rendezvous_handlers
    for scheme in ("env", "tcp", "file"):
        handlers[scheme] = meet
