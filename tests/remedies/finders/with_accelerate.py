"""accelerate: finds a batch size with `find_executable_batch_size` (`--find`), or trains three steps.

The finder begins at the size that the program has, and takes a tenth off whenever it runs out. Prints a JSON object of what was found.
"""

import argparse
import json

import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size
from model import Samples, layers
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=2)
parser.add_argument("--find", action="store_true")
args = parser.parse_args()
tried = []


def train(batch_size):
    tried.append(batch_size)
    accelerator = Accelerator()
    accelerator.free_memory()
    model = layers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Samples(), batch_size=batch_size, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, features in enumerate(loader, 1):
        optimizer.zero_grad()
        accelerator.backward(model(features).square().mean())
        optimizer.step()
        if step == 3:
            break


if args.find:
    find_executable_batch_size(train, starting_batch_size=64)()
    print(json.dumps({"size": tried[-1], "trials": len(tried)}))
else:
    train(args.batch_size)
