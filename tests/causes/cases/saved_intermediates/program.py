"""A forward hook that keeps a copy of every layer's output, for later inspection."""

# /// expect
# rule = "saved-intermediates"
# ///

import torch
from torch import nn

activations = {}


def keep(name):
    """A hook that notes what the layer `name` gave."""

    def hook(module, inputs, output):
        activations.setdefault(name, []).append(output.detach().clone())  # the cause

    return hook


def main():
    model = nn.Sequential(*(nn.Linear(1024, 1024) for _ in range(4))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for name, layer in model.named_children():
        layer.register_forward_hook(keep(name))
    for _ in range(200):
        loss = model(torch.randn(2048, 1024, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
