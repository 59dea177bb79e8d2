# /// expect
# run = "check"
# vram = "16GiB"
# verdict = ["does not fit"]
# line = 28
# requested_bytes = 8589934592
# then = 'went on (logging prints "--- Logging error ---" and drops the message)'
# why = "lazily formatted log arguments compute on the GPU in __str__, and logging.Handler.emit swallows whatever they raise"
# ///
import logging
import sys

import torch
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format="%(asctime)s %(message)s")
log = logging.getLogger("train")


class GradientStats:
    """Computed only if the message is really written."""

    def __init__(self, model):
        self.model = model

    def __str__(self):
        flat = torch.cat([p.grad.reshape(-1) for p in self.model.parameters()])
        flat = flat.double()  # sums of a billion squares need the digits
        return f"norm {flat.norm():.4f} mean {flat.mean():.2e} max {flat.abs().max():.2e}"


def build(width=8192, depth=16):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(width, width, bias=False, device="cuda"), nn.ReLU()]
    return nn.Sequential(*layers)


def main():
    torch.manual_seed(0)
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    count = sum(p.numel() for p in model.parameters())
    log.info("%.2f billion parameters", count / 1e9)
    for step in range(5):
        x = torch.randn(64, 8192, device="cuda")
        loss = model(x).square().mean()
        loss.backward()
        if step % 2 == 0:
            log.debug("step %d gradients: %s", step, GradientStats(model))
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        log.info("step %d loss %.5f", step, loss.item())


if __name__ == "__main__":
    main()
