"""No optimizer anywhere: a greedy generation loop over a small Transformer, then an evaluation loop."""

import torch
from torch import nn


class Model(nn.Module):
    """A causal Transformer of two layers."""

    def __init__(self, vocabulary=1000, width=128):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.head(self.encoder(self.embedding(tokens), mask=mask, is_causal=True))


model = Model().cuda().eval()
with torch.inference_mode():
    tokens = torch.zeros(4, 8, dtype=torch.long, device="cuda")
    for _ in range(24):
        following = model(tokens)[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, following], dim=1)
    for _ in range(5):
        model(torch.randint(1000, (16, 64), device="cuda"))
print(tuple(tokens.shape))
