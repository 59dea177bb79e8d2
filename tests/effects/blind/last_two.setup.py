"""Makes the files of an earlier run."""

import json
import os

import torch

for step in (100, 200, 300):
    os.makedirs(f"out/checkpoint-{step}")
    torch.save({"weight": torch.full((4,), float(step))}, f"out/checkpoint-{step}/model.bin")
    with open(f"out/checkpoint-{step}/state.json", "w") as file:
        json.dump({"step": step}, file)
