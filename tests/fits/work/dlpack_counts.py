# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# lines = [35, 36]
# says_so_far = ["dlpack_counts.py:35"]
# need_gib = [8, 26]
# why = "another library fills the counts through DLPack: 4096 segments of 512 rows, 2,097,152 x 1024 x 4 B = 8 GiB; before that they are zero"
# ///
"""A ragged gather whose counts are filled through a DLPack alias, as a data pipeline's plugin would do."""

import torch
from torch import nn
from torch.utils.dlpack import from_dlpack, to_dlpack

SEGMENTS, ROWS, WIDTH, STEPS = 4096, 512, 1024, 20


class Pipeline:
    """Stands for a library that writes into the buffers it is given."""

    def fill(self, capsule):
        from_dlpack(capsule).fill_(ROWS)


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(SEGMENTS, WIDTH)

    def forward(self, counts):
        segment = torch.arange(len(counts), device=counts.device)
        rows = torch.repeat_interleave(segment, counts)
        return self.table(rows)


pipeline, model = Pipeline(), Pool().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
counts = torch.zeros(SEGMENTS, dtype=torch.long, device="cuda")
for step in range(STEPS):
    pipeline.fill(to_dlpack(counts))
    loss = model(counts).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
