# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "earlier-model"
# first_finding = ["earlier-model-alive"]
# lines = [23, 28, 37, 42, 47]
# saves_mib = 3961
# why = "the decoder (14 x 64 MiB), its gradients and Adam's moments for both parts (2 x 18 x 64) are still alive in stage two: 896 + 896 + 2304 = 4096 MiB; stage two needs the encoder, its gradients and 768 MiB for the spectra and each of four layers, and three more at the start of the backward: 5.6 GiB: 9730 + 410 of 8192 MiB; without them the peak is the 5769 MiB of stage one"
# ///
"""Pre-trains an autoencoder on spectra and fine-tunes its encoder to tell minerals apart, in one script."""

import torch
from torch import nn

CHANNELS = 4096


def stack(depth):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(CHANNELS, CHANNELS, bias=False), nn.ReLU()]
    return nn.Sequential(*layers)


with torch.device("cuda"):
    autoencoder = nn.ModuleDict({"encoder": stack(4), "decoder": stack(14)})
    classifier = nn.Linear(CHANNELS, 50)


def reconstruct(spectra):
    pretrainer.zero_grad()
    restored = autoencoder["decoder"](autoencoder["encoder"](spectra))
    loss = (restored - spectra).square().mean()
    loss.backward()
    pretrainer.step()
    return loss.item()


# stage one: reconstruct spectra
pretrainer = torch.optim.Adam(autoencoder.parameters(), lr=1e-4)
for step in range(3):
    print("pretrain", step, reconstruct(torch.rand(256, CHANNELS, device="cuda")))

# stage two: classify minerals with the encoder, in large batches
encoder = autoencoder["encoder"]
optimizer = torch.optim.SGD([*encoder.parameters(), *classifier.parameters()], lr=1e-2)
for step in range(8):
    spectra = torch.rand(49_152, CHANNELS, device="cuda")
    minerals = torch.randint(0, 50, (49_152,), device="cuda")
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(classifier(encoder(spectra)), minerals)
    loss.backward()
    optimizer.step()
    print("finetune", step, loss.item())
