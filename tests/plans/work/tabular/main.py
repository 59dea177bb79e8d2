"""Trains a transformer over the columns of a table; set up by environment variables."""
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE = int(os.environ.get("BATCH_SIZE", 64))
ACCUM = int(os.environ.get("ACCUM", "1"))
LR = float(os.environ.get("LR", "1e-3"))
EPOCHS = int(os.getenv("EPOCHS", "1"))
RUN_NAME = os.getenv("RUN_NAME", "tab")

COLUMNS, DIM = 64, 192


class TabTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(COLUMNS, DIM) * 0.1)
        self.shift = nn.Parameter(torch.zeros(COLUMNS, DIM))
        layer = nn.TransformerEncoderLayer(DIM, 8, 4 * DIM, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
        self.head = nn.Linear(DIM, 1)

    def forward(self, x):
        tokens = x[..., None] * self.scale + self.shift
        return self.head(self.encoder(tokens).mean(1)).squeeze(-1)


def main():
    rows = TensorDataset(torch.randn(8192, COLUMNS), torch.rand(8192).round())
    loader = DataLoader(rows, batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    model = TabTransformer().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)
    bce = nn.BCEWithLogitsLoss()

    for epoch in range(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            for xs, ys in zip(torch.chunk(x, ACCUM), torch.chunk(y, ACCUM)):
                loss = bce(model(xs.cuda()), ys.cuda()) / ACCUM
                loss.backward()
            optimizer.step()
        print(f"[{RUN_NAME}] epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
