"""Compiled programs, the half that the code was written with. `case.py` says what a case is."""

from case import case

# A network, an optimizer and a step, of which programs use parts.
START = """
class Block(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))

def batch(rows=2048):
    return torch.randn(rows, 1024, device=device)

def train(model, make_batch, steps=3):
    optimizer = torch.optim.AdamW(model.parameters())
    for index in range(steps):
        loss = model(make_batch(index)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

"""

CASES = [
    case(
        "a mask breaks the graph",
        START
        + """
class Masked(Block):
    def forward(self, x):
        x = super().forward(x)
        kept = x[x.detach().norm(dim=1) < 40.0]
        sizes.append(len(kept))
        return super().forward(kept)
sizes = []
train(compiled(Masked().to(device)), lambda _: batch())
answer = sizes
""",
        usual=True,
    ),
    case(
        "nonzero breaks the graph",
        START
        + """
def chosen(x):
    rows = torch.nonzero(x[:, 0] > 0).squeeze(-1)
    return x[rows].square().sum(), len(rows)
x = batch().requires_grad_()
total, answer = compiled(chosen)(x)
total.backward()
""",
    ),
    case(
        "unique breaks the graph",
        START
        + """
table = nn.Embedding(4000, 1024, device=device)
def looked_up(ids):
    distinct, inverse, counts = ids.unique(return_inverse=True, return_counts=True)
    return (table(distinct).tanh()[inverse] * counts[inverse, None]).sum(), len(distinct)
function = compiled(looked_up, dynamic=True)
answer = []
for length in (512, 1024, 2048):
    ids = (torch.arange(length) % 100).to(device)
    loss, count = function(ids)
    loss.backward()
    answer.append(count)
""",
        usual=True,
    ),
    case(
        "a number read in the middle decides a branch",
        START
        + """
block = Block().to(device)
def branching(x, threshold):
    x = block(x)
    if threshold.item() > 1:
        x = torch.cat([x, x])
    return block(x)
function = compiled(branching)
answer = [list(function(batch(), torch.tensor(number).to(device)).shape) for number in (0, 3)]
""",
    ),
    case(
        "dynamic shapes of growing batches",
        START
        + """
train(compiled(Block().to(device), dynamic=True), lambda index: batch(1024 * (index + 1)), 4)
answer = torch.cuda.max_memory_allocated() > 0 if device == "cuda" else True
""",
    ),
    case(
        "a marked dimension",
        START
        + """
def marked(index):
    x = batch(512 * (index + 2))
    torch._dynamo.mark_dynamic(x, 0)
    return x
train(compiled(Block().to(device)), marked)
answer = None
""",
    ),
    case(
        "recompiled until the limit",
        START
        + """
block = Block().to(device)
def once(x, number):
    mask = x[:, 0] > number
    return block(x[mask]).sum() * number
function = compiled(once, backend="aot_eager", dynamic=False)
answer = []
for number in range(12):
    function(batch(256 + number), float(number)).backward()
    answer.append(number)
""",
    ),
    case(
        "reduced overhead",
        START
        + """
train(compiled(nn.Sequential(Block(), Block()).to(device), mode="reduce-overhead"), lambda _: batch(), 4)
answer = None
""",
        high=1.6,
    ),
    case(
        "autotuned without graphs",
        START
        + """
# Templates of products in Triton would take minutes to compile.
import torch._inductor.config
torch._inductor.config.max_autotune_gemm_backends = "ATEN"
train(compiled(Block().to(device), mode="max-autotune-no-cudagraphs"), lambda _: batch())
answer = None
""",
        high=2.5,
    ),
    case(
        "a full graph",
        START
        + """
train(compiled(nn.Sequential(Block(), Block()).to(device), fullgraph=True), lambda _: batch())
answer = None
""",
    ),
    case(
        "nonzero in a full graph",
        START
        + """
torch._dynamo.config.capture_dynamic_output_shape_ops = True
def chosen(x):
    rows = torch.nonzero(x[:, 0] > 0).squeeze(-1)
    return x.index_select(0, rows).tanh()
function = compiled(chosen, fullgraph=True)
answer = [list(function(batch(rows)).shape) for rows in (1024, 2048)]
""",
        usual=True,
        # The compiled kernel's result is not known, and half of the elements are assumed.
        free=True,
    ),
    case(
        "a mask in a full graph, eager backend of AOTAutograd",
        START
        + """
torch._dynamo.config.capture_dynamic_output_shape_ops = True
def masked(x):
    return x[x[:, 0] > 0].cos()
answer = list(compiled(masked, fullgraph=True, backend="aot_eager")(batch()).shape)
""",
        usual=True,
    ),
    case(
        "a number of the device as a size in a full graph",
        START
        + """
torch._dynamo.config.capture_scalar_outputs = True
def padded(x, length):
    rows = length.item()
    torch._check(rows >= 0)
    torch._check(rows <= 4096)
    return torch.zeros(rows, 1024, device=x.device) + x[0]
function = compiled(padded, fullgraph=True)
answer = [list(function(batch(), torch.tensor(rows).to(device)).shape) for rows in (512, 2048)]
""",
    ),
    case(
        "exported and run",
        START
        + """
block = Block().to(device)
rows = torch.export.Dim("rows", min=2, max=8192)
program = torch.export.export(block, (batch(512),), dynamic_shapes=({0: rows},))
module = compiled(program.module())
answer = [list(module(batch(count)).shape) for count in (512, 2048)]
""",
    ),
    case(
        "exported with a mask",
        START
        + """
class Chosen(nn.Module):
    def forward(self, x):
        return x[x[:, 0] > 0].tanh()
x = batch()
program = torch.export.export(Chosen(), (x,))
answer = list(program.module()(x).shape) == list(Chosen()(x).shape)
""",
    ),
    case(
        "a custom backward",
        START
        + """
class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        positive = grad[x[:, 0] > 0]
        return grad * x.sigmoid() + positive.sum() * 0
class Custom(Block):
    def forward(self, x):
        return x + self.down(Swish.apply(self.up(self.norm(x))))
train(compiled(Custom().to(device)), lambda _: batch())
answer = None
""",
    ),
    case(
        "checkpoints in a compiled function",
        START
        + """
from torch.utils.checkpoint import checkpoint
class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x
train(compiled(Checkpointed().to(device)), lambda _: batch())
answer = None
""",
    ),
    case(
        "a compiled optimizer",
        START
        + """
block = Block().to(device)
optimizer = torch.optim.AdamW(block.parameters(), lr=torch.tensor(1e-3, device=device), capturable=device == "cuda")
step = compiled(lambda: optimizer.step(), fullgraph=False)
for _ in range(3):
    block(batch()).sum().backward()
    step()
    optimizer.zero_grad()
answer = sorted(optimizer.state[block.up.weight])
""",
    ),
    case(
        "gradients per sample",
        START
        + """
from torch.func import functional_call, grad, vmap
layer = nn.Linear(256, 256).to(device)
parameters = dict(layer.named_parameters())
def loss(parameters, row):
    return functional_call(layer, parameters, (row,)).square().sum()
each = compiled(vmap(grad(loss), in_dims=(None, 0)))
answer = list(each(parameters, torch.randn(64, 256, device=device))["weight"].shape)
""",
    ),
    case(
        "traced with real tensors",
        START
        + """
from torch.fx.experimental.proxy_tensor import make_fx
def function(x):
    return torch.zeros(4, device=x.device).fill_(2).sum() + x[torch.arange(2, device=x.device)].sum()
answer = [len(make_fx(function, tracing_mode=mode)(batch(64)).graph.nodes) > 4 for mode in ("real", "fake", "symbolic")]
""",
    ),
    case(
        "fake tensors of the program",
        START
        + """
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    x = torch.zeros(1 << 16, 1 << 16, device=device)
    x[:, 0] = 1
    y = (x @ x).to(torch.bfloat16)
    row = torch.arange(1 << 16, device=device) + 1
    answer = [list(y.shape), list(torch.tensor([1, 2, 3], device=device).shape), list(row.shape)]
""",
    ),
    case(
        "an operator of the program's own",
        START
        + """
@torch.library.custom_op("oomphtest::kept", mutates_args=())
def kept(x: torch.Tensor, number: int) -> torch.Tensor:
    return x[x[:, 0] >= 0][:number].clone()
@kept.register_fake
def _(x, number):
    return x.new_empty(torch.library.get_ctx().new_dynamic_size(), x.shape[1])
answer = list(compiled(lambda x: kept(x, 5).cos())(batch()).shape)
""",
    ),
    case(
        "mixed precision with a scaler",
        START
        + """
block = compiled(Block().to(device))
optimizer, scaler = torch.optim.SGD(block.parameters(), 0.1), torch.amp.GradScaler(device)
for _ in range(3):
    with torch.autocast(device, torch.float16):
        loss = block(batch()).float().square().mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(block.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
answer = None
""",
    ),
    case(
        "tokens of which most are ignored",
        START
        + """
table, head = nn.Embedding(5000, 256).to(device), nn.Linear(256, 5000).to(device)
def loss_of(ids, labels):
    keep = labels != -100
    return F.cross_entropy(head(table(ids))[keep], labels[keep])
ids = torch.arange(4096) % 5000
labels = torch.where(ids % 8 == 0, ids, -100)
function = compiled(loss_of)
for _ in range(2):
    function(ids.to(device), labels.to(device)).backward()
answer = None
""",
        free=True,
        low=0.3,
        high=4,
    ),
    case(
        "greedy decoding with a static cache",
        START
        + """
cache = torch.zeros(1024, 1024, device=device)
block = Block().to(device).eval()
@torch.no_grad()
def decode(x, place):
    cache.index_copy_(0, place, x)
    return block(x + cache.mean(0)).argmax(-1)
function = compiled(decode, mode="reduce-overhead")
answer = [list(function(batch(1), torch.tensor([index], device=device)).shape) for index in range(4)]
""",
        high=1.6,
    ),
    case(
        "attention with a mask of blocks",
        START
        + """
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 1024, 1024, device=device)
attend = compiled(flex_attention) if device == "cuda" else flex_attention
q = torch.randn(1, 4, 1024, 64, device=device)
answer = list(attend(q, q, q, block_mask=mask).shape)
""",
        low=0.05,
        high=1.3,
    ),
    case(
        "vectorised over a batch",
        START
        + """
from torch.func import vmap
weight = torch.randn(256, 1024, device=device)
def one(row, number):
    steps = torch.arange(4, device=row.device) * number
    return (weight @ row).sum() + torch.full((4,), 2.0, device=row.device).sum() + steps.sum() + torch.where(row > 0, row, 0).sum()
numbers = torch.tensor([1, 2, 3, 4]).to(device)
answer = [list(vmap(one)(batch(4), numbers).shape), list(compiled(vmap(one))(batch(4), numbers).shape)]
""",
    ),
    case(
        "functionalised",
        START
        + """
from torch.func import functionalize
def changing(x):
    y = torch.zeros(8, device=x.device)
    y.fill_(3).add_(1)
    y[2] = 5
    x.mul_(2)
    return y.sum() + x.sum()
answer = list(functionalize(changing)(batch(64)).shape)
""",
    ),
]
