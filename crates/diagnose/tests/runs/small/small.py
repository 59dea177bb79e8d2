"""A bit of everything that fills memory: embedding, attention, convolution, batch norm, dropout, AdamW."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5000, 128)
        self.encoder = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
        self.convolution = nn.Conv1d(128, 256, 3, padding=1)
        self.norm = nn.BatchNorm1d(256)
        self.head = nn.Linear(256, 5000)

    def forward(self, tokens):
        hidden = self.encoder(self.embedding(tokens))
        hidden = torch.relu(self.norm(self.convolution(hidden.transpose(1, 2))))
        return self.head(hidden.transpose(1, 2))


model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    tokens = torch.randint(5000, (8, 64)).cuda()
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
