"""A job of many ranks of which only this one runs: `oomph check --world-size N`.

Note [Absent ranks]
~~~~~~~~~~~~~~~~~~~
The program gets the environment of one rank, as a launcher would give it (`take_place`), and PyTorch's real
`ProcessGroupNCCL` over the phantom's NCCL: what a collective does to memory (streams, works that keep tensors, coalescing)
is real. What needs the other ranks is answered in their place, once torch is there (`install`):

==================  ====================================================================================
the rendezvous      a store in this process (`world_store`)
CPU groups (gloo)   torch's fake group, with results as if every rank had sent what this one did (`world_cpu`)
Python objects      the same (`objects`)
device tensors      the same, where they are small; else nothing is known of them (Note [One rank for all] in
                    crates/phantom/src/api/nccl/collectives.rs)
==================  ====================================================================================

Note [Workers of a launcher]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A launcher (torchrun, accelerate) starts workers with places of its own. Its worker of local rank 0 runs on in the place
that was asked for; the others end at once, with success. Whether a place was given by a launcher is seen from the
variables: they differ from the ones that this module set, whose address no launcher chooses. A helper that a rank
starts inherits them unchanged.
"""

import os
from dataclasses import dataclass

from . import wire

_ASKED = (wire.RANK, wire.WORLD_SIZE, wire.LOCAL_WORLD_SIZE)
# Loopback, like a launcher's own, and none that one would choose.
_ADDRESS = "127.0.0.71"
_PORT = "29571"


@dataclass(frozen=True)
class Place:
    """The one rank that runs."""

    rank: int
    world_size: int
    local_world_size: int

    @property
    def variables(self) -> dict[str, str]:
        """What a launcher would say to this rank."""
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


def asked() -> Place | None:
    """The place that oomph was asked for; `None` where every rank is a process."""
    texts = [os.environ.get(name) for name in _ASKED]
    return None if None in texts else Place(*map(int, texts))


def take_place() -> None:
    """Puts this process in its place, before it reads the environment; a launcher's further workers end here."""
    place = asked()
    if place is None or _holds(place.variables):
        return
    if _is_workers() and os.environ["LOCAL_RANK"] != "0":
        os._exit(0)
    os.environ.update(place.variables)
    # Its threads would ask the store, which is Python's, while the interpreter ends.
    os.environ["TORCH_NCCL_ENABLE_MONITORING"] = "0"
    os.environ["TORCH_NCCL_DUMP_ON_TIMEOUT"] = "0"
    # Compares what the ranks do, over a group of its own that needs them all.
    os.environ.pop("TORCH_DISTRIBUTED_DEBUG", None)


def _holds(variables: dict[str, str]) -> bool:
    return all(os.environ.get(name) == value for name, value in variables.items())


def _is_workers() -> bool:
    """Whether a launcher gave this process a place."""
    return "RANK" in os.environ and "LOCAL_RANK" in os.environ


def install(place: Place, assume) -> None:
    """Answers for the absent ranks. `assume(id, text)` notes what was taken for granted."""
    import torch.distributed

    if not torch.distributed.is_available():
        return
    from . import world_cpu, world_store

    absent = place.world_size - 1
    assume(
        "absent-ranks",
        f"rank {place.rank} of {place.world_size} ran alone; the {absent} others are taken to do what it does and to send "
        "what it sends",
    )
    world_store.install(place)
    world_cpu.install()
