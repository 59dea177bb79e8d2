"""A job of which a single rank runs: `oomph check --world-size N`.

Note [Absent ranks]
~~~~~~~~~~~~~~~~~~~
The program has the environment of one rank, as a launcher sets it (`assume_rank`), and PyTorch's real `ProcessGroupNCCL` over the phantom's
NCCL: the memory behaviour of a collective (streams, works that keep tensors, coalescing) is real. Calls that need absent ranks are answered
locally, once torch is imported (`install`):

==================  ====================================================================================
the rendezvous      a store in this process (`absent_ranks_store`)
CPU groups (gloo)   torch's fake group, with results as if every rank had sent the same values (`absent_ranks_cpu`)
Python objects      the same (`objects`)
device tensors      the same for small tensors; larger tensors have unknown values (Note [One rank for all] in
                    crates/phantom/src/api/nccl/collectives.rs)
==================  ====================================================================================

Note [Workers of a launcher]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A launcher (torchrun, accelerate) starts workers with ranks of its own. The worker of local rank 0 continues as the requested rank;
the other workers exit at once with status 0. A launcher's variables differ from the variables set here, because no launcher
chooses the same address. A helper process of a rank inherits the variables unchanged.
"""

import os

from . import job_rank
from .job_rank import JobRank


def assume_rank() -> None:
    """Makes this process the requested rank, before the program reads the environment; a launcher's further workers end here."""
    rank = job_rank.read_requested()
    if rank is None or _has_all(rank.variables):
        return
    if _is_workers() and os.environ["LOCAL_RANK"] != "0":
        os._exit(0)
    os.environ.update(rank.variables)
    # NCCL's monitoring threads would call the store, a Python object, while the interpreter ends.
    os.environ["TORCH_NCCL_ENABLE_MONITORING"] = "0"
    os.environ["TORCH_NCCL_DUMP_ON_TIMEOUT"] = "0"
    # The debug mode compares ranks over a group, which absent ranks cannot join.
    os.environ.pop("TORCH_DISTRIBUTED_DEBUG", None)


def _has_all(variables: dict[str, str]) -> bool:
    return all(os.environ.get(name) == value for name, value in variables.items())


def _is_workers() -> bool:
    """True if a launcher assigned a rank to this process."""
    return "RANK" in os.environ and "LOCAL_RANK" in os.environ


def install(rank: JobRank, assume) -> None:
    """Answers for the absent ranks. `assume(id, text)` records an assumption."""
    import torch.distributed

    if not torch.distributed.is_available():
        return
    from . import absent_ranks_cpu, absent_ranks_store

    absent = rank.world_size - 1
    assume(
        "absent-ranks",
        f"rank {rank.rank} of {rank.world_size} ran alone; the {absent} others are taken to do what it does and to send "
        "what it sends",
    )
    absent_ranks_store.install(rank)
    absent_ranks_cpu.install()
