"""Trains a denoiser for spectra, and logs how much its answer drifts when the input is scaled."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, bins: int, width: int, depth: int) -> None:
        super().__init__()
        self.enter = nn.Linear(bins, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.leave = nn.Linear(width, bins)

    def forward(self, spectra: torch.Tensor) -> torch.Tensor:
        state = F.gelu(self.enter(spectra))
        for layer in self.hidden:
            state = F.gelu(layer(state))
        return self.leave(state)


def spectra(options: argparse.Namespace, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    clean = torch.rand(options.batch, options.bins, device=device)
    return clean, clean + 0.1 * torch.randn_like(clean)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=6144)
    parser.add_argument("--bins", type=int, default=1024)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--log-every", type=int, default=50)
    options = parser.parse_args()

    model = Denoiser(options.bins, options.width, options.depth).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    smooth, drift = None, 0.0
    for step in range(1, options.steps + 1):
        clean, noisy = spectra(options, "cuda")
        loss = F.mse_loss(model(noisy), clean)
        smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

        scaled = model(0.5 * noisy)
        drift = drift + (scaled - 0.5 * clean).abs().mean().detach()
        if step % options.log_every == 0:
            print(f"step {step}  loss {smooth:.4f}  drift {float(drift) / step:.4f}", flush=True)


if __name__ == "__main__":
    main()
