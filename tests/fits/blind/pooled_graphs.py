# /// expect
# run = "check"
# vram = "6GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.8, 4.8]
# why = "1,048,576 nodes x 128 x 4 B = 0.5 GiB for states and activations; batch.max() + 1 is 4,096 graphs, 2 MiB"
# ///
"""Graph classification: node states are summed by the graph that they belong to, as global_add_pool does."""

import torch
from torch import nn

NODES, GRAPHS, WIDTH, CLASSES, STEPS = 1_048_576, 4096, 128, 2, 3


def global_add_pool(x, batch):
    size = int(batch.max().item() + 1)
    return x.new_zeros(size, x.shape[-1]).scatter_add_(0, batch[:, None].expand_as(x), x)


class GIN(nn.Module):
    def __init__(self):
        super().__init__()
        self.node = nn.Linear(WIDTH, WIDTH)
        self.graph = nn.Linear(WIDTH, CLASSES)

    def forward(self, x, batch):
        return self.graph(global_add_pool(self.node(x).relu(), batch))


batch = (torch.arange(NODES) // (NODES // GRAPHS)).to("cuda")
labels = torch.randint(CLASSES, (GRAPHS,), device="cuda")
model = GIN().to("cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(STEPS):
    loss = nn.functional.cross_entropy(model(torch.randn(NODES, WIDTH, device="cuda"), batch), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
