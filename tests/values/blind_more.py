"""Cases of values: the half written by somebody else, before the first run. `check.py` explains the judgement."""

# Name, whether every value that is read must be known (True), must be unknown (False), or either is right (None), and the program.
# `device` is the device; what the program leaves in `answer` is compared with that of the same lines on the CPU.
CASES = [
    ("counters of normalisation", True, """
norm = nn.BatchNorm1d(3).to(device)
before = [norm.running_mean.tolist(), norm.running_var.tolist(), norm.weight.tolist(), norm.bias.tolist()]
for _ in range(3):
    norm(torch.randn(8, 3, device=device))
norm.eval()
norm(torch.randn(8, 3, device=device))
answer = [before, norm.num_batches_tracked.item(), str(norm.num_batches_tracked.dtype)]
"""),
    ("parameters as they were made", True, """
model = nn.ModuleDict({"norm": nn.LayerNorm(3), "emb": nn.Embedding(5, 2, padding_idx=0), "lin": nn.Linear(4, 4), "act": nn.PReLU()}).to(device)
late = nn.Linear(3, 3, device=device)
nn.init.eye_(late.weight)
nn.init.constant_(late.bias, 0.25)
bound = 1 / math.sqrt(4)
answer = [model["norm"].weight.tolist(), model["emb"].weight[0].tolist(), bool((model["lin"].weight.abs() <= bound).all()), model["act"].weight.item(), late.weight.tolist(), late.bias.tolist(), model["emb"](torch.tensor([0, 0], device=device)).tolist()]
"""),
    ("parameters after a step", False, """
model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10)).to(device)
nn.init.zeros_(model[2].bias)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.ones(16, 784, device=device), torch.zeros(16, dtype=torch.long, device=device)
F.cross_entropy(model(x), y).backward()
opt.step()
answer = [(model[2].bias[0] > 0).item(), (model[2].bias[1:] < 0).all().item(), bool((model[2].bias != 0).all())]
"""),
    ("loss and gradient of a network", False, """
big = torch.ones(600, 600, device=device)
layer = nn.Linear(600, 2, device=device)
nn.init.zeros_(layer.weight)
nn.init.zeros_(layer.bias)
out = layer((big @ big) / 600)
loss = F.cross_entropy(out, torch.zeros(600, dtype=torch.long, device=device))
loss.backward()
answer = [round(loss.item(), 4), [round(v, 4) for v in layer.bias.grad.tolist()], round(layer.weight.grad[0, 0].item(), 4)]
"""),
    ("moments of an optimizer", False, """
model = nn.Linear(1024, 512).to(device)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
model(torch.randn(4, 1024, device=device)).square().mean().backward()
opt.step()
state = opt.state[model.weight]
answer = [bool((state["exp_avg_sq"] >= 0).all()), state["exp_avg"].isfinite().all().item(), (state["exp_avg"] != 0).any().item()]
"""),
    ("steps counted by an optimizer on the device", True, """
p = nn.Parameter(torch.ones(3, device=device))
opt = torch.optim.Adam([p], lr=0.01, capturable=device == "cuda")
for _ in range(2):
    p.grad = torch.randn(3, device=device)
    opt.step()
answer = opt.state[p]["step"].to(device).item()
"""),
    ("predictions of a network compared with labels", False, """
big = torch.ones(600, 600, device=device)
logits = (big @ big)[:4, :3] * torch.tensor([1.0, 3.0, 2.0], device=device)
pred = logits.argmax(1)
labels = torch.tensor([1, 1, 2, 1], device=device)
answer = [(pred == labels).sum().item(), pred.tolist(), (pred == labels).float().mean().item(), torch.where(pred > 0, labels, pred).tolist()]
"""),
    ("softmax and convolution of what is not known", False, """
image = torch.ones(1, 8, 300, 300, device=device)
out = F.conv2d(image, torch.full((2, 8, 3, 3), 0.125, device=device))
p = out.flatten(1).softmax(-1)
answer = [round(out[0, 0, 0, 0].item(), 3), round(p.sum().item(), 2), round(out.mean().item(), 2), int(out.amax() > 1)]
"""),
    ("a known tensor met by an unknown one", False, """
big = torch.ones(600, 600, device=device)
u = (big @ big)[0, :3] / 600
k = torch.tensor([1.0, 2.0, 3.0], device=device)
answer = [(k + u).tolist(), (k * u).sum().item(), torch.cat([k, u]).sum().item(), torch.stack([k, u]).max().item(), torch.dot(k, u).item(), bool((u < k).any()), torch.where(u > 0, k, -k).tolist()]
"""),
    ("a small product of known matrices", None, """
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
v = torch.tensor([1.0, -1.0], device=device)
linear = F.linear(v, a, torch.tensor([0.5, 0.5], device=device))
answer = [(a @ a).tolist(), (a @ v).tolist(), torch.einsum("ij,j->i", a, v).tolist(), linear.tolist(), torch.bmm(a[None], a[None]).tolist(), a.mm(a.t()).trace().item(), torch.outer(v, v).tolist()]
"""),
    ("small functions of known numbers", None, """
x = torch.tensor([[1.0, 2.0, 3.0]], device=device)
y = torch.tensor([2], device=device)
r = lambda t: [round(v, 3) for v in t.flatten().tolist()]
answer = [r(x.softmax(1)), r(F.cross_entropy(x, y)), r(F.relu(x - 2)), r(F.gelu(x)), r(F.layer_norm(x, (3,))), r(F.max_pool1d(x, 2, 1)), r(F.mse_loss(x, x + 1)), r(F.conv1d(x[None], torch.ones(1, 1, 2, device=device)))]
"""),
    ("gradients of known numbers", None, """
x = torch.tensor([1.0, -2.0, 3.0], device=device, requires_grad=True)
(x.clamp(min=0) * x).sum().backward()
g, = torch.autograd.grad((x ** 2).sum(), x)
answer = [x.grad.tolist(), g.tolist(), x.tolist()]
"""),
    ("many threads", True, """
import threading
results = {}
def work(n):
    x = torch.full((8,), n, device=device)
    for _ in range(5):
        y = x + torch.arange(8, device=device)
        x = y - torch.arange(8, device=device)
    results[n] = [x.sum().item(), y.tolist()]
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
answer = [results[n] for n in range(4)]
"""),
    ("under autocast", True, """
labels = torch.tensor([1, 0, 1], device=device)
with torch.autocast(device, dtype=torch.bfloat16):
    hit = (labels == 1).sum()
    count = torch.zeros((), device=device) + hit
    share = count / labels.numel()
    half = torch.tensor([1.0, 2.0], device=device).to(torch.bfloat16) + 1
answer = [hit.item(), count.item(), str(count.dtype), round(share.item(), 4), half.tolist(), str(half.dtype)]
"""),
    ("under inference mode", True, """
with torch.inference_mode():
    x = torch.zeros(4, dtype=torch.long, device=device)
    for i in range(3):
        x[i + 1] = x[i] + 2
    y = x.clone().mul_(10)
    inside = [x.tolist(), int(y.max())]
answer = [inside, y.tolist(), (x > 2).sum().item()]
"""),
    ("a comparison over a batch by vmap", True, """
rows = torch.tensor([[1, 5, 3], [7, 2, 2]], device=device)
floor = torch.tensor([2, 3], device=device)
count = torch.vmap(lambda r, f: (r > f).sum())(rows, floor)
masked = torch.func.vmap(lambda r: torch.where(r > 2, r, -1))(rows)
first = torch.vmap(lambda r, f: r - f, in_dims=(1, None))(rows, floor)
answer = [count.tolist(), masked.tolist(), first.tolist()]
"""),
    ("with a dispatch mode active", True, """
from torch.utils._python_dispatch import TorchDispatchMode
class Watch(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = set()
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(func._schema.name)
        return func(*args, **(kwargs or {}))
with Watch() as watch:
    x = torch.tensor([4, 1, 3]).to(device)
    x.add_(1)
    top = x.max().item()
    rows = x.sort().values.tolist()
answer = [top, rows, x.tolist(), "aten::add_" in watch.names]
"""),
    ("with a function mode active", True, """
from torch.overrides import TorchFunctionMode
class Double(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return out * 2 if func is torch.full else out
with Double():
    x = torch.full((3,), 4, device=device)
    y = torch.arange(3, device=device) + x
    inside = [y.tolist(), int(x[0])]
answer = [inside, x.sum().item(), (y == 8).nonzero().flatten().tolist()]
"""),
    ("with a default device", True, """
torch.set_default_device(device)
try:
    x = torch.arange(4) + torch.tensor(1)
    y = torch.linspace(0, 2, 5)
    z = torch.eye(2).bool() | torch.zeros(2, 2, dtype=torch.bool)
    with torch.device(device):
        w = torch.full((2,), 1.5)
    answer = [x.tolist(), y.tolist(), z.tolist(), w.tolist(), torch.logspace(0, 3, 4, base=2).tolist()]
finally:
    torch.set_default_device(None)
"""),
    ("through checkpointing", True, """
from torch.utils.checkpoint import checkpoint
seen = torch.zeros((), dtype=torch.long, device=device)
def block(x, mask):
    seen.add_(mask.sum())
    return x * x + mask
x = torch.tensor([1.0, 2.0, 3.0], device=device, requires_grad=True)
mask = torch.tensor([1, 0, 1], device=device)
y = checkpoint(block, x, mask, use_reentrant=False)
first = seen.item()
y.sum().backward()
answer = [y.tolist(), first, seen.item()]
"""),
    ("a function with its own gradient", True, """
class Step(torch.autograd.Function):
    count = torch.zeros(2, dtype=torch.long, device=device)
    @staticmethod
    def forward(ctx, x):
        Step.count[0] += 1
        ctx.save_for_backward(x > 0)
        return (x > 0).float()
    @staticmethod
    def backward(ctx, grad):
        mask, = ctx.saved_tensors
        Step.count[1] += mask.sum()
        return grad * mask
x = torch.tensor([-1.0, 0.5, 2.0], device=device, requires_grad=True)
y = Step.apply(x)
y.sum().backward()
answer = [y.tolist(), Step.count.tolist(), str(y.dtype)]
"""),
    ("hooks that count", True, """
calls = torch.zeros(3, dtype=torch.long, device=device)
layer = nn.Linear(4, 4).to(device)
def before(module, args):
    calls[0] += 1
    calls[2] += (args[0] > 0).sum()
def after(module, args, out):
    calls[1] += out.shape[0]
layer.register_forward_pre_hook(before)
handle = layer.register_forward_hook(after)
x = torch.tensor([[1.0, -1.0, 2.0, 0.0]] * 3, device=device)
layer(x)
handle.remove()
layer(x)
answer = calls.tolist()
"""),
    ("running sums, products and extremes", True, """
x = torch.tensor([2, 1, 3, -1], device=device)
value, index = x.cummax(0)
answer = [x.cumsum(0).tolist(), x.cumprod(0).tolist(), value.tolist(), index.tolist(), x.diff().tolist(), x.prod().item(), x.float().mean().item(), round(x.float().var(unbiased=False).item(), 4), torch.logical_and(x > 0, x < 3).tolist(), x.ne(3).all().item(), x.float().norm(p=1).item()]
"""),
]

# Stale values: memory that was freed, and values overwritten in every possible way.
CASES += [
    ("a freed block taken by what is not known", False, """
big = torch.ones(600, 600, device=device)
u = (big @ big)[0, :256]
a = torch.full((256,), 7.0, device=device)
del a
b = u / 600
c = torch.full((256,), 5.0, device=device)
del c
d = torch.empty(256, device=device)
d.copy_(u)
answer = [b.sum().item(), b[3].item(), d[:2].tolist(), bool((d > 7).all())]
"""),
    ("a freed block taken in other shapes and kinds", True, """
a = torch.full((1024,), 7, dtype=torch.int64, device=device)
first = a[-1].item()
del a
b = torch.zeros(16, device=device)
c = torch.empty(100, dtype=torch.uint8, device=device).fill_(3)
d = torch.empty(512, dtype=torch.float64, device=device)[10:20]
d.copy_(torch.arange(10))
e = torch.ones(3, device=device).half()
del c
f = torch.tensor([True, False, True] * 30).to(device)
answer = [first, b.tolist(), d.tolist(), e.tolist(), f.sum().item()]
"""),
    ("freed blocks of a loop", True, """
out = []
for n in range(6):
    t = torch.full((128 - 16 * n,), n, device=device)
    s = t.cumsum(0)
    out.append([s[-1].item(), t[0].item(), t.unique().tolist()])
    del t, s
    if n == 3 and device == "cuda":
        torch.cuda.empty_cache()
    t = torch.arange(n, n + 4, device=device)
    out.append(t.tolist())
answer = out
"""),
    ("a view that outlives its owner", True, """
def make(n):
    whole = torch.arange(100, device=device) * n
    return whole[10:14], whole.view(10, 10).t()[3]
kept = [make(n) for n in range(1, 4)]
others = [torch.full((100,), -1, device=device) for _ in range(6)]
low = kept[1][0]
low += 1
answer = [[[v.tolist(), w[:2].tolist()] for v, w in kept], sum(o.sum() for o in others).item()]
"""),
    ("the filled part of what is half empty", None, """
a = torch.full((16,), 9, device=device)
del a
b = torch.empty(16, dtype=torch.long, device=device)
b[:8] = 3
b[8:12].copy_(torch.arange(4))
big = torch.ones(600, 600, device=device)
base = torch.zeros(4, 4, device=device)
base[1] = (big @ big)[0, :4] / 600
grid = torch.empty(3, 3, device=device)
grid[1] = 2
grid[:, 0] = 5
rest = b[12:] * 0
answer = [b[:12].tolist(), base[0].tolist(), base[2:, 1:].sum().item(), grid[1].tolist(), grid[:, 0].tolist(), rest.tolist(), base[1].tolist()]
"""),
    ("a tensor resized", None, """
x = torch.arange(4, device=device)
view = x[1:3]
x.resize_(700)
x[4:] = 9
x[1] = 50
filler = torch.full((4,), -7, device=device)
grown = [x[:6].tolist(), x.sum().item(), view.tolist()]
x.resize_(2)
x.add_(1)
short = x.tolist()
x.resize_(2, 2)
answer = [grown, short, x.tolist(), view.tolist(), filler.tolist()]
"""),
    ("tensors set upon the storage of others", None, """
a = torch.arange(6, device=device)
b = torch.zeros(2, dtype=torch.long, device=device)
b.set_(a.untyped_storage(), 2, (3,), (1,))
b += 10
c = torch.full((6,), 4, device=device)
was = c.tolist()
c.set_(a)
c[0] = -1
d = torch.utils.dlpack.from_dlpack(a)
d[5] = 7
a[1] = 100
answer = [was, a.tolist(), b.tolist(), c.tolist(), d.tolist()]
"""),
    ("a storage let go and filled again", None, """
x = torch.arange(8, device=device).float()
view = x.view(2, 4)[1]
before = view.tolist()
storage = x.untyped_storage()
size = storage.size()
storage.resize_(0)
y = torch.full((8,), 3.0, device=device)
storage.resize_(size)
x.copy_(torch.arange(8) * 2)
answer = [before, x.tolist(), view.tolist(), y.tolist()]
"""),
    ("a storage let go and gathered from what is not known", False, """
big = torch.ones(600, 600, device=device)
u = (big @ big)[1, :8] / 600
flat = torch.full((8,), 3.0, device=device)
part = flat[2:4]
storage = flat.untyped_storage()
size = storage.size()
storage.resize_(0)
storage.resize_(size)
flat.copy_(u)
answer = [flat.tolist(), part.tolist(), flat.sum().item()]
"""),
    ("bytes written into a storage", None, """
x = torch.zeros(4, dtype=torch.int32, device=device)
y = torch.tensor([5, 6, 7, 8], dtype=torch.int32, device=device)
before = (x + y).tolist()
x.untyped_storage().fill_(1)
after = x.tolist()
x.untyped_storage().copy_(y.untyped_storage())
y.fill_(0)
clone = torch.empty(0, dtype=torch.int32, device=device).set_(x.untyped_storage().clone())
x[0] = 9
answer = [before, after, x.tolist(), clone.tolist()]
"""),
    ("data swapped", True, """
a = torch.tensor([1.0, 2.0], device=device)
b = torch.tensor([3.0, 4.0], device=device)
a.data, b.data = b.data, a.data
a.add_(10)
p = nn.Parameter(torch.zeros(2, device=device))
old = p.data
p.data = torch.full((2,), 6.0, device=device)
old.fill_(9)
c = torch.tensor([7.0, 7.5], device=device)
d = torch.tensor([8.0], device=device)
torch.utils.swap_tensors(c, d)
front, back = torch.zeros(2, device=device), torch.ones(2, device=device)
for n in range(3):
    back.copy_(front + n)
    front, back = back, front
answer = [a.tolist(), b.tolist(), p.tolist(), old.tolist(), c.tolist(), d.tolist(), front.tolist(), back.tolist()]
"""),
    ("results put where they are told", True, """
a = torch.tensor([1, 5, 3], device=device)
c = torch.zeros(3, dtype=torch.long, device=device)
torch.add(a, a, out=c)
mask = torch.ones(3, dtype=torch.bool, device=device)
torch.gt(a, 2, out=mask)
row = torch.zeros(6, dtype=torch.long, device=device)
torch.mul(a, 2, out=row[1:4])
joined = torch.empty(0, dtype=torch.long, device=device)
torch.cat([a, a], out=joined)
value, index = torch.full((1,), -1, device=device), torch.full((1,), -1, device=device)
torch.max(a.view(1, 3), 1, out=(value, index))
line = torch.full((5,), -1, device=device)
torch.arange(5, 10, out=line)
torch.cumsum(line, 0, out=line)
answer = [c.tolist(), mask.tolist(), row.tolist(), joined.tolist(), value.item(), index.item(), line.tolist()]
"""),
    ("what is not known put where something known was", False, """
big = torch.ones(600, 600, device=device)
whole = torch.zeros(600, 600, device=device)
torch.matmul(big, big, out=whole)
u = whole[2, :3]
small = torch.tensor([7.0, 8.0, 9.0], device=device)
torch.div(u, 600, out=small)
joined = torch.zeros(6, device=device)
torch.cat([u, small], out=joined)
mean = torch.zeros((), device=device)
torch.mean(small, 0, out=mean)
p = nn.Parameter(torch.zeros(3, device=device))
p.data = small
flag = torch.zeros(3, dtype=torch.bool, device=device)
torch.gt(u, 5, out=flag)
answer = [whole[0, 0].item(), small.tolist(), joined.tolist(), mean.item(), p.tolist(), flag.tolist()]
"""),
    ("lists of tensors changed at once", True, """
xs = [torch.tensor([1.0, 2.0], device=device), torch.tensor([3.0], device=device)]
ys = [torch.ones(2, device=device), torch.full((1,), 4.0, device=device)]
torch._foreach_mul_(xs, 2)
torch._foreach_add_(xs, ys, alpha=0.5)
more = torch._foreach_add(xs, 1)
kept = [torch.zeros(2, device=device), torch.zeros(1, device=device)]
torch._foreach_copy_(kept, xs)
torch._foreach_lerp_(xs, ys, 0.5)
torch._foreach_addcmul_(more, ys, ys, value=2.0)
torch._foreach_zero_(ys)
answer = [[t.tolist() for t in group] for group in (xs, ys, more, kept)]
"""),
    ("lists of tensors spoilt at once", False, """
big = torch.ones(600, 600, device=device)
product = (big @ big) / 600
us = [product[0, :2], product[:3, 1]]
make = lambda: [torch.full((2,), 3.0, device=device), torch.full((3,), 5.0, device=device)]
added, copied, mixed, scaled = make(), make(), make(), make()
torch._foreach_add_(added, us)
torch._foreach_copy_(copied, us)
torch._foreach_lerp_(mixed, us, 0.5)
torch._foreach_mul_(scaled, us)
answer = [[t.tolist() for t in group] for group in (added, copied, mixed, scaled)]
"""),
    ("what is not known written through views", False, """
big = torch.ones(600, 600, device=device)
u = (big @ big)[0, :4] / 600
base = [torch.zeros(4, 4, device=device) for _ in range(8)]
base[0][1] = u
base[1].t()[2].copy_(u)
base[2].view(-1)[:4].add_(u)
base[3].detach()[0].add_(u)
base[4].data.copy_(u)
base[5][3].view(torch.int32).copy_(u.view(torch.int32))
with torch.no_grad():
    base[6].as_strided((4,), (5,)).copy_(u)
with torch.inference_mode():
    base[7][:, 1:].add_(u[1:])
answer = [base[0][1].tolist(), base[0].sum().item(), base[1][:, 2].tolist(), base[2][0].tolist(), base[3][0].tolist(), base[4].tolist(), base[5][3].tolist(), base[6].diagonal().tolist(), base[7][2, 1:].tolist()]
"""),
    ("what is not known written by index and mask", False, """
big = torch.ones(600, 600, device=device)
u = (big @ big)[0, :4] / 600
index = torch.tensor([3, 1, 0, 2], device=device)
k = [torch.full((4,), 2.0, device=device) for _ in range(7)]
k[0][index] = u
k[1].masked_fill_(u > 0, 5.0)
k[2].scatter_(0, index, u)
k[3].index_add_(0, index, u)
k[4].fill_(u[0])
k[5].masked_scatter_(torch.ones(4, dtype=torch.bool, device=device), u)
k[6].copy_(torch.where(u > 3, k[6], u))
answer = [t.tolist() for t in k]
"""),
    ("known values written through views", True, """
x = torch.zeros(3, 4, device=device)
x.t()[0] = 1
x.view(-1)[5] = 7
x.diagonal().add_(2)
x.as_strided((2,), (5,), 1).fill_(9)
x.unbind(0)[2].mul_(3)
x.view(torch.int32)[0, 3] = 1065353216
x.narrow(1, 2, 1).sub_(0.5)
row = x[0].expand(2, 4)
x[0, 0] = -8
z = torch.tensor([1 + 2j, 3 + 4j], device=device)
z.real.zero_()
z.imag[1] = 5
bits = torch.zeros(2, dtype=torch.int16, device=device)
bits.view(torch.uint8)[1] = 1
answer = [x.tolist(), row.tolist(), z.tolist(), bits.tolist()]
"""),
    ("what was not known made known again", True, """
big = torch.ones(600, 600, device=device)
product = big @ big
rows = [product[n, :3].clone() for n in range(4)]
rows[0].zero_()
rows[1].copy_(torch.tensor([1.0, 2.0, 3.0]))
rows[2][:] = 2.5
rows[3].data = torch.arange(3.0).to(device)
layer = nn.Linear(600, 2).to(device)
first = {"weight": torch.zeros(2, 600), "bias": torch.tensor([0.5, -0.5])}
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
layer(product).square().mean().backward()
opt.step()
layer.load_state_dict(first)
opt.zero_grad(set_to_none=False)
gradient = layer.bias.grad.tolist()
layer.half()
answer = [[r.tolist() for r in rows], gradient, layer.bias.tolist(), layer.weight.sum().item(), str(layer.bias.dtype)]
"""),
    ("a tied parameter after a step, through its aliases", False, """
big = torch.ones(600, 600, device=device)
emb = nn.Embedding(4, 600, device=device)
head = nn.Linear(600, 4, bias=False, device=device)
nn.init.ones_(emb.weight)
head.weight = emb.weight
alias, state = emb.weight.detach()[1], emb.state_dict()
opt = torch.optim.SGD(head.parameters(), lr=1.0)
F.cross_entropy(head((big @ big)[:3] / 600), torch.tensor([1, 1, 1], device=device)).backward()
opt.step()
answer = [round(alias[0].item(), 4), round(emb(torch.tensor([2], device=device))[0, 0].item(), 4), round(state["weight"][1, 5].item(), 4), round(head.weight.grad[1, 0].item(), 4)]
"""),
    ("an average of what is not known", False, """
big = torch.ones(600, 600, device=device)
u = (big @ big)[7, :3] / 600
ema = torch.zeros(3, device=device)
ema.mul_(0.5).add_(u, alpha=0.5)
other = torch.tensor([3.0, 5.0, 7.0], device=device)
torch.lerp(other, u, 0.5, out=other)
third = torch.tensor([1.0, 1.0, 1.0], device=device)
third.addcmul_(u, u, value=2.0)
total = torch.zeros((), device=device)
total += u.sum()
answer = [ema.tolist(), other.tolist(), third.tolist(), total.item(), total.item() / 3]
"""),
    ("another stream changes what is known", True, """
x = torch.arange(6, device=device)
first = x.tolist()
def change():
    x.add_(10)
    t = torch.full((6,), 2, device=device)
    x.mul_(t)
    return x[2:4].clone()
if device == "cuda":
    side, done = torch.cuda.Stream(), torch.cuda.Event()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = change()
        done.record()
    torch.cuda.current_stream().wait_event(done)
    y.record_stream(torch.cuda.current_stream())
    x.record_stream(side)
else:
    y = change()
z = torch.full((6,), 1, device=device)
answer = [first, x.tolist(), y.tolist(), z.tolist()]
"""),
    ("another stream spoils what is known", False, """
big = torch.ones(600, 600, device=device)
k = torch.full((4,), 3.0, device=device)
if device == "cuda":
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        k.copy_((big @ big)[0, :4])
        k.div_(600)
    torch.cuda.current_stream().wait_stream(side)
else:
    k.copy_((big @ big)[0, :4])
    k.div_(600)
answer = [k.tolist(), (k > 2).any().item(), int(k[1])]
"""),
    ("a pinned source changed after its copy", True, """
cuda = device == "cuda"
wait = torch.cuda.synchronize if cuda else (lambda: None)
host = torch.arange(6)
if cuda:
    host = host.pin_memory()
x = host.to(device, non_blocking=True, copy=True)
wait()
host.fill_(-1)
y = host.to(device, non_blocking=True, copy=True)
wait()
host[2] = 8
z = torch.zeros(6, dtype=torch.long, device=device)
z[1:].copy_(host[1:], non_blocking=True)
wait()
host.zero_()
back = torch.empty(6, dtype=torch.long, pin_memory=cuda)
back.copy_(x, non_blocking=True)
wait()
x.mul_(2)
answer = [x.tolist(), y.tolist(), z.tolist(), back.tolist()]
"""),
    ("a graph that changes what is known", None, """
count = torch.zeros(3, dtype=torch.long, device=device)
source = torch.tensor([1, 2, 3], device=device)
def body():
    count.add_(source)
    return count * 2
if device == "cuda":
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = body()
    held = count.tolist()
    graph.replay()
    first = [count.tolist(), out.tolist()]
    source.copy_(torch.tensor([10, 20, 30]))
    graph.replay()
    graph.replay()
    torch.cuda.synchronize()
else:
    held = count.tolist()
    out = body()
    first = [count.tolist(), out.tolist()]
    source.copy_(torch.tensor([10, 20, 30]))
    body()
    out = body()
answer = [held, first, count.tolist(), out.tolist(), source.tolist()]
"""),
    ("a graph that spoils what is known", False, """
big = torch.ones(600, 600, device=device)
u = (big @ big)[0, :4] / 600
k = torch.full((4,), 3.0, device=device)
if device == "cuda":
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        k.add_(u)
    graph.replay()
    torch.cuda.synchronize()
else:
    k.add_(u)
answer = [k.tolist(), k.sum().item(), bool((k == 3).any())]
"""),
    ("draws over what was known", True, """
make = lambda: torch.full((64,), 7.0, device=device)
a, b, c, d = make().uniform_(2, 3), make().bernoulli_(0.5), make().random_(0, 5), make()
torch.rand(64, out=d)
e = torch.full((64,), 7, device=device)
torch.randint(0, 5, (64,), out=e)
torch.randperm(64, out=e)
p = nn.Parameter(make())
nn.init.uniform_(p, -1.0, 1.0)
answer = [bool(((a >= 2) & (a <= 3)).all()), ((b == 0) | (b == 1)).all().item(), bool((c < 5).all()), (d < 1).all().item(), e.sort().values.tolist() == list(range(64)), bool((p.abs() <= 1).all())]
"""),
]
