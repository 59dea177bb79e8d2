# /// expect
# run = "check"
# vram = "4GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "`recall` multiplies 40,000 queries with 40,000 products: 40,000^2 x 4 B = 5.96 GiB in one request, with 3.52 free"
# ///
"""Two-tower product search; recall is a property of the trained retriever."""

import torch
from torch import nn


class Retriever(nn.Module):
    def __init__(self, products=40_000, width=64):
        super().__init__()
        self.query = nn.Embedding(products, width, sparse=False)
        self.product = nn.Embedding(products, width)

    def forward(self, ids):
        return self.query(ids) @ self.product(ids).t()

    @property
    @torch.no_grad()
    def recall(self):
        scores = self.query.weight @ self.product.weight.t()
        hits = scores.argmax(1) == torch.arange(len(scores), device=scores.device)
        return hits.float().mean().item()


retriever = Retriever().cuda()
optimizer = torch.optim.SGD(retriever.parameters(), lr=1.0)
for step in range(200):
    ids = torch.randint(40_000, (256,), device="cuda")
    loss = nn.functional.cross_entropy(retriever(ids), torch.arange(256, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
quality = retriever.recall
print(f"recall@1 {quality:.3f}")
