# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 7
# removed = 6
# folders_made = 0
# open_functions = "the changes are undone; files of children are counted more than once"
# why = "each of six .todo becomes a .done with its square, and spawned.txt"
# ///
"""Processes take jobs by renaming files: three forked, one spawned."""

import multiprocessing
import os
import sys

import torch
from torch import nn


def work(index):
    """Takes a job and answers it."""
    os.rename(f"jobs/{index}.todo", f"jobs/{index}.taken")
    with open(f"jobs/{index}.taken") as file:
        number = int(file.read())
    with open(f"jobs/{index}.taken", "w") as file:
        file.write(str(number * number))
    os.rename(f"jobs/{index}.taken", f"jobs/{index}.done")
    return os.path.exists(f"jobs/{index}.todo")


def spawned(queue):
    """Reads the results of the forked processes."""
    text = "".join(open(f"jobs/{i}.done").read() + "\n" for i in range(6))
    with open("spawned.txt", "w") as file:
        file.write(text)
    queue.put(len(text))


def main():
    """Trains beside the workers."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with multiprocessing.get_context("fork").Pool(3) as pool:
        found = pool.map_async(work, range(6))
        model = nn.Linear(1024, 1024).to(device)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for step in range(3):
            model(torch.ones(8, 1024, device=device)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        if found.get() != [False] * 6:
            raise SystemExit(3)
    if sorted(os.listdir("jobs")) != [f"{i}.done" for i in range(6)]:
        raise SystemExit(3)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=spawned, args=(queue,))
    process.start()
    length = queue.get(timeout=120)
    process.join()
    if length != 14 or open("spawned.txt").read() != "0\n1\n4\n9\n16\n25\n":
        raise SystemExit(3)
    print("SEEN AS REAL", flush=True)


if __name__ == "__main__":
    main()
