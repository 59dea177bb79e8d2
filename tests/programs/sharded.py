"""A small model, spread over all ranks as the first argument says: `torchrun --nproc-per-node N sharded.py KIND [EXTRA_MIB]`.

Rank 0 keeps so many MiB more than the others. Dimensions that no number of ranks divides, so that shards are padded.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

kind = sys.argv[1]
extra_mib = int(sys.argv[2]) if len(sys.argv) > 2 else 0
dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
rank, size = dist.get_rank(), dist.get_world_size()
model = nn.Sequential(*[nn.Sequential(nn.Linear(1023, 4096), nn.ReLU(), nn.Linear(4096, 1023)) for _ in range(4)])
if kind == "ddp":
    model = nn.parallel.DistributedDataParallel(model.cuda())
elif kind == "fsdp1":
    model = FullyShardedDataParallel(model.cuda(), auto_wrap_policy=ModuleWrapPolicy({nn.Linear}))
elif kind == "fsdp2":
    for block in model:
        fully_shard(block)
    fully_shard(model)
elif kind == "tp":
    mesh = init_device_mesh("cuda", (size,))
    model.cuda()
    for block in model:
        parallelize_module(block, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
optimizer = torch.optim.AdamW(model.parameters())
if rank == 0 and extra_mib:
    kept = torch.zeros(extra_mib << 20, dtype=torch.uint8, device="cuda")
for _ in range(3):
    x = torch.randn(256, 1023, device="cuda")
    model(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
