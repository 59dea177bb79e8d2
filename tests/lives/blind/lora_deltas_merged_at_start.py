# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["load"]
# step = 1
# line = 62
# form = "for over layers, then for range"
# need_gib = [4.25, 4.5]
# why = "24 layers of 4,096 x 4,096 in bfloat16 are 768 MiB and their adapters 24 MiB; the deltas of all layers in single precision are 24 x 64 MiB = 1,536 MiB, and the merged weights as much again: 3,864 MiB and 64 MiB for one layer cast, with 2.55 GiB free"
# ///
"""Merges the adapters of an earlier fine-tune into the base model, then trains a small reward head on its features."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class ModelConfig:
    vocab: int = 2048
    width: int = 4096
    layers: int = 24
    rank: int = 64
    alpha: float = 128.0


class Base(nn.Module):
    def __init__(self, cfg, device):
        super().__init__()
        kw = dict(device=device, dtype=torch.bfloat16)
        self.embed = nn.Embedding(cfg.vocab, cfg.width, **kw)
        self.layers = nn.ModuleList(nn.Linear(cfg.width, cfg.width, bias=False, **kw) for _ in range(cfg.layers))

    @torch.no_grad()
    def features(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return x.mean(dim=1).float()


def load_adapters(cfg, device):
    adapters = {}
    for i in range(cfg.layers):
        down = torch.randn(cfg.rank, cfg.width, device=device, dtype=torch.bfloat16)
        up = torch.zeros(cfg.width, cfg.rank, device=device, dtype=torch.bfloat16)
        adapters[f"layers.{i}.weight"] = (down, up)
    return adapters


@torch.no_grad()
def merge_adapters(model, adapters, cfg):
    params = dict(model.named_parameters())
    deltas, merged = {}, {}
    for name, (down, up) in adapters.items():
        deltas[name] = (up.float() @ down.float()).mul_(cfg.alpha / cfg.rank)
    for name, delta in deltas.items():
        merged[name] = params[name].float() + delta
    for name, weight in merged.items():
        params[name].copy_(weight)
    print(f"merged {len(merged)} adapters")


def parse_args():
    parser = argparse.ArgumentParser(description="reward head on a merged model")
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--seq-len", type=int, default=64)
    parser.add_argument("--max-steps", type=int, default=400)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--log-every", type=int, default=100)
    return parser.parse_args()


def main():
    args, cfg = parse_args(), ModelConfig()
    device = torch.device("cuda")
    model = Base(cfg, device).requires_grad_(False)
    merge_adapters(model, load_adapters(cfg, device), cfg)

    head = nn.Sequential(nn.Linear(cfg.width, 256), nn.GELU(), nn.Linear(256, 1)).to(device)
    optimizer = torch.optim.AdamW(head.parameters(), lr=args.lr)
    for step in range(1, args.max_steps + 1):
        chosen = torch.randint(cfg.vocab, (args.batch_size, args.seq_len)).to(device)
        rejected = torch.randint(cfg.vocab, (args.batch_size, args.seq_len)).to(device)
        margin = head(model.features(chosen)) - head(model.features(rejected))
        loss = -nn.functional.logsigmoid(margin).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % args.log_every == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
