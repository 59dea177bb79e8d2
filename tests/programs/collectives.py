"""All kinds of messages between ranks: a process per GPU, `torchrun --nproc-per-node 4 collectives.py`.

Fails unless every rank takes part in it, or is answered for. With `alone` as its argument, values that other ranks alone
could know are not asked for.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

is_alone = sys.argv[1:] == ["alone"]
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("cpu:gloo,cuda:nccl", device_id=device)
rank, size = dist.get_rank(), dist.get_world_size()
assert (rank, size) == (int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))


def of(other: int) -> int:
    """The number that `other` sends if every rank sends its own."""
    return rank if is_alone else other


# Objects.
everybodys: list = [None] * size
dist.all_gather_object(everybodys, {"rank": rank})
assert everybodys == [{"rank": of(other)} for other in range(size)], everybodys
objects = [f"from {rank}", None]
dist.broadcast_object_list(objects, src=0)
assert objects[0] == f"from {of(0)}", objects
gathered = [None] * size if rank == 0 else None
dist.gather_object(rank, gathered, dst=0)
assert gathered is None or gathered == [of(other) for other in range(size)], gathered

# CPU tensors, over gloo.
host = dist.new_group(backend="gloo")
assert dist.get_backend(host) == "gloo" and dist.get_world_size(host) == size
parts = [torch.zeros(2, dtype=torch.int64) for _ in range(size)]
dist.all_gather(parts, torch.full((2,), rank), group=host)
assert [part.tolist() for part in parts] == [[of(other)] * 2 for other in range(size)], parts
dist.all_reduce(torch.ones(3), group=host)
dist.broadcast(torch.ones(3), src=0, group=host)
dist.monitored_barrier(host)
dist.barrier(host)

# Device tensors: whole, by parts, one to one, and not waited for at once.
whole = torch.empty(size * 1024, device=device)
dist.all_gather_into_tensor(whole, torch.ones(1024, device=device))
part = torch.empty(1024, device=device)
dist.reduce_scatter_tensor(part, whole)
exchanged = torch.empty_like(whole)
dist.all_to_all_single(exchanged, whole)
works = [dist.all_reduce(torch.ones(1 << 20, device=device), async_op=True) for _ in range(3)]
for work in works:
    work.wait()
following, before = (rank + 1) % size, (rank - 1) % size
pair = [dist.P2POp(dist.isend, part, following), dist.P2POp(dist.irecv, torch.empty_like(part), before)]
for work in dist.batch_isend_irecv(pair):
    work.wait()
dist.barrier()

# Groups.
mesh = init_device_mesh("cuda", (size // 2, 2), mesh_dim_names=("dp", "tp"))
assert (mesh["dp"].size(), mesh["tp"].size()) == (size // 2, 2)
assert mesh["tp"].get_local_rank() == rank % 2
pairs = [dist.new_group([first, first + 1]) for first in range(0, size, 2)]
mine = pairs[rank // 2]
assert dist.get_world_size(mine) == 2 and dist.get_group_rank(mine, rank) == rank % 2
couple = torch.empty(2 * 8, device=device)
dist.all_gather_into_tensor(couple, torch.ones(8, device=device), group=mine)

# Steps, with each rank's part of the data.
data = TensorDataset(torch.randn(64 * size, 16))
loader = DataLoader(data, batch_size=16, sampler=DistributedSampler(data))
assert len(loader) == 4
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 16).to(device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (batch,) in loader:
    model(batch.to(device)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
