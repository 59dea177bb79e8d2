# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 2
# command = "accelerate launch --multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no --dynamo_backend no {program}"
# framework = "accelerate"
# ends = "oom"
# status = 1
# line = 33
# requested_bytes = 536870912
# says_any = ["activation", "hidden", 33]
# culprit = 33
# steps = 0
# ///
"""A loop of Accelerate with two processes and a batch of 8192 each: every block keeps 512 MiB, and the eighth of twelve is too many."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WIDTH, HIDDEN, BLOCKS, BATCH = 16, 16384, 12, 8192


class Block(nn.Module):
    """A residual block."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.up(x)
        return x + self.down(hidden.sigmoid_())


def main() -> None:
    """Trains for one epoch."""
    accelerator = Accelerator()
    model = nn.Sequential(*(Block() for _ in range(BLOCKS)))
    loader = DataLoader(TensorDataset(torch.zeros(65536, WIDTH)), batch_size=BATCH)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for (rows,) in loader:
        loss = model(rows).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.print("step")
    accelerator.end_training()


if __name__ == "__main__":
    main()
