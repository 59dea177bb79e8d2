"""Lightning's `load_from_checkpoint` of a checkpoint of the user, which must be there."""

import lightning
import torch
from figures import run, show, zero
from torch import nn

FORMS = ("absent",)
WEIGHTS = ("*.ckpt",)


class Network(lightning.LightningModule):
    """A network with a hyperparameter."""

    def __init__(self, width=1024):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(512, width), nn.ReLU(), nn.Linear(width, 512))


def make(folder):
    model = zero(Network(width=2048))
    content = {
        "state_dict": model.state_dict(), "hyper_parameters": dict(model.hparams), "pytorch-lightning_version": lightning.__version__, "epoch": 2,
        "global_step": 10,
    }  # fmt: skip
    torch.save(content, f"{folder}/epoch=2-step=10.ckpt")


def load(source):
    model = Network.load_from_checkpoint(f"{source}/epoch=2-step=10.ckpt", map_location="cuda:0")
    model.freeze()
    show()
    model.net(torch.zeros(8, 512, device="cuda"))
    show()


run(make, load)
