# /// expect
# run = "check"
# vram = "12GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits"]
# need_gib = [4.2, 8.5]
# why = "50,000 nodes (49 MiB of features); two messages of 2,000,000 edges x 256 x 4 B = 1.91 GiB, at most three at once and one more in backward"
# ///
"""GraphSAGE with mean aggregation over all edges; nodes are counted from the edges, as PyG's maybe_num_nodes does."""

import torch
import torch.nn.functional as F
from torch import nn

NODES, EDGES, WIDTH, CLASSES, EPOCHS = 50_000, 2_000_000, 256, 16, 3


def maybe_num_nodes(edge_index, num_nodes=None):
    return num_nodes if num_nodes is not None else int(edge_index.max()) + 1


class SAGEConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.neighbours = nn.Linear(inputs, outputs)
        self.itself = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, edge_index):
        source, target = edge_index
        nodes = maybe_num_nodes(edge_index)
        total = x.new_zeros(nodes, x.shape[1]).index_add(0, target, x[source])
        degree = torch.bincount(target, minlength=nodes).clamp(min=1)
        return self.neighbours(total / degree[:, None]) + self.itself(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv(WIDTH, WIDTH), SAGEConv(WIDTH, CLASSES)

    def forward(self, x, edge_index):
        return self.second(F.relu(self.first(x, edge_index)), edge_index)


torch.manual_seed(12)
edge_index = torch.randint(NODES, (2, EDGES))
edge_index[0, 0] = edge_index[1, 1] = NODES - 1
edge_index = edge_index.cuda()
x = torch.randn(NODES, WIDTH, device="cuda")
y = torch.randint(CLASSES, (NODES,), device="cuda")
model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(EPOCHS):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x, edge_index), y)
    loss.backward()
    optimizer.step()
print("loss", loss.item())
