# /// expect
# run = "check"
# vram = "11GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 31
# requested_bytes = 17179869184
# caught_line = 49
# then = "found batch 8 (each size is tried in a child process, which leaves with status 86 when it runs out)"
# why = "launchers try batch sizes in child processes, because a fresh process is the only sure way to a clean allocator"
# ///
import subprocess
import sys

RAN_OUT = 86


def build():
    import torch
    from torch import nn

    class LanguageModel(nn.Module):
        def __init__(self, vocabulary=32768, dim=512):
            super().__init__()
            self.embed = nn.Embedding(vocabulary, dim)
            self.body = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
            self.head = nn.Linear(dim, vocabulary, bias=False)

        def forward(self, tokens, targets):
            h = self.body(self.embed(tokens))
            logits = self.head(h)
            return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return torch, LanguageModel().to("cuda")


def forward_backward(torch, model, batch_size, length=2048):
    tokens = torch.randint(0, 32768, (batch_size, length), device="cuda")
    loss = model(tokens, tokens.roll(-1, dims=1))
    loss.backward()
    return loss.detach()


def probe(batch_size):
    torch, model = build()
    try:
        forward_backward(torch, model, batch_size)
        torch.cuda.synchronize()
    except torch.cuda.OutOfMemoryError:
        sys.exit(RAN_OUT)


def search():
    for batch_size in (64, 32, 16, 8, 4):
        child = subprocess.run([sys.executable, __file__, "--probe", str(batch_size)])
        if child.returncode == 0:
            return batch_size
        if child.returncode != RAN_OUT:
            raise SystemExit(f"probe of {batch_size} broke with status {child.returncode}")
    raise SystemExit("no batch size fits")


if sys.argv[1:2] == ["--probe"]:
    probe(int(sys.argv[2]))
else:
    batch_size = search()
    torch, model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        loss = forward_backward(torch, model, batch_size)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step} batch {batch_size} loss {loss.item():.4f}")
