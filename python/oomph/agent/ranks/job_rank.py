"""The only running rank of a job with absent ranks: `oomph check --world-size N`."""

import os
from dataclasses import dataclass

from .. import wire

_REQUESTED = (wire.RANK, wire.WORLD_SIZE, wire.LOCAL_WORLD_SIZE)
# Loopback, like a launcher's own, and an address and port that no launcher chooses.
_ADDRESS = "127.0.0.71"
_PORT = "29571"


@dataclass(frozen=True)
class JobRank:
    """The only running rank: its number, and the sizes of its job."""

    rank: int
    world_size: int
    local_world_size: int

    @property
    def variables(self) -> dict[str, str]:
        """The variables that a launcher sets for this rank."""
        local_rank, node = self.rank % self.local_world_size, self.rank // self.local_world_size
        return {
            "RANK": str(self.rank),
            "LOCAL_RANK": str(local_rank),
            "WORLD_SIZE": str(self.world_size),
            "LOCAL_WORLD_SIZE": str(self.local_world_size),
            "GROUP_RANK": str(node),
            "GROUP_WORLD_SIZE": str(self.world_size // self.local_world_size),
            "ROLE_RANK": str(self.rank),
            "ROLE_WORLD_SIZE": str(self.world_size),
            "MASTER_ADDR": _ADDRESS,
            "MASTER_PORT": _PORT,
        }


def read_requested() -> JobRank | None:
    """Reads the rank that oomph requests; `None` if every rank is a process."""
    texts = [os.environ.get(name) for name in _REQUESTED]
    return None if None in texts else JobRank(*map(int, texts))
