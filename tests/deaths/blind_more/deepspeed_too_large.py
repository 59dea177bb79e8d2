# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 2
# command = "deepspeed --num_gpus 2 {program}"
# framework = "deepspeed"
# ends = "oom"
# status = 1
# line = 35
# requested_bytes = 268435456
# says_any = ["parameter", "weights", 35]
# culprit = 35
# steps = 0
# ///
"""DeepSpeed without partitioned parameters puts the whole model, 5 GiB, on each of two GPUs, inside deepspeed.initialize."""

import argparse

import deepspeed
import torch
from torch import nn

WIDTH, LAYERS = 8192, 20
CONFIG = {"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 1}}


def build() -> nn.Sequential:
    """Returns layers of 256 MiB on the host, not initialised."""
    return nn.Sequential(*(nn.utils.skip_init(nn.Linear, WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))


def train(model: nn.Module) -> None:
    """Trains for one step."""
    optimizer = torch.optim.Adam(model.parameters())
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=CONFIG)
    loss = engine(torch.zeros(4, WIDTH, device=engine.device)).mean()
    engine.backward(loss)
    engine.step()


def main() -> None:
    """Reads the launcher's argument and trains."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)
    torch.cuda.set_device(parser.parse_args().local_rank)
    train(build())


if __name__ == "__main__":
    main()
