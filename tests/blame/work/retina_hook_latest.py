# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "intermediates-kept"
# no_finding = ["saved-intermediates", "growing-collection", "retained-graph"]
# why = "the dictionary has one output of 32 MiB per convolution, 128 MiB, and the next batch replaces them one by one; with input, two activations and the last ones under 400 MiB"
# ///
"""Measures how strongly the layers of a retina network respond; a hook remembers each layer's latest output."""

import torch
from torch import nn

CHANNELS = 16


class ResponseMeter:
    def __init__(self, network):
        self.latest = {}
        self.means = {}
        for name, module in network.named_modules():
            if isinstance(module, nn.Conv2d):
                module.register_forward_hook(self.make_hook(name))

    def make_hook(self, name):
        def hook(module, inputs, output):
            self.latest[name] = output.detach()

        return hook

    def update(self):
        for name, output in self.latest.items():
            self.means.setdefault(name, []).append(output.abs().mean().item())


def retina_network():
    layers, inputs = [], 3
    for _ in range(4):
        layers += [nn.Conv2d(inputs, CHANNELS, 3, padding=1), nn.ReLU()]
        inputs = CHANNELS
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(CHANNELS, 5))


network = retina_network().cuda().eval()
meter = ResponseMeter(network)
with torch.inference_mode():
    for batch in range(12):
        grades = network(torch.randn(8, 3, 256, 256, device="cuda"))
        meter.update()
print({name: sum(values) / len(values) for name, values in meter.means.items()})
