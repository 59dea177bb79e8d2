# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "earlier-model"
# first_finding = ["earlier-model-alive"]
# lines = [58, 23, 39, 40]
# saves_mib = 3264
# why = "encoder and decoder have 3 + 16 layers of 4096 x 4096 x 4 B = 64 MiB, 1216 MiB; with gradients and momentum 3648 MiB, of which main()'s `pretrainer` needlessly keeps the decoder (1024), its gradients (1024) and the momentum (1216), 3264 MiB, while the classifier saves tensors of 36864 x 4096 x 4 B = 576 MiB, up to nine at a time: 8800 of 7782 MiB, and 5600 without the 3264"
# ///
"""Cell-type classification: a masked autoencoder first, then a classifier on its encoder."""

import torch
from torch import nn

WIDTH, TYPES = 4096, 40


def stack(depth):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(WIDTH, WIDTH, device="cuda"), nn.Tanh()]
    return nn.Sequential(*layers)


class Pretrainer:
    def __init__(self):
        self.encoder, self.decoder = stack(3), stack(16)
        parameters = [*self.encoder.parameters(), *self.decoder.parameters()]
        self.optimizer = torch.optim.SGD(parameters, lr=1e-2, momentum=0.9)

    def run(self, steps):
        for _ in range(steps):
            cells = torch.randn(512, WIDTH, device="cuda")
            kept = cells * (torch.rand_like(cells) > 0.3)
            loss = nn.functional.mse_loss(self.decoder(self.encoder(kept)), cells)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


def finetune(encoder, steps):
    classifier = nn.Sequential(encoder, stack(3), nn.Linear(WIDTH, TYPES, device="cuda"))
    optimizer = torch.optim.SGD(classifier.parameters(), lr=1e-2)
    for _ in range(steps):
        cells = torch.randn(36864, WIDTH, device="cuda")
        types = torch.randint(0, TYPES, (36864,), device="cuda")
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(classifier(cells), types)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    pretrainer = Pretrainer()
    print("pretraining", pretrainer.run(steps=3))
    print("classifier", finetune(pretrainer.encoder, steps=3))


main()
