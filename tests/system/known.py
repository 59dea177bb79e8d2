"""Programs whose shapes are decided by given values: each reaches its third step, and reads no unknown value."""

from functools import partial

from harness import Box, Case, expect

# A mixture of experts that routes tokens by given indices; each expert computes its tokens only.
ROUTED = """import torch
torch.manual_seed(0)
experts = torch.nn.ModuleList(torch.nn.Linear(256, 256) for _ in range(4)).cuda()
optimizer = torch.optim.SGD(experts.parameters(), lr=0.1)
routes = torch.tensor([0, 1, 2, 2] * 256)
for step in range(4):
    tokens, indices = torch.randn(1024, 256, device="cuda"), routes.cuda()
    out = torch.zeros_like(tokens)
    counts = torch.bincount(indices, minlength=4)
    assert counts.tolist() == [256, 256, 512, 0]
    for number, expert in enumerate(experts):
        if counts[number] == 0:
            continue
        mine = (indices == number).nonzero().squeeze(1)
        assert len(mine) == counts[number].item()
        out.index_add_(0, mine, expert(tokens[mine]))
    out.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# The same by sorting: tokens in the order of experts, cut at each expert's end.
SORTED = """import torch
torch.manual_seed(0)
experts = torch.nn.ModuleList(torch.nn.Linear(256, 256) for _ in range(3)).cuda()
optimizer = torch.optim.SGD(experts.parameters(), lr=0.1)
routes = torch.tensor([0, 1, 2, 2] * 256)
for step in range(4):
    tokens, indices = torch.randn(1024, 256, device="cuda"), routes.cuda()
    order = indices.argsort(stable=True)
    sizes = torch.unique(indices, return_counts=True)[1].tolist()
    assert sizes == [256, 256, 512]
    parts = tokens[order].split(sizes)
    out = torch.cat([expert(part) for expert, part in zip(experts, parts)])
    out[order.argsort()].sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# Sequences packed in a row: their ends decide positions, and -100 excludes labels from the loss.
PACKED = """import torch
torch.manual_seed(0)
embed, head = torch.nn.Embedding(100, 64).cuda(), torch.nn.Linear(64, 100).cuda()
optimizer = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)
lengths = torch.tensor([5, 3, 8])
labels = torch.randint(0, 100, (16,))
labels[[0, 5, 8]] = -100
for step in range(4):
    ends = torch.nn.functional.pad(lengths.cuda().cumsum(0), (1, 0))
    assert ends.tolist() == [0, 5, 8, 16] and int(ends.diff().max()) == 8
    positions = torch.cat([torch.arange(n, device="cuda") for n in ends.diff().tolist()])
    assert int((positions == 0).sum()) == 3
    targets = labels.cuda()
    counted = targets != -100
    assert int(counted.sum()) == 13
    states = embed(positions)[counted]
    assert len(states) == 13
    loss = torch.nn.functional.cross_entropy(head(states), targets[counted], reduction="sum") / counted.sum().item()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# Graphs in one batch: edges and the number of nodes come from indices.
GRAPHS = """import torch
torch.manual_seed(0)
layer = torch.nn.Linear(32, 32).cuda()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
edges = torch.tensor([[0, 1, 1, 2, 4], [1, 0, 2, 1, 3]])
batch = torch.tensor([0, 0, 0, 1, 1])
for step in range(4):
    edge, of = edges.cuda(), batch.cuda()
    nodes, graphs = int(edge.max()) + 1, int(of.max()) + 1
    assert (nodes, graphs) == (5, 2)
    states = torch.randn(nodes, 32, device="cuda")
    degree = torch.zeros(nodes, device="cuda").scatter_add_(0, edge[1], torch.ones(5, device="cuda"))
    assert degree.tolist() == [1, 2, 1, 1, 0]
    kept = edge[:, edge[0] != edge[1]]
    assert kept.size(1) == 5
    states = torch.zeros_like(states).index_add_(0, kept[1], layer(states)[kept[0]])
    torch.zeros(graphs, 32, device="cuda").index_add_(0, of, states).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
PROGRAMS = (("tokens routed by indices", ROUTED), ("tokens sorted by expert", SORTED), ("packed sequences", PACKED), ("graphs in a batch", GRAPHS))


# Scalars and labels are freed, and operators count in the same blocks.
FREED = """import torch
indices, values = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])
for kind in (torch.bool, torch.int32, torch.int64, torch.float32):
    for size in ((), (1,), (3,), (65,), (1000,), (100_000,)):
        sparse = torch.sparse_coo_tensor(indices, values, (2, 3), check_invariants=False).cuda()
        freed = [torch.full(size, 1, dtype=kind).cuda() for _ in range(60)]
        del freed
        ones = torch.ones(50, device="cuda")
        counts = [sparse.coalesce()._nnz(), len(ones.nonzero()), len(ones.unique()), ones.sum().item(), ones.argmax().item()]
        assert counts == [0] * 5, (kind, size, counts)
labels = torch.tensor([1, 2, 3]).cuda()
assert torch.tensor(7, device="cuda").item() == 7 and labels.tolist() == [1, 2, 3]
"""


def freed_without_the_agent(box: Box) -> None:
    """Under `oomph phantom`, what an operator counts is zero, and not the content of freed memory."""
    result = box.run(box.oomph, "phantom", "--gpu", "rtx-4090", "--", box.python, box.write("freed.py", FREED))
    expect(result, result.status, 0, "the exit status")


def check(box: Box, program: str) -> None:
    """Three steps, the program's own assertions hold, and nothing was assumed of a value."""
    result = box.check("--json", "--gpu", "rtx-4090", box.write("train.py", program))
    expect(result, (result.status, result.report["verdict"], result.report["steps"]), (0, "fits", 4), "status, verdict, steps")
    expect(result, result.report["value_shapes"], [], "shapes that values decide")
    expect(result, [note for note in result.report["notes"] if "read values" in note], [], "reads of unknown values")


CASES = [
    *(Case(name, partial(check, program=program)) for name, program in PROGRAMS),
    Case("freed values without the agent", freed_without_the_agent),
]
