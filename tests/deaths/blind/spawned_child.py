# /// expect
# run = "run"
# vram = "4GiB"
# ends = "exit 1"
# status = 1
# line = 20
# requested_bytes = 6520504320
# says_any = [20, "grid"]
# ///
"""Renders in a spawned process, which runs out of memory; the parent passes the exit code on."""

import multiprocessing
import sys


def render(side):
    import torch

    rays = torch.zeros(side, 3, device="cuda")
    grid = torch.zeros(side, side, side, 3, dtype=torch.float32, device="cuda")
    print("rendered", rays.shape, grid.shape)


def main():
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=render, args=(816,))
    child.start()
    child.join()
    if child.exitcode:
        print("the renderer ended with", child.exitcode, file=sys.stderr)
    sys.exit(child.exitcode)


if __name__ == "__main__":
    main()
