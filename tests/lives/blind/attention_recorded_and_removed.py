# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["later-steps", "evaluation"]
# form = "epochs x batches, global_step % analyse_every == 0, a context manager with hooks"
# need_gib = [2.0, 2.9]
# why = "attention of a batch is 64 x 4 x 256 x 256 x 4 B = 64 MiB; the analysis records two layers of 12 batches, 1.5 GiB, and the recorder is emptied when its block ends, eight times in the run; a step keeps 2 x 64 MiB and about 2 x 100 MiB of 64 x 256 x 128 x 4 B = 8 MiB, and two of 64 MiB in the backward pass"
# ///
"""A small vision transformer; every few hundred steps hooks record the attention of some batches, to see how far it looks."""

import argparse

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj, self.weights = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Softmax(dim=-1)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        att = self.weights((q * (c // self.heads) ** -0.5) @ k.transpose(-2, -1))
        return self.proj((att @ v).transpose(1, 2).reshape(n, t, c))


class ViT(nn.Module):
    def __init__(self, width=128, heads=4, depth=2, patch=48, classes=10):
        super().__init__()
        self.embed = nn.Linear(patch, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth))
        self.attentions = nn.ModuleList(SelfAttention(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, patches):
        x = self.embed(patches)
        for norm, attention in zip(self.norms, self.attentions):
            x = x + attention(norm(x))
        return self.head(x.mean(dim=1))


class AttentionRecorder:
    """Records the attention of all layers, as long as its block lasts."""

    def __init__(self, model):
        self.model, self.maps, self.handles = model, {}, []

    def __enter__(self):
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Softmax):
                self.handles.append(module.register_forward_hook(self.hook(name)))
        return self

    def hook(self, name):
        def keep(module, inputs, output):
            self.maps.setdefault(name, []).append(output.detach())

        return keep

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        self.maps.clear()


@torch.no_grad()
def analyse(model, args):
    model.eval()
    with AttentionRecorder(model) as recorder:
        for _ in range(args.analyse_batches):
            model(torch.randn(args.batch_size, args.patches, 48).cuda())
        focus = {}
        for name, maps in recorder.maps.items():
            focus[name] = sum(part.amax(dim=-1).mean().item() for part in maps) / len(maps)
    model.train()
    return focus


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--patches", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--analyse-every", type=int, default=100)
    parser.add_argument("--analyse-batches", type=int, default=12)
    args = parser.parse_args()

    model = ViT().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.05)
    global_step = 0
    for epoch in range(args.epochs):
        for _ in range(args.batches):
            patches = torch.randn(args.batch_size, args.patches, 48).cuda()
            labels = torch.randint(10, (args.batch_size,)).cuda()
            loss = nn.functional.cross_entropy(model(patches), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            global_step += 1
            if global_step % args.analyse_every == 0:
                print(f"epoch {epoch} step {global_step} focus {analyse(model, args)}")


if __name__ == "__main__":
    main()
