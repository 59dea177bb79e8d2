# /// expect
# run = "check"
# vram = "16GiB"
# verdict = ["fits", "fits so far"]
# search = false
# then = "went on (less than 11 GiB are in use at any time; torch gives its cached 7 GiB back by itself, and no error is raised)"
# why = "evaluation whose size changes is wrapped in try/except; the allocator's own free-and-try-again must not count as running out"
# ///
import torch
import torch.nn.functional as F
from torch import nn


class TwoTowers(nn.Module):
    def __init__(self, dim=256):
        super().__init__()
        self.query, self.document = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, q, d):
        return F.normalize(self.query(q), dim=-1), F.normalize(self.document(d), dim=-1)


@torch.no_grad()
def evaluate(model, queries, documents, shown):
    q, d = model(queries, documents)
    scores = q @ d[:shown].t()  # 7 GiB for 57344 documents, 10 GiB for all 81920
    return scores.argmax(dim=1)


def forward_backward(model):
    q, d = model(torch.randn(4096, 256, device="cuda"), torch.randn(4096, 256, device="cuda"))
    F.cross_entropy(q @ d.t() / 0.07, torch.arange(4096, device="cuda")).backward()


def train():
    model = TwoTowers().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    queries = torch.randn(32768, 256, device="cuda")
    documents = torch.randn(81920, 256, device="cuda")
    skipped = 0
    for step in range(6):
        forward_backward(model)
        try:
            evaluate(model, queries, documents, shown=81920 if step == 1 else 57344)
        except torch.cuda.OutOfMemoryError as error:
            skipped += 1
            print(f"step {step}: evaluation skipped, {error}")
            torch.cuda.empty_cache()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print(f"skipped {skipped} evaluations, allocator retries {torch.cuda.memory_stats()['num_alloc_retries']}")


if __name__ == "__main__":
    train()
