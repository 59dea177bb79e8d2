"""safetensors' `load_model` of a file of the user, which must be there."""

import torch
from figures import run, show, zero
from safetensors.torch import load_model, save_model
from torch import nn

FORMS = ("absent",)
WEIGHTS = ("*.safetensors",)


def network():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True), 2)


def make(folder):
    save_model(zero(network()), f"{folder}/encoder-final.safetensors")


def load(source):
    model = network().to("cuda")
    load_model(model, f"{source}/encoder-final.safetensors", device="cuda")
    show()
    model(torch.zeros(2, 32, 512, device="cuda")).sum().backward()
    show()


run(make, load)
