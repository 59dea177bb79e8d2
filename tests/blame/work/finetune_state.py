# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [37]
# saves_mib = 1024
# why = "the model has 64 x 2048 x 2048 x 4 B = 1024 MiB, and `state`, loaded to the device and copied into it, keeps another 1024 during the training: with gradients and momentum 4096 MiB and a few small activations of 3686; without `state` 3072"
# ///
"""Fine-tunes a tabular net from a checkpoint of an earlier run."""

import pathlib
import tempfile

import torch
from torch import nn

WIDTH, LAYERS = 2048, 64


def make_net():
    with torch.device("cuda"):
        return nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)])


def write_checkpoint(path):
    net = make_net()
    torch.save(net.state_dict(), path)


folder = tempfile.TemporaryDirectory()
checkpoint = pathlib.Path(folder.name) / "tabular.pt"
write_checkpoint(checkpoint)

state = torch.load(checkpoint, map_location="cuda", weights_only=True)
net = make_net()
missing, unexpected = net.load_state_dict(state)
folder.cleanup()
print("missing", len(missing), "unexpected", len(unexpected))

optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
for step in range(4):
    rows = torch.randn(128, WIDTH, device="cuda")
    loss = (net(rows) - rows).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
