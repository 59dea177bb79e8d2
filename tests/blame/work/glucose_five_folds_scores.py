# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "earlier-model"
# no_finding = ["earlier-model-alive"]
# why = "a fold's model of 320 MiB, with gradients, two moments and the step's temporaries 1600 MiB, lives in fit_fold() only; the list has its loss: 1610 + 410 of 3072 MiB"
# ///
"""Five-fold cross-validation of a glucose forecast; only the losses of the folds are kept."""

import torch
from torch import nn

WIDTH = 2048


class Forecast(nn.Module):
    def __init__(self, depth=20):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(depth))
        self.out = nn.Linear(WIDTH, 6, device="cuda")

    def forward(self, history):
        for layer in self.layers:
            history = history + torch.relu(layer(history))
        return self.out(history)


def fit_fold(fold, steps=2, batch=64):
    torch.manual_seed(42 + fold)
    model = Forecast()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(steps):
        history = torch.randn(batch, WIDTH, device="cuda")
        glucose = torch.randn(batch, 6, device="cuda")
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(history), glucose)
        loss.backward()
        optimizer.step()
    return loss.item()


losses = [fit_fold(fold) for fold in range(5)]
print("mean", sum(losses) / len(losses), "best fold", losses.index(min(losses)))
