"""Trains a masked autoencoder on patches, set up by a YAML file."""
import sys

import torch
import yaml
from torch import nn


class MAE(nn.Module):
    def __init__(self, patch, dim, enc, dec, keep):
        super().__init__()
        self.keep = keep
        self.embed = nn.Linear(patch * patch * 3, dim)
        self.encoder = nn.ModuleList(self.layer(dim) for _ in range(enc))
        self.decoder = nn.ModuleList(self.layer(dim) for _ in range(dec))
        self.mask = nn.Parameter(torch.zeros(1, 1, dim))
        self.out = nn.Linear(dim, patch * patch * 3)

    @staticmethod
    def layer(dim):
        return nn.TransformerEncoderLayer(dim, 8, 4 * dim, dropout=0, activation="gelu", batch_first=True, norm_first=True)

    def forward(self, patches):
        x = self.embed(patches[:, : self.keep])
        for layer in self.encoder:
            x = layer(x)
        x = torch.cat([x, self.mask.expand(len(x), patches.shape[1] - self.keep, -1)], 1)
        for layer in self.decoder:
            x = layer(x)
        return ((self.out(x) - patches) ** 2).mean()


def patches(n, size, patch):
    img = torch.rand(n, 3, size, size)
    cut = img.unfold(2, patch, patch).unfold(3, patch, patch)
    return cut.permute(0, 2, 3, 1, 4, 5).reshape(n, (size // patch) ** 2, -1)


def main(path):
    conf = yaml.safe_load(open(path))
    train, val, m = conf["train"], conf["val"], conf["model"]
    model = MAE(m["patch"], m["dim"], m["encoder"], m["decoder"], m["keep"]).cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=train["lr"] * train["batch"] * train["accumulate"] / 256)
    for step in range(train["updates"]):
        for _ in range(train["accumulate"]):
            x = patches(train["batch"], conf["size"], m["patch"]).cuda()
            (model(x) / train["accumulate"]).backward()
        opt.step()
        opt.zero_grad()
        if (step + 1) % val["every"] == 0:
            with torch.no_grad():
                for _ in range(val["rounds"]):
                    print("val", model(patches(val["batch"], conf["size"], m["patch"]).cuda()).item())


if __name__ == "__main__":
    main(sys.argv[1])
