"""PyTorch Geometric: a graph convolution net on a synthetic graph, with pooling by scatter."""

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, global_mean_pool


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(64, 256), GATConv(256, 64, heads=4)
        self.head = nn.Linear(256, 5)

    def forward(self, data):
        x = self.first(data.x, data.edge_index).relu()
        x = self.second(x, data.edge_index).relu()
        return self.head(global_mean_pool(x, data.batch))


def main():
    graphs = [Data(torch.randn(500, 64), torch.randint(0, 500, (2, 4000)), y=torch.tensor([i % 5])) for i in range(40)]
    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for data in DataLoader(graphs, batch_size=8, shuffle=True):
        data = data.to("cuda")
        loss = nn.functional.cross_entropy(model(data), data.y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
