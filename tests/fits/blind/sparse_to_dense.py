# /// expect
# run = "check"
# vram = "5GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [36, 30]
# need_gib = [12, 45]
# open = "fits so far, expected does not fit"
# why = "a sparse adjacency without a size has that of its largest index: 40,960 x 40,960 x 4 B = 6.25 GiB when it is made dense"
# ///
"""A graph autoencoder that compares with the dense adjacency matrix; sparse_coo_tensor infers the size."""

import torch
from torch import nn

NODES, EDGES, WIDTH, EPOCHS = 40_960, 400_000, 64, 100

edges = torch.randint(NODES, (2, EDGES), generator=torch.Generator().manual_seed(4))
edges[:, 0] = NODES - 1


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        z = self.encode(x)
        return z @ z.t()


def main():
    indices = edges.cuda()
    adjacency = torch.sparse_coo_tensor(indices, torch.ones(EDGES, device="cuda")).coalesce()
    target = adjacency.to_dense().clamp(max=1)
    model = Autoencoder().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(EPOCHS):
        logits = model(torch.randn(len(target), WIDTH, device="cuda"))
        loss = nn.functional.binary_cross_entropy_with_logits(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
