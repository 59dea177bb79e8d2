# /// expect
# run = "check"
# vram = "1.6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [31, 29, 21, 32, 30]
# saves_mib = 768
# why = "48 layers of 2048 x 2048 x 4 B are 768 MiB; `raw` on the device keeps as much, 1536 of 1147 MiB; without it 768 and a few"
# ///
"""Serves a ranking tower from a checkpoint that was trained under DataParallel."""

import torch
from torch import nn

DEPTH, WIDTH = 48, 2048


def tower():
    return nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(DEPTH)])


def write(path):
    torch.save({f"module.{i}.weight": torch.zeros(WIDTH, WIDTH) for i in range(DEPTH)}, path)


write("tower.pt")
raw = torch.load("tower.pt", map_location=torch.device("cuda"))
renamed = {key.removeprefix("module."): value for key, value in raw.items()}
model = tower()
model.load_state_dict(renamed)
model.eval()
with torch.inference_mode():
    for request in range(5):
        answer = model(torch.randn(32, WIDTH, device="cuda"))
        print(request, tuple(answer.shape))
