"""`torch.load` of a checkpoint of the user, which must be there."""

import torch
from figures import run, show, zero
from torch import nn

FORMS = ("absent",)
WEIGHTS = ("*.pt",)


def network():
    return nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024))


def make(folder):
    torch.save({"model": zero(network()).state_dict(), "step": 300}, f"{folder}/step_000300.pt")


def load(source):
    checkpoint = torch.load(f"{source}/step_000300.pt", map_location="cpu", weights_only=True)
    model = network()
    model.load_state_dict(checkpoint["model"])
    model.cuda()
    show()
    model(torch.zeros(4, 1024, device="cuda")).sum().backward()
    show()


run(make, load)
