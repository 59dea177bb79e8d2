# /// expect
# run = "check"
# vram = "12GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "weights"
# first_finding = ["need-exceeds-device"]
# lines = [25, 44]
# why = "a table of 10,000,000 x 32 x 4 B is 1221 MiB; twelve are 14.3 GiB, and the device has 11.6: the tenth does not fit"
# ///
"""Click prediction on hashed categorical features, one large embedding table per field."""

import torch
from torch import nn

BUCKETS = 10_000_000
FIELDS = ["user", "item", "shop", "brand", "city", "query", "device", "campaign", "creative", "publisher", "slot", "referrer"]


class ClickModel(nn.Module):
    def __init__(self, fields, buckets, width=32, device=None):
        super().__init__()
        self.tables = nn.ModuleDict()
        for field in fields:
            self.tables[field] = nn.EmbeddingBag(buckets, width, mode="sum", sparse=True, device=device)
        self.top = nn.Sequential(
            nn.Linear(width * len(fields), 256, device=device),
            nn.ReLU(),
            nn.Linear(256, 1, device=device),
        )

    def forward(self, bags):
        pooled = [table(bags[:, i]) for i, table in enumerate(self.tables.values())]
        return self.top(torch.cat(pooled, dim=1)).squeeze(1)


def click_log(batches, size=2048):
    for _ in range(batches):
        bags = torch.randint(0, BUCKETS, (size, len(FIELDS), 4))
        yield bags.cuda(), torch.randint(0, 2, (size,)).float().cuda()


def main():
    model = ClickModel(FIELDS, BUCKETS, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_function = nn.BCEWithLogitsLoss()
    for step, (bags, clicks) in enumerate(click_log(5)):
        optimizer.zero_grad()
        loss = loss_function(model(bags), clicks)
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
