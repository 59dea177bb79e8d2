# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 32
# requested_bytes = 1207959552
# printed_bytes = 1610612736
# says_any = ["roundup", "alloc_conf"]
# culprit = 32
# open = "tensors made before the first iteration are taken for data; a setting of the allocator is harmful"
# ///
"""A setting of the allocator rounds each request up to halves of a power of two: three tensors of 1.125 GiB take 1.5 GiB each."""

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "roundup_power2_divisions:2"  # copied from a blog

import torch  # noqa: E402

GIB = 1 << 30


class Shards:
    """Shards of an embedding table, on the GPU."""

    def __init__(self, count: int) -> None:
        self.shards = [self.load(number) for number in range(count)]

    def load(self, number: int) -> torch.Tensor:
        """Returns one shard of 1.125 GiB."""
        shard = torch.empty(9 * GIB // 8, dtype=torch.uint8, device="cuda")
        print("loaded shard", number, flush=True)
        return shard

    def __len__(self) -> int:
        return sum(shard.nbytes for shard in self.shards)


print("bytes", len(Shards(3)))
