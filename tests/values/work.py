"""Cases of values: the half that the code was written with. `check.py` says how they are judged."""

# Name, whether every value that is read must be known (True), must be unknown (False), or either is right (None), and the program.
# `device` is the device; what the program leaves in `answer` is compared with that of the same lines on the CPU.
CASES = [
    ("copied labels", True, "x = torch.tensor([3, 1, 2]).to(device)\nanswer = [x.tolist(), x[1].item(), int(x.max()), x.sum().item()]"),
    ("factories", True, """
answer = [torch.full((3,), 7, device=device)[0].item(), torch.arange(2, 9, 3, device=device).tolist(), torch.eye(2, device=device).tolist(),
          torch.linspace(0, 1, 5, device=device).tolist(), torch.ones(2, device=device).tolist(), torch.zeros(2, device=device).tolist()]
"""),
    ("a freed tensor is not read again", None, """
x = torch.full((1000,), 7, dtype=torch.int32, device=device)
del x
answer = torch.zeros(1000, device=device, dtype=torch.int32).sum().item()
"""),
    ("an empty tensor in the block of a freed one", False, "x = torch.tensor([1.5] * 64).to(device)\ndel x\ny = torch.empty(64, device=device)\nanswer = [0 * len(y.tolist())]"),
    ("a mask's count divides", True, "m = torch.tensor([True, False, True]).to(device)\nanswer = 6 / int(m.sum())"),
    ("accuracy of given predictions", True, """
p, y = torch.tensor([1, 0, 2, 2]).to(device), torch.tensor([1, 1, 2, 0]).to(device)
answer = [(p == y).float().mean().item(), (p == y).sum().item() / len(y), p.eq(y).cpu().tolist()]
"""),
    ("confusion matrix by bincount", True, """
p, y = torch.tensor([1, 0, 2, 2]).to(device), torch.tensor([1, 1, 2, 0]).to(device)
answer = torch.bincount(y * 3 + p, minlength=9).reshape(3, 3).tolist()
"""),
    ("nonzero, masks, where", True, """
x = torch.tensor([0, 3, 0, 5, 1]).to(device)
answer = [x.nonzero().tolist(), x[x > 2].tolist(), torch.where(x > 0)[0].tolist(), torch.masked_select(x, x != 0).tolist(), len(x[x == 9])]
"""),
    ("unique with all it returns", True, """
x = torch.tensor([4, 2, 4, 4, 1]).to(device)
answer = [it.tolist() for it in torch.unique(x, return_inverse=True, return_counts=True)] + [torch.unique_consecutive(x).tolist()]
"""),
    ("unique booleans", True, """
masks = [[False] * 4, [True] * 3, [False, True, False], [True]]
answer = [[it.tolist() for it in torch.unique(torch.tensor(mask).to(device), return_counts=True, return_inverse=True)] for mask in masks]
"""),
    ("unique rows", True, "x = torch.tensor([[1, 2], [3, 4], [1, 2]]).to(device)\nanswer = torch.unique(x, dim=0).tolist()"),
    ("repeat_interleave", True, """
r = torch.tensor([1, 0, 3]).to(device)
answer = [torch.repeat_interleave(r).tolist(), torch.tensor([5, 6, 7]).to(device).repeat_interleave(r).tolist()]
"""),
    ("lengths of packed sequences", True, """
s = torch.tensor([[0, 0, 1, 1, 1, 2]]).to(device)
starts = torch.nonzero(torch.diff(s[0], prepend=torch.tensor([-1]).to(device))).flatten()
answer = [starts.tolist(), torch.bincount(s[0]).tolist(), int(torch.bincount(s[0]).max())]
"""),
    ("labels with -100", True, "y = torch.tensor([[5, -100, 2], [-100, -100, 1]]).to(device)\nanswer = [(y != -100).sum().item(), y[y != -100].tolist(), (y != -100).sum(1).tolist()]"),
    ("positions of a mask", True, "m = torch.tensor([[1, 1, 0], [0, 1, 1]]).to(device)\nanswer = (m.cumsum(-1) * m - 1).clamp(min=0).tolist()"),
    ("a routing by given experts", True, """
e = torch.tensor([[0, 2], [1, 2], [2, 0]]).to(device)
hot = F.one_hot(e, 3)
answer = [hot.sum((0, 1)).tolist(), [torch.where(e == k)[0].tolist() for k in range(3)], hot.cumsum(0).tolist()]
"""),
    ("degrees of a graph", True, """
edges = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 2]]).to(device)
n = int(edges.max()) + 1
degree = torch.zeros(n, device=device).scatter_add_(0, edges[1], torch.ones(4, device=device))
keep = edges[0] != edges[1]
answer = [n, degree.tolist(), edges[:, keep].tolist(), degree.pow(-0.5).masked_fill_(degree == 0, 0).tolist()]
"""),
    ("a batch of graphs", True, "b = torch.tensor([0, 0, 1, 1, 1]).to(device)\nanswer = [int(b.max()) + 1, torch.zeros(2, dtype=torch.long, device=device).index_add_(0, b, torch.ones_like(b)).tolist()]"),
    ("argsort and order", True, "x = torch.tensor([3., 1., 2.]).to(device)\nv, i = x.sort(descending=True)\nanswer = [v.tolist(), i.tolist(), x.argsort().tolist(), x.topk(2).indices.tolist(), x.argmax().item()]"),
    ("a counter", True, "c = torch.zeros((), dtype=torch.long, device=device)\nfor _ in range(5): c += 1\nanswer = [c.item(), bool(c > 4)]"),
    ("a loop that a value ends", True, "x = torch.ones(1, device=device)\nn = 0\nwhile x.item() < 10:\n    x = x * 2\n    n += 1\nanswer = n"),
    ("written in pieces", True, "x = torch.empty(6, device=device)\nx[:2] = 1\nx[2:5] = torch.tensor([4., 5., 6.])\nx[5] = 9\nanswer = x.tolist()"),
    ("half known", False, "x = torch.empty(4, device=device)\nx[:2] = 1\nanswer = [0 * len(x.tolist())]"),
    ("the known half", True, "x = torch.empty(4, device=device)\nx[:2] = 1\nanswer = x[:2].tolist()"),
    ("unknown over known", False, "x = torch.ones(4, device=device)\nx.copy_(torch.ones(4, 4, device=device) @ x)\nanswer = x.tolist()"),
    ("unknown into a slice", True, "x = torch.ones(4, device=device)\nx[0] = (torch.ones(1, 4, device=device) @ x)[0]\nanswer = x[1:].tolist()"),
    ("a product is unknown", False, "w = torch.ones(3, 3, device=device)\nanswer = (w @ w).sum().item()"),
    ("in place without a stand-in", None, "x = torch.tensor([0.5]).to(device)\nx.erf_()\nanswer = x.item()"),
    ("several in place at once", None, "x = torch.tensor([0.5]).to(device)\ntorch._foreach_add_([x], 1)\nanswer = x.item()"),
    ("out=", None, "x = torch.tensor([1, 2]).to(device)\ny = torch.tensor([5, 5]).to(device)\ntorch.add(x, 1, out=y)\nanswer = y.tolist()"),
    ("through .data", None, "x = torch.tensor([1., 2.]).to(device)\nx.data.add_(1)\nanswer = x.data.tolist()"),
    ("through a view", True, "x = torch.arange(6, device=device)\nx.view(2, 3)[1].zero_()\nanswer = x.tolist()"),
    ("another dtype of the same bytes", True, "x = torch.tensor([1, 256], dtype=torch.int32).to(device)\nanswer = x.view(torch.uint8).tolist()"),
    ("a parameter after a step", False, """
p = nn.Parameter(torch.ones(2).to(device))
o = torch.optim.SGD([p], lr=0.5)
(torch.ones(2, 2, device=device) @ p).sum().backward()
o.step()
answer = p.tolist()
"""),
    ("a parameter before a step", True, "p = nn.Parameter(torch.ones(2)).to(device)\nanswer = p.sum().item()"),
    ("wrapped numbers keep the dtype", True, """
x, y = torch.tensor(2.0, device=device), torch.tensor([1, 2], device=device)
answer = [str((x * 2.5).dtype), str((y * 2.5).dtype), str((y * 2).dtype), str((x + 1).dtype), (y * 2.5).tolist(), str((x.half() * 2.0).dtype),
          str((torch.tensor(3, device=device) * 2.5).dtype), str((torch.tensor(True, device=device) + 1).dtype), str((y.to(torch.uint8) + 3).dtype)]
"""),
    ("where with numbers", True, "x = torch.tensor([1., -1.]).to(device)\nr = torch.where(x > 0, 1, 0.5)\nanswer = [str(r.dtype), r.tolist(), torch.where(x > 0, x, 0.0).tolist()]"),
    ("index_put", True, "x = torch.zeros(4, dtype=torch.long, device=device)\nx.index_put_((torch.tensor([1, 1, 3]).to(device),), torch.tensor([1, 1, 1]).to(device), accumulate=True)\nanswer = x.tolist()"),
    ("masked assignment", True, "x = torch.arange(5, device=device)\nx[x > 2] = -1\nanswer = x.tolist()"),
    ("a buffer's pinned source changes after the copy", True, """
source = torch.tensor([1, 2, 3])
source = source.pin_memory() if device == "cuda" else source
x = source.to(device, non_blocking=True)
x = x.clone()
answer = x.tolist()
"""),
    ("equal and allclose", True, "x = torch.tensor([1., 2.]).to(device)\nanswer = [torch.equal(x, x.clone()), torch.allclose(x, x + 1e-9), torch.equal(x, x + 1)]"),
    ("saved and loaded", None, """
import io
f = io.BytesIO()
torch.save(torch.arange(4, device=device) * 2, f)
f.seek(0)
answer = torch.load(f, map_location=device).tolist()
"""),
    ("inference mode", True, "with torch.inference_mode():\n    x = torch.arange(3, device=device)\n    x += 1\n    answer = x.tolist()"),
    ("no stand-in in inference mode", None, "with torch.inference_mode():\n    x = torch.ones(2, device=device)\n    x.erf_()\n    answer = x.tolist()"),
    ("autograd through known values", None, "x = torch.tensor([1., 2.], device=device, requires_grad=True)\n(x * x).sum().backward()\nanswer = x.grad.tolist()"),
    ("draws are draws", True, "answer = [sorted(torch.randperm(8, device=device).tolist()), bool((torch.randint(3, 5, (20,), device=device) >= 3).all()), 0 <= torch.rand(1, device=device).item() < 1]"),
    ("a mode is active", True, """
from torch.utils._python_dispatch import TorchDispatchMode
seen = []
class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        seen.append(str(func))
        return func(*args, **(kwargs or {}))
x = torch.tensor([1, 2, 3]).to(device)
with Mode():
    y = x + 1
answer = [y.tolist(), len(seen)]
"""),
    ("a default device", True, "torch.set_default_device(device)\ntry:\n    x = torch.tensor([1, 2]) * 2\n    answer = [x.tolist(), str(x.device.type == device)]\nfinally:\n    torch.set_default_device(None)"),
    ("a default dtype", True, "torch.set_default_dtype(torch.float64)\ntry:\n    x = torch.ones(2, device=device) * 0.1\n    answer = [str(x.dtype), x.tolist()]\nfinally:\n    torch.set_default_dtype(torch.float32)"),
    ("in a thread", True, """
import threading
out = []
def work():
    x = torch.tensor([4, 5]).to(device)
    out.append((x * 2).tolist())
thread = threading.Thread(target=work)
thread.start()
thread.join()
answer = out
"""),
    ("vmap of a comparison", None, "x = torch.tensor([[1, 2], [3, 4]]).to(device)\nanswer = torch.func.vmap(lambda row: (row > 1).sum())(x).tolist()"),
    ("a storage that is resized", None, """
x = torch.tensor([1., 2., 3.]).to(device)
x.untyped_storage().resize_(0)
x.untyped_storage().resize_(12)
x.zero_()
answer = x.tolist()
"""),
    ("a sum of a large tensor", None, "x = torch.ones(1 << 20, device=device)\nanswer = x.sum().item()"),
    ("a sum of sums", True, "x = torch.ones(1000, device=device)\nanswer = [x.sum().item(), x.mean().item(), x.std().item(), x.var(unbiased=False).item(), x.norm().item()]"),
    ("schedules", True, "b = torch.linspace(1e-4, 0.02, 10, device=device)\na = (1 - b).cumprod(0)\nt = torch.tensor([0, 9]).to(device)\nanswer = a.gather(0, t).sqrt().tolist()"),
    ("batch norm counts", True, "m = nn.BatchNorm1d(3).to(device)\nfor _ in range(3): m(torch.randn(4, 3).to(device))\nanswer = m.num_batches_tracked.item()"),
    ("batch norm's running mean", None, "m = nn.BatchNorm1d(3).to(device)\nm(torch.ones(4, 3).to(device))\nanswer = m.running_mean.tolist()"),
    ("formatting", True, "x = torch.tensor([1.25, 2.5]).to(device)\nanswer = [f'{x[0].item():.2f}', str(x.cpu()), repr(x.tolist())]"),
    ("complex", True, "x = torch.tensor([1 + 2j, 3j]).to(device)\nanswer = [x.real.tolist(), x.imag.tolist(), x.abs().tolist(), x.conj().imag.tolist()]"),
    ("half precision", True, "x = torch.tensor([1.5, 2.5], dtype=torch.bfloat16).to(device)\nanswer = [(x * 2).tolist(), x.float().sum().item(), x.half().tolist()]"),
    ("coalesce", None, "i = torch.tensor([[0, 1, 0]]).to(device)\ns = torch.sparse_coo_tensor(i, torch.ones(3, device=device), (3,)).coalesce()\nanswer = s.indices().shape[1] > 0"),
    ("a freed one decides no size", None, """
x = torch.tensor(1.0).to(device)
del x
c = torch.bincount(torch.zeros(64, dtype=torch.long, device=device))
answer = c.tolist()
"""),
    ("shapes by list", True, "s = torch.tensor([2, 3]).to(device)\nanswer = [list(p.shape) for p in torch.arange(5, device=device).split(s.tolist())] + [list(torch.zeros(*s.tolist(), device=device).shape)]"),
    ("gathered logits of known tokens", None, "logits = torch.randn(2, 5).to(device)\nt = torch.tensor([[1], [4]]).to(device)\nanswer = logits.gather(1, t).shape[0]"),
    ("iteration", True, "answer = [int(it) for it in torch.tensor([4, 5, 6]).to(device)]"),
    ("a graph's replay", None, """
if device == "cuda":
    x = torch.zeros(2, device=device)
    g = torch.cuda.CUDAGraph()
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        x.add_(1)
    torch.cuda.synchronize()
    with torch.cuda.graph(g):
        x.add_(1)
    x.zero_()
    g.replay()
else:
    x = torch.ones(2)
answer = x.tolist()
"""),
    ("threads at once", True, """
import threading
found = {}
def work(n):
    x = torch.arange(n, device=device)
    for _ in range(20):
        x = (x * 3 + n) % 7
        x[0] = n
    found[n] = x.tolist()
threads = [threading.Thread(target=work, args=(n,)) for n in range(2, 8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
answer = [found[n] for n in range(2, 8)]
"""),
    ("a kind of tensor of the program's own", True, """
asked = []
class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        asked.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})
x = torch.tensor([1, 2]).to(device).as_subclass(Mine)
y = x + 1
n = len(asked)
answer = [y.as_subclass(torch.Tensor).tolist(), n]
"""),
    ("numbers that are made tensors of the device", None, """
x = torch.tensor([1., 2., 3.]).to(device)
answer = [(2 ** x).shape[0], torch.searchsorted(x, 2).item(), torch.bucketize(2.5, x).item(), torch.isin(2, x).item(), str((2 ** x).dtype),
          str(torch.float_power(2, x).dtype)]
"""),
    ("what a kernel of Triton may write", False, """
x, out = torch.arange(4, device=device), torch.zeros(4, dtype=torch.long, device=device)
if device == "cuda":
    from kernels import add_one
    add_one[(1,)](x, out, 4, BLOCK=4)
else:
    out = x + 1
answer = out.tolist()
"""),
    ("what a kernel of Triton was not given", True, """
x, out, other = torch.arange(4, device=device), torch.zeros(4, dtype=torch.long, device=device), torch.tensor([5, 6], device=device)
if device == "cuda":
    from kernels import add_one
    add_one[(1,)](x, out, 4, BLOCK=4)
answer = other.tolist()
"""),
    ("a sum of an unknown mask divides", False, "w = torch.ones(3, 3, device=device)\nanswer = [0 * (6 / int((w @ w > 0).sum()))]"),
    ("indices of an unknown topk divide", False, "w = torch.ones(9, 9, device=device)\nanswer = [0 * (96 // n) for n in (w @ w).topk(3).indices[0].tolist() if n] or [0, 0, 0]"),
    ("topk along every dimension", None, """
x = torch.ones(3, 4, 5, device=device)
unknown = (x @ x.transpose(1, 2)).reshape(3, 4, 4)
answer = [list(unknown.topk(2, dim).indices.cpu().shape) for dim in (0, 1, 2, -1, -2, -3)] + [len(set(unknown.topk(2, 1).indices[0, :, 0].tolist())) == 2]
"""),
    ("topk of one number", True, "x = torch.tensor(3.0).to(device)\nanswer = [x.topk(1).values.item(), x.topk(1).indices.item()]"),
    ("topk of one unknown number", False, "w = torch.ones(3, 3, device=device)\nanswer = [0 * (w @ w).sum().topk(1).indices.item()]"),
    ("equality of shapes that differ", True, "x = torch.tensor([1, 2]).to(device)\nanswer = [torch.equal(x, x[:1]), torch.equal(x, x.view(2, 1))]"),
    ("half precision in sets", True, "x = torch.tensor([2.0, 1.0, 2.0]).to(device)\nanswer = [[len(x.to(t).unique()), x.to(t).nonzero().tolist()] for t in (torch.float16, torch.bfloat16, torch.float64)]"),
    ("the longest row of a large mask", True, """
mask = (torch.arange(4096)[None] < (torch.arange(256) * 37 % 3001)[:, None]).long().to(device)
longest = int(mask.sum(1).max())
answer = [longest, list(mask[:, :longest].shape), int(mask.bool().sum()), int(mask.float().sum(-1).max())]
"""),
    ("nodes and degrees of many edges", True, """
edges = (torch.arange(600_000).view(2, -1) * 7919 % 12_347).to(device)
nodes = int(edges.max()) + 1
answer = [nodes, int(torch.bincount(edges[1], minlength=nodes).max()), edges[:, edges[0] < 5].shape[1], torch.unique(edges[0]).numel()]
"""),
    ("large labels changed in place, and a copy that is not", True, """
y = (torch.arange(300_000) % 100).to(device)
before = y.clone()
kept = (y != 3).sum()
y[y == 3] = -100
y[:100_000].add_(1)
answer = [int((y != -100).sum()), int(before.sum()), int(y.sum()), int(kept)]
"""),
    ("a large host tensor that changes after it was copied", True, """
host = torch.arange(300_000)
y = host.to(device, copy=True)
shifted = y * 2
host.zero_()
answer = [int(y.max()), int(shifted.max())]
"""),
    ("voxels of many points", True, """
points = (torch.arange(900_000) % 977).view(-1, 3).double().div(100).to(device)
cells = (points / 0.5).floor().long()
answer = [torch.unique(cells, dim=0).shape[0], cells.max(0).values.tolist()]
"""),
    ("a large buffer filled part by part", True, """
b = torch.empty(400_000, dtype=torch.long, device=device)
for part in range(4):
    b[part * 100_000 : (part + 1) * 100_000] = torch.arange(100_000) + part
answer = [int(b.sum()), int(b[250_000])]
"""),
    ("results of several outputs put where they are told", True, """
x = torch.tensor([[3, 1, 2], [7, 5, 9]]).to(device)
value, index = torch.full((2,), -1, device=device), torch.full((2,), -1, device=device)
answer = []
for name in ("max", "min", "median", "nanmedian", "mode", "cummax", "cummin", "sort", "kthvalue"):
    value, index = torch.full_like(x[:, 0], -1), torch.full_like(x[:, 0], -1)
    getattr(torch, name)(x, *((2,) if name == "kthvalue" else ()), 1, out=(value, index))
    answer.append([name, value.tolist(), index.tolist()])
"""),
    ("observers in inference mode", True, """
low, high = torch.zeros(()).to(device), torch.zeros(()).to(device)
with torch.inference_mode():
    for part in ([1.5, -2.0], [0.5, 4.0]):
        least, most = torch.aminmax(torch.tensor(part).to(device))
        torch.minimum(low, least, out=low)
        torch.maximum(high, most, out=high)
    answer = [low.item(), high.item()]
"""),
    ("an observer of what a model computes", False, """
low = torch.zeros(()).to(device)
with torch.inference_mode():
    torch.minimum(low, (torch.eye(3, device=device) @ torch.eye(3, device=device)).min(), out=low)
    answer = [low.item() * 0]
"""),
    ("a moving average of fake quantization", False, """
one, low, high, scale = (torch.ones(1).to(device) for _ in range(4))
zero = torch.zeros(1, dtype=torch.int32).to(device)
flag = torch.ones(1, dtype=torch.long).to(device)
if device == "cuda":
    torch.fused_moving_avg_obs_fake_quant(torch.ones(2, 2).to(device), flag, flag, low, high, scale, zero, 0.1, 0, 255, 0)
answer = [low.item() * 0]
"""),
    ("an alias by DLPack", False, """
x = torch.zeros(4, dtype=torch.long).to(device)
torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)).fill_(5)
answer = [x[0].item() * 0]
"""),
    ("the alias itself, after the original was written", False, """
x = torch.zeros(4, dtype=torch.long).to(device)
alias = torch.from_dlpack(x)
alias.fill_(3)
x.fill_(5)
answer = [alias[0].item() * 0]
"""),
    ("copies and fills by CUDA's runtime", True, """
import ctypes
x, y, z, w = (torch.full((4,), 16, dtype=torch.long).to(device) for _ in range(4))
source = np.array([7, 8, 9, 10], dtype=np.int64)
if device == "cuda":
    runtime = ctypes.CDLL(next(f"libcudart.so.{it}" for it in (13, 12) if torch.version.cuda.startswith(str(it))))
    place = lambda it, offset=0: ctypes.c_void_p(it.data_ptr() + offset)
    runtime.cudaMemcpy(place(x), ctypes.c_void_p(source.ctypes.data), ctypes.c_size_t(32), 1)
    runtime.cudaMemcpyAsync(place(y, 8), ctypes.c_void_p(source.ctypes.data), ctypes.c_size_t(16), 1, None)
    runtime.cudaMemset(place(z), 0, ctypes.c_size_t(32))
    runtime.cudaMemcpy2D(place(w, 8), ctypes.c_size_t(16), ctypes.c_void_p(source.ctypes.data), ctypes.c_size_t(8), ctypes.c_size_t(8), ctypes.c_size_t(2), 1)
else:
    x.copy_(torch.from_numpy(source))
    y[1:3] = torch.tensor([7, 8])
    z.zero_()
    w[1::2] = torch.tensor([7, 8])
x[0] += 1
answer = [x.tolist(), y.tolist(), z.tolist(), w.tolist()]
"""),
    ("a copy on the device by CUDA's runtime", False, """
import ctypes
x, y = torch.arange(4).to(device), torch.zeros(4, dtype=torch.long).to(device)
x.add_(1)
if device == "cuda":
    ctypes.CDLL(None).cudaMemcpy(ctypes.c_void_p(y.data_ptr()), ctypes.c_void_p(x.data_ptr()), ctypes.c_size_t(32), 3)
answer = [y[0].item() * 0]
"""),
]
