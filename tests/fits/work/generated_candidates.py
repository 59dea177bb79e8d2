# /// expect
# run = "check"
# vram = "2GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.2, 1.7]
# says = ["66"]
# why = "a graph of 400 nodes takes 400 x 2048 x 4 B = 3.1 MiB for a map: two ReLU outputs and two gradients are 12.5 MiB: 600 graphs need 7.3 GiB, 200 2.45 + 0.48, 66 0.81 + 0.1 for weights and 0.48, of 2"
# ///
"""Message passing over batches of small graphs; sizes to try come from a generator."""

import torch
from torch import nn


def candidates(largest):
    size = largest
    while size > 1:
        yield size
        size //= 3


class Messages(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.out = nn.Linear(64, 2048), nn.Linear(2048, 2048), nn.Linear(2048, 1)

    def forward(self, nodes):
        h = torch.relu(self.first(nodes))
        h = torch.relu(self.second(h))
        return self.out(h).sum(dim=1)


def train(net, optimizer, graphs, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        net(torch.rand(graphs, 400, 64, device="cuda")).abs().mean().backward()
        optimizer.step()


net = Messages().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
sizes = candidates(600)
graphs = next(sizes)
trained = False
while not trained:
    try:
        train(net, optimizer, graphs, steps=40)
        trained = True
    except RuntimeError as error:
        if "CUDA out of memory" not in str(error):
            raise
    if not trained:
        torch.cuda.empty_cache()
        graphs = next(sizes)
print("trained with", graphs, "graphs")
