"""Cases of values: the half written by somebody else, before the first run. `check.py` explains the judgement."""

# Name, whether every value that is read must be known (True), must be unknown (False), or either is right (None), and the program.
# `device` is the device; what the program leaves in `answer` is compared with that of the same lines on the CPU.
CASES = [
    ("items of labels", True, """
labels = torch.tensor([3, 1, 2]).to(device)
answer = [labels.max().item(), int(labels[1]), (labels == 2).sum().item()]
"""),
    ("accuracy kept over batches of given predictions", True, """
correct = torch.zeros((), dtype=torch.long, device=device)
total = 0
for pred, label in [([1, 2, 0, 3], [1, 2, 2, 3]), ([0, 0, 1, 3], [0, 1, 1, 3]), ([2, 2], [1, 2])]:
    pred, label = torch.tensor(pred).to(device), torch.tensor(label).to(device)
    correct += pred.eq(label).sum()
    total += label.numel()
answer = {"correct": correct.item(), "accuracy": correct.item() / total, "dtype": str(correct.dtype)}
"""),
    ("ignored labels", True, """
labels = torch.tensor([[5, -100, 7, -100], [-100, -100, 1, 2]], device=device)
kept = labels != -100
per_row = kept.sum(dim=1)
clean = labels.masked_fill(~kept, 0)
first = kept.int().argmax(dim=1)
answer = [per_row.tolist(), clean.tolist(), first.tolist(), labels[kept].tolist(), bool((labels == -100).any())]
"""),
    ("positions by cumsum of the mask", True, """
mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, 1, 1]], device=device)
position = mask.long().cumsum(-1) - 1
position.masked_fill_(mask == 0, 1)
answer = [position.tolist(), position[:, -1].tolist(), mask.sum(-1).max().item(), position.shape[1] - int(mask[0].sum())]
"""),
    ("lengths to a mask and back", True, """
lengths = torch.tensor([4, 2, 5, 1]).to(device)
mask = torch.arange(int(lengths.max()), device=device)[None, :] < lengths[:, None]
cu = F.pad(lengths.cumsum(0), (1, 0))
flat = torch.nonzero(mask.flatten()).flatten()
answer = [mask.int().tolist(), mask.sum(1).eq(lengths).all().item(), cu.tolist(), flat.tolist(), str(cu.dtype)]
"""),
    ("packed and padded sequences", True, """
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
rows = [torch.arange(n, device=device) + 10 * n for n in (2, 4, 1)]
padded = pad_sequence(rows, batch_first=True, padding_value=-1)
lengths = (padded >= 0).sum(1)
packed = pack_padded_sequence(padded, lengths.cpu(), batch_first=True, enforce_sorted=False)
back, sizes = pad_packed_sequence(packed, batch_first=True, padding_value=-1)
answer = [padded.tolist(), lengths.tolist(), packed.data.tolist(), packed.batch_sizes.tolist(), packed.sorted_indices.tolist(), torch.equal(back, padded), sizes.tolist()]
"""),
    ("class weights by bincount", True, """
labels = torch.tensor([0, 2, 2, 1, 2, 0, 2, 2], device=device)
count = torch.bincount(labels, minlength=5)
weight = torch.where(count > 0, labels.numel() / count.clamp(min=1).float(), torch.zeros((), device=device))
answer = [count.tolist(), weight.tolist(), (count == 0).nonzero().flatten().tolist(), int(count.argmax())]
"""),
    ("experts chosen by given indices", True, """
chosen = torch.tensor([[0, 2], [2, 1], [0, 3], [2, 0], [2, 3]], device=device)
experts, capacity = 4, 3
one = F.one_hot(chosen.flatten(), experts)
place = (one.cumsum(0) * one).sum(-1) - 1
kept = place < capacity
load = torch.zeros(experts, dtype=torch.long, device=device).index_add_(0, chosen.flatten(), torch.ones(chosen.numel(), dtype=torch.long, device=device))
order = torch.argsort(chosen.flatten(), stable=True)
answer = [one.sum(0).tolist(), place.tolist(), kept.sum().item(), load.tolist(), order.tolist(), torch.equal(load, one.sum(0))]
"""),
    ("degrees and normalisation of a graph", True, """
edge = torch.tensor([[0, 1, 1, 3, 3, 3], [1, 0, 3, 1, 0, 3]], device=device)
nodes = int(edge.max()) + 1
degree = torch.zeros(nodes, device=device).scatter_add_(0, edge[0], torch.ones(edge.shape[1], device=device))
inverse = degree.pow(-1)
inverse[inverse == float("inf")] = 0
answer = [nodes, degree.tolist(), [round(v, 5) for v in inverse.tolist()], (degree == 0).sum().item()]
"""),
    ("edges without loops, unique and symmetric", True, """
edge = torch.tensor([[2, 0, 0, 1, 2, 0], [2, 1, 1, 2, 0, 0]], device=device)
edge = edge[:, edge[0] != edge[1]]
both = torch.cat([edge, edge.flip(0)], dim=1)
unique, inverse, count = torch.unique(both, dim=1, return_inverse=True, return_counts=True)
key = unique[0] * 3 + unique[1]
answer = [edge.tolist(), unique.tolist(), inverse.tolist(), count.tolist(), key.tolist(), bool((key[1:] > key[:-1]).all())]
"""),
    ("segments of a batch of graphs", True, """
batch = torch.tensor([0, 0, 0, 1, 3, 3], device=device)
size = int(batch[-1]) + 1
count = torch.zeros(size, dtype=torch.long, device=device).scatter_add_(0, batch, torch.ones_like(batch))
ptr = torch.cat([count.new_zeros(1), count.cumsum(0)])
local = torch.arange(batch.numel(), device=device) - ptr[batch]
again = torch.repeat_interleave(torch.arange(size, device=device), count)
parts = [p.tolist() for p in torch.arange(6, device=device).split(count.tolist())]
answer = [count.tolist(), ptr.tolist(), local.tolist(), torch.equal(again, batch), parts]
"""),
    ("overlaps of given boxes", True, """
box = torch.tensor([[0., 0., 4., 4.], [2., 2., 6., 6.], [8., 8., 10., 12.]]).to(device)
truth = torch.tensor([[0., 0., 4., 2.], [8., 8., 10., 10.]]).to(device)
low = torch.max(box[:, None, :2], truth[None, :, :2])
high = torch.min(box[:, None, 2:], truth[None, :, 2:])
inter = (high - low).clamp(min=0).prod(-1)
area = lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
iou = inter / (area(box)[:, None] + area(truth)[None] - inter)
best, which = iou.max(dim=1)
target = torch.where(best >= 0.5, which, torch.full_like(which, -1))
answer = [[[round(v, 4) for v in row] for row in iou.tolist()], target.tolist(), (best >= 0.5).nonzero().flatten().tolist()]
"""),
    ("best of given scores by class", True, """
score = torch.tensor([0.5, 0.125, 0.75, 0.25, 0.875], device=device)
label = torch.tensor([1, 0, 1, 1, 0], device=device)
value, index = score.topk(3)
keep = score > 0.2
order = score[keep].argsort(descending=True)
answer = [value.tolist(), index.tolist(), label[index].tolist(), label[keep][order].tolist(), {c: score[label == c].max().item() for c in label.unique().tolist()}]
"""),
    ("a sampler by searchsorted", True, """
weight = torch.tensor([1., 0., 3., 4.], device=device)
edges = weight.cumsum(0)
draw = torch.tensor([0.0, 0.9, 1.0, 3.9, 4.0, 7.5], device=device)
picked = torch.searchsorted(edges, draw, right=True)
answer = [picked.tolist(), torch.searchsorted(edges, draw).tolist(), edges[-1].item(), torch.bincount(picked, minlength=4).tolist()]
"""),
    ("draws are valid draws", True, """
a = torch.randint(3, 9, (50,), device=device)
p = torch.randperm(20, device=device)
r = torch.rand(64, device=device)
m = torch.multinomial(torch.tensor([0., 1., 0., 2.], device=device), 16, replacement=True)
b = torch.bernoulli(torch.tensor([0., 1., 1., 0.], device=device))
answer = [bool(((a >= 3) & (a < 9)).all()), p.sort().values.tolist(), p.unique().numel(), bool(((r >= 0) & (r < 1)).all()), torch.isin(m, torch.tensor([1, 3], device=device)).all().item(), b.tolist()]
"""),
    ("a replay buffer in a ring", True, """
size = 4
state = torch.zeros(size, 2, device=device)
reward = torch.full((size,), -1.0, device=device)
head = torch.zeros((), dtype=torch.long, device=device)
for step in range(6):
    at = head % size
    state[at] = torch.tensor([step, step + 0.5], device=device)
    reward[at] = step * 2
    head += 1
oldest = int(head % size)
answer = [state.tolist(), reward.tolist(), head.item(), reward.roll(-oldest).tolist(), min(int(head), size)]
"""),
    ("schedules on the device", True, """
step = torch.zeros((), device=device)
rates = []
for _ in range(6):
    step += 1
    warm = torch.minimum(step / 4, torch.ones_like(step))
    decay = 0.5 ** torch.div(step, 3, rounding_mode="floor")
    rates.append((warm * decay).item())
cosine = 0.5 * (1 + torch.cos(math.pi * torch.arange(5, device=device) / 4))
answer = [rates, [round(v, 4) for v in cosine.tolist()], step.item()]
"""),
    ("an average of known scalars", True, """
ema = torch.zeros((), device=device)
for v in [8.0, 4.0, 2.0]:
    ema.mul_(0.5).add_(v, alpha=0.5)
other = torch.tensor(0.0, device=device)
for v in [8.0, 4.0, 2.0]:
    other.lerp_(torch.tensor(v, device=device), 0.5)
answer = [ema.item(), float(other), torch.allclose(ema, other), f"{ema:.3f}", "%.2f" % ema]
"""),
    ("a confusion matrix", True, """
truth = torch.tensor([0, 1, 2, 2, 1, 0, 2], device=device)
pred = torch.tensor([0, 2, 2, 2, 1, 1, 0], device=device)
matrix = torch.bincount(truth * 3 + pred, minlength=9).reshape(3, 3)
other = torch.zeros(3, 3, dtype=torch.long, device=device)
other.index_put_((truth, pred), torch.ones_like(truth), accumulate=True)
recall = matrix.diag() / matrix.sum(1)
answer = [matrix.tolist(), torch.equal(matrix, other), [round(v, 4) for v in recall.tolist()], matrix.trace().item(), matrix.sum().item()]
"""),
    ("positions of a cache of keys", True, """
cache = torch.zeros(1, 8, 2, device=device)
position = torch.arange(3, device=device)
cache.index_copy_(1, position, torch.arange(6, device=device).float().view(1, 3, 2) + 1)
for step in range(2):
    position = position[-1:] + 1
    cache.index_copy_(1, position, torch.full((1, 1, 2), 10.0 + step, device=device))
filled = (cache[0, :, 0] != 0).sum()
answer = [position.tolist(), filled.item(), cache[0, :, 1].tolist(), int(position[-1]) + 1]
"""),
    ("decoding until the end of every row", True, """
script = torch.tensor([[5, 7, 2, 9, 9], [6, 2, 9, 9, 9], [4, 4, 4, 2, 9]], device=device)
eos, pad = 2, 0
alive = torch.ones(3, dtype=torch.long, device=device)
out = torch.empty(3, 0, dtype=torch.long, device=device)
steps = 0
for t in range(5):
    token = script[:, t] * alive + pad * (1 - alive)
    out = torch.cat([out, token[:, None]], dim=-1)
    alive = alive.mul((token != eos).long())
    steps += 1
    if alive.max() == 0:
        break
answer = [steps, out.tolist(), alive.tolist(), (out == eos).int().argmax(1).tolist()]
"""),
    ("stop words in a tail", True, """
ids = torch.tensor([[1, 5, 6, 7], [1, 2, 3, 7]], device=device)
stop = torch.tensor([6, 7], device=device)
hit = [bool(torch.equal(row[-2:], stop)) for row in ids]
answer = [hit, [row.tolist() for row in ids], [int(t) for t in ids[0]], torch.isin(ids, stop).tolist(), 5 in ids, 9 in ids]
"""),
    ("where, nonzero, argwhere and masks", True, """
x = torch.tensor([[0, 4, 0], [7, 0, 9]], device=device)
rows, cols = torch.where(x > 0)
answer = [rows.tolist(), cols.tolist(), x.nonzero().tolist(), torch.argwhere(x == 0).tolist(), torch.masked_select(x, x.bool()).tolist(), torch.count_nonzero(x, dim=0).tolist(), [t.tolist() for t in x.nonzero(as_tuple=True)]]
"""),
    ("buckets and histograms", True, """
x = torch.tensor([0.5, 3.5, 1.0, 2.5, 3.0, 0.25], device=device)
edges = torch.tensor([1.0, 2.0, 3.0], device=device)
answer = [torch.bucketize(x, edges).tolist(), torch.bucketize(x, edges, right=True).tolist(), torch.histc(x, bins=4, min=0, max=4).tolist(), torch.bucketize(torch.tensor(2.5, device=device), edges).item()]
"""),
    ("sorting in its forms", True, """
x = torch.tensor([[3, 1, 2], [9, 7, 8]], device=device)
value, index = x.sort(dim=1, descending=True)
flat = x.flatten()
answer = [value.tolist(), index.tolist(), x.argsort(dim=0).tolist(), flat.kthvalue(2).values.item(), flat.median().item(), x.topk(2, dim=1, largest=False).values.tolist(), torch.msort(flat).tolist(), x.amax(0).tolist(), [t.item() for t in flat.aminmax()]]
"""),
    ("unique in its forms", True, """
x = torch.tensor([4, 4, 1, 1, 1, 4, 2, 1], device=device)
u, inverse, count = x.unique(return_inverse=True, return_counts=True)
c, cinverse, ccount = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
answer = [u.tolist(), inverse.tolist(), count.tolist(), c.tolist(), cinverse.tolist(), ccount.tolist(), u[count.argmax()].item(), torch.equal(u[inverse], x)]
"""),
    ("flips, rolls and triangles", True, """
x = torch.arange(9, device=device).view(3, 3)
mask = torch.ones(4, 4, dtype=torch.bool, device=device).tril()
bias = torch.zeros(3, 3, device=device).masked_fill(torch.ones(3, 3, device=device).triu(1).bool(), float("-inf"))
answer = [x.flip(1).tolist(), x.roll((1, -1), (0, 1)).tolist(), x.rot90().tolist(), mask.sum(1).tolist(), (bias == float("-inf")).sum().item(), bias[2].tolist(), torch.tril_indices(3, 3, device=device).tolist(), x.diagonal(1).tolist()]
"""),
    ("joining and padding", True, """
a = torch.tensor([1, 2], dtype=torch.int32, device=device)
b = torch.tensor([0.5], device=device)
joined = torch.cat([a, b])
stacked = torch.stack([a, a * 2], dim=1)
answer = [joined.tolist(), str(joined.dtype), stacked.tolist(), F.pad(stacked, (1, 0, 0, 1), value=-1).tolist(), torch.hstack([a, a]).tolist(), torch.vstack([a, a]).tolist(), [t.tolist() for t in torch.arange(7, device=device).chunk(3)], [t.tolist() for t in torch.arange(5, device=device).tensor_split((1, 3))]]
"""),
    ("gather, scatter and their kin", True, """
x = torch.tensor([[10, 20, 30], [40, 50, 60]], device=device)
index = torch.tensor([[2, 0], [1, 1]], device=device)
got = x.gather(1, index)
put = torch.zeros(2, 3, dtype=torch.long, device=device).scatter_(1, torch.tensor([[2], [0]], device=device), 1)
high = torch.zeros(3, device=device).scatter_reduce_(0, torch.tensor([0, 1, 0, 1], device=device), torch.tensor([1., 5., 3., 2.], device=device), reduce="amax")
mean = torch.ones(2, device=device).scatter_reduce_(0, torch.tensor([0, 0, 1], device=device), torch.tensor([2., 4., 9.], device=device), reduce="mean", include_self=False)
answer = [got.tolist(), put.tolist(), high.tolist(), mean.tolist(), torch.take_along_dim(x, x.argsort(1, descending=True), 1).tolist(), x.take(torch.tensor([0, 5], device=device)).tolist(), x.index_select(1, torch.tensor([1], device=device)).flatten().tolist()]
"""),
    ("assignments by index and mask", True, """
x = torch.zeros(3, 4, device=device)
x[1, 2] = 5
x[:, 0] = torch.tensor([1., 2., 3.], device=device)
x[x > 4] *= 2
x[[0, 2], [3, 3]] = torch.tensor([7., 8.], device=device)
x[..., 1] -= 1
x.index_fill_(0, torch.tensor([2], device=device), 0.25)
x[0].masked_scatter_(torch.tensor([True, False, True, False], device=device), torch.tensor([-1., -2.], device=device))
answer = x.tolist()
"""),
    ("division of whole and broken numbers", True, """
a = torch.tensor([-7, 7, -8, 5], device=device)
f = torch.tensor([-2.5, 2.5, 3.5, -0.5], device=device)
answer = [(a // 3).tolist(), (a % 3).tolist(), torch.fmod(a, 3).tolist(), torch.div(a, 3, rounding_mode="trunc").tolist(), (a / 2).tolist(), f.round().tolist(), f.trunc().tolist(), f.floor().int().tolist(), f.clamp(-1, 3).tolist(), a.clamp(max=0).tolist(), f.sign().tolist(), (f % 1).tolist(), a.abs().gcd(torch.tensor(6, device=device)).tolist()]
"""),
    ("bits", True, """
flags = torch.tensor([0b1010, 0b0110, 0b1111], dtype=torch.uint8, device=device)
mask = torch.tensor(0b0011, dtype=torch.uint8, device=device)
bits = (flags[:, None] >> torch.arange(4, dtype=torch.uint8, device=device)) & 1
answer = [(flags & mask).tolist(), (flags | 0b10000).tolist(), (flags ^ mask).tolist(), (~flags).tolist(), bits.tolist(), (flags << 4).tolist(), str((flags << 4).dtype), (torch.tensor([True, False], device=device) ^ True).tolist()]
"""),
    ("narrow kinds of numbers", True, """
u = torch.tensor([250, 5], dtype=torch.uint8, device=device) + 10
h = torch.tensor([2049.0, 0.1], device=device).half()
b = torch.tensor([1.01, 257.0], device=device).bfloat16()
d = torch.tensor(0.1, dtype=torch.float64, device=device) + 0.2
i = torch.tensor([3.9, -3.9], device=device).to(torch.int32)
s = torch.tensor([300], device=device).to(torch.int8)
answer = [u.tolist(), h.tolist(), b.tolist(), d.item(), i.tolist(), s.item(), torch.tensor([0.0, 0.5, -1.0], device=device).bool().tolist(), [str(t.dtype) for t in (u, h, b, d, i, s)]]
"""),
    ("zero dimensions with Python numbers", True, """
i = torch.tensor(3, device=device)
f = torch.tensor(0.5, device=device)
t = torch.tensor(True, device=device)
h = torch.tensor([1.5], dtype=torch.float16, device=device)
values = [i * 2.5, i / 2, i + f, t + t, t + 1, h * f, h + 1, i ** 2, 2 ** i, 10 - i, 1 / f, -f, i > 2.5, torch.tensor([1], dtype=torch.int32, device=device) + i, i * 1j]
answer = [(v.item(), str(v.dtype)) if v.dim() == 0 else (v.tolist(), str(v.dtype)) for v in values] + [range(10)[i], [4, 5, 6, 7][i], float(f), round(f.item()), bool(t), complex(f), "ab" * int(i)]
"""),
    ("complex numbers", True, """
z = torch.tensor([3 + 4j, -1j]).to(device)
pair = torch.view_as_real(z)
w = torch.complex(torch.tensor([1.0], device=device), torch.tensor([2.0], device=device))
answer = [z.real.tolist(), z.imag.tolist(), z.abs().tolist(), z.conj().imag.tolist(), pair.tolist(), w.item(), (z * 1j).tolist(), str(pair.dtype), torch.view_as_complex(pair + 1).tolist()]
"""),
    ("empty tensors", True, """
e = torch.zeros(0, 3, device=device)
x = torch.arange(4, device=device)
none = x[x > 10]
answer = [e.sum().item(), e.tolist(), e.sum(0).tolist(), bool(e.all()), bool(e.any()), none.numel(), none.tolist(), torch.cat([none, x]).tolist(), none.unique().tolist(), torch.nonzero(x < 0).tolist(), torch.equal(none, none.clone()), torch.bincount(none, minlength=2).tolist(), e.prod().item()]
"""),
    ("views that are not contiguous", True, """
x = torch.arange(12, device=device).view(3, 4)
t = x.t()
answer = [t.tolist(), t.contiguous().view(-1).tolist(), x[:, ::2].tolist(), x[1:, 1:3].sum().item(), t[1].tolist(), x.permute(1, 0).reshape(2, 6).tolist(), t[-1, -1].item(), x[::2].flatten()[5].item(), t.cpu().numpy().tolist()]
"""),
    ("expanded and strided windows", True, """
x = torch.arange(6, device=device)
window = x.as_strided((4, 3), (1, 1))
row = torch.tensor([[1], [2]], device=device).expand(2, 3)
answer = [window.tolist(), window.sum(1).tolist(), row.tolist(), row.sum().item(), x.unfold(0, 2, 2).tolist(), (row + x[:3]).tolist(), row.contiguous().view(-1).tolist(), torch.broadcast_to(x[:2], (2, 2)).tolist(), x[:3].repeat(2).tolist()]
"""),
    ("the same bytes as another kind", True, """
f = torch.tensor([1.0, -2.0, 0.0], device=device)
i = f.view(torch.int32)
l = torch.tensor([1 + (2 << 16)], device=device).view(torch.int16)
answer = [i.tolist(), l.tolist(), (i & 0x7fffffff).view(torch.float32).tolist(), torch.tensor([255, 1], dtype=torch.uint8, device=device).view(torch.int8).tolist(), torch.tensor([True, False], device=device).view(torch.uint8).tolist(), (i < 0).tolist()]
"""),
]

CASES += [
    ("detached tensors and data", True, """
x = torch.tensor([1.0, 2.0], device=device, requires_grad=True)
d = x.detach()
d[0] = 5
x.data[1] += 10
answer = [x.tolist(), d.tolist(), x.detach().cpu().numpy().tolist(), x.data.sum().item(), bool(x.requires_grad), str(x.dtype)]
"""),
    ("copies between slices", True, """
a = torch.arange(8, device=device)
b = torch.zeros(8, dtype=torch.long, device=device)
b[2:5].copy_(a[5:])
b[:2] = a[1]
a[1:] = a[:-1].clone()
c = torch.empty(2, 3, dtype=torch.float64, device=device)
c.copy_(b[2:5])
c[1].copy_(torch.tensor([1, 2, 3], dtype=torch.uint8))
answer = [b.tolist(), a.tolist(), c.tolist()]
"""),
    ("equality in its forms", True, """
a = torch.tensor([1.0, 2.0, float("nan")], device=device)
b = a.clone()
answer = [torch.equal(a, b), torch.equal(a[:2], b[:2]), torch.allclose(a, b), torch.allclose(a, b, equal_nan=True), torch.isclose(a, b).tolist(), bool((a == b).all()), a.isnan().tolist(), a.nan_to_num(7.0).tolist(), torch.equal(a[:1], a[:2]), a.nansum().item(), a[:2].isfinite().all().item()]
"""),
    ("branches upon tensors", True, """
x = torch.tensor([0, 3], device=device)
trace = []
if x[1]:
    trace.append("some")
if not x[0]:
    trace.append("none")
if (x > 5).any():
    trace.append("large")
elif x.sum() == 3:
    trace.append("three")
trace.append("yes" if x[0] < x[1] else "no")
assert x.is_nonzero() if x.numel() == 1 else True
trace.append(max(x.tolist()))
trace.append(int(max(x)))
answer = trace
"""),
    ("tensors as text", True, """
x = torch.tensor([[1.5, -2.0], [0.25, 100.0]], device=device)
n = torch.tensor(7, device=device)
answer = [repr(x.cpu()), f"{n.item():03d}", f"{n:d}", "%d of %s" % (n, n.item()), str(x).split(", device")[0].rstrip(")"), format(x[0, 0], ".3e"), str(n.cpu())]
"""),
    ("through numpy", True, """
host = np.array([[1, 2], [3, 4]], dtype=np.int32)
x = torch.from_numpy(host).to(device, copy=True)
host[:] = -1
y = torch.as_tensor(np.linspace(0, 1, 5), device=device)
back = (x * 2).cpu().numpy()
answer = [x.tolist(), back.tolist(), str(back.dtype), y.tolist(), str(y.dtype), float(np.mean(y.cpu().numpy())), torch.tensor(np.float32(0.5), device=device).item()]
"""),
    ("iteration over rows and items", True, """
x = torch.tensor([[1, 2], [3, 4], [5, 6]], device=device)
a, b = x[0]
pairs = [(int(u), v.item()) for u, v in x]
answer = [pairs, int(a + b), [row.sum().item() for row in x.unbind(1)], {int(k): i for i, k in enumerate(x[:, 0])}, len(x), sorted(x.flatten().tolist(), reverse=True), [i.item() for i in reversed(x[:, 1])], sum(x[0]).item()]
"""),
    ("deep copies", True, """
import copy
bag = {"x": torch.arange(4, device=device), "n": [torch.tensor(2.5, device=device)]}
other = copy.deepcopy(bag)
bag["x"].zero_()
bag["n"][0] += 1
shallow = copy.copy(bag["x"])
shallow[0] = 9
answer = [other["x"].tolist(), other["n"][0].item(), bag["x"].tolist(), bag["n"][0].item()]
"""),
    ("saved and loaded", True, """
import io
x = torch.arange(6, device=device).view(2, 3)
saved = io.BytesIO()
torch.save({"x": x, "row": x[1], "step": torch.tensor(12, device=device)}, saved)
x.fill_(-1)
saved.seek(0)
same = torch.load(saved)
saved.seek(0)
host = torch.load(saved, map_location="cpu")
same["x"][1, 0] = 50
answer = [same["x"].tolist(), same["row"].tolist(), same["step"].item(), host["x"].to(device).sum().item(), x.tolist()]
"""),
    ("copies of a state", True, """
model = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)).to(device)
with torch.no_grad():
    model[0].weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    model[0].bias.fill_(0.5)
kept = {k: v.clone() for k, v in model.state_dict().items()}
alias = model.state_dict()
with torch.no_grad():
    for p in model.parameters():
        p.mul_(2)
now = {k: v.tolist() for k, v in alias.items()}
model.load_state_dict(kept)
answer = [now, {k: v.tolist() for k, v in model.state_dict().items()}, {k: v.tolist() for k, v in kept.items()}]
"""),
    ("buffers of a module", True, """
class Meter(nn.Module):
    def __init__(self):
        nn.Module.__init__(self)
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.register_buffer("codes", torch.zeros(4))
        self.register_buffer("table", torch.arange(3.0), persistent=False)
    def forward(self, index):
        self.steps += 1
        self.codes.index_add_(0, index, torch.ones(index.shape, device=index.device))
        return self.table[index % 3]
meter = Meter().to(device)
out = [meter(torch.tensor(v, device=device)).tolist() for v in ([0, 1, 1], [3, 1, 0])]
answer = [out, meter.steps.item(), meter.codes.tolist(), sorted(meter.state_dict()), (meter.codes > 0).float().mean().item()]
"""),
]
