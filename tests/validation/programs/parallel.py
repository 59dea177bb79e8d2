"""One process as a group of one, with NCCL: distributed data parallel, or sharded data parallel with each block a unit."""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("how", choices=["ddp", "fsdp", "collectives"])
parser.add_argument("--width", type=int, default=4096)
parser.add_argument("--layers", type=int, default=12)
args = parser.parse_args()

dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
torch.cuda.set_device(0)
if args.how == "collectives":
    tensor = torch.ones(1 << 28, device="cuda")
    dist.all_reduce(tensor)
    gathered = torch.empty_like(tensor)
    dist.all_gather_into_tensor(gathered, tensor)
    dist.reduce_scatter_tensor(gathered, tensor)
    torch.cuda.synchronize()
else:
    with torch.device("cuda"):
        model = nn.Sequential(*(nn.Sequential(nn.Linear(args.width, args.width), nn.GELU()) for _ in range(args.layers)))
    if args.how == "ddp":
        model = DistributedDataParallel(model, device_ids=[0], gradient_as_bucket_view=False)
    else:
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for block in model:
            fully_shard(block, mp_policy=policy)
        fully_shard(model, mp_policy=policy)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        model(torch.randn(4096, args.width, device="cuda")).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
dist.destroy_process_group()
