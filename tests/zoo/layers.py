"""Everything in the zoo that is no architecture: layers, linear algebra, sampling, sorting, loading, compiling …"""

import os
import tempfile
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

from harness import Program, autocast, main, total, train_step, training

BOTH = ("fp32", "bf16")
ALL = ("fp32", "bf16", "fp16")


class Wrapped(nn.Module):
    """A module around any function of parameters; its tensors are on the device by default."""

    def __init__(self, function, *shapes):
        super().__init__()
        self.function = function
        self.weights = nn.ParameterList(torch.randn(shape) for shape in shapes)

    def forward(self):
        with torch.device("cuda"):
            return self.function(*self.weights)


def layer(name, make, *shapes, precisions=BOTH):
    """A training step of the module made by `make()`, on random inputs of these shapes that need gradients."""

    def build():
        inputs = [torch.randn(shape, requires_grad=True) for shape in shapes]
        return make(), lambda model: model(*inputs)

    return training(name, build, precisions)


def function(name, body, *shapes, precisions=("fp32",)):
    """A training step of parameters of these shapes, with the loss `body`."""
    return training(name, lambda: (Wrapped(body, *shapes), lambda model: model()), precisions)


def plain(name, body, precisions=("fp32",)):
    """`body` unchanged, with CUDA as the default device, without a training step."""

    def run(precision):
        with torch.device("cuda"), autocast(precision):
            body()

    return Program(name, run, precisions)


def convolutions():
    """1-D to 3-D; grouped, depthwise, dilated, strided, transposed; padded in every way; channels last."""
    shapes = {1: (2, 16, 64), 2: (2, 16, 32, 32), 3: (2, 16, 8, 16, 16)}
    direct = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
    transposed = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}
    for n, shape in shapes.items():
        yield layer(f"conv{n}d", partial(direct[n], 16, 32, 3), shape, precisions=ALL)
        yield layer(f"conv{n}d_grouped", partial(direct[n], 16, 32, 3, groups=4), shape, precisions=ALL)
        yield layer(f"conv{n}d_depthwise", partial(direct[n], 16, 16, 3, groups=16), shape, precisions=ALL)
        yield layer(f"conv{n}d_dilated", partial(direct[n], 16, 32, 3, dilation=2), shape)
        yield layer(f"conv{n}d_strided", partial(direct[n], 16, 32, 3, stride=2, padding=1, bias=False), shape)
        yield layer(f"conv_transpose{n}d", partial(transposed[n], 16, 32, 3, stride=2), shape, precisions=ALL)
        yield layer(f"conv_transpose{n}d_grouped", partial(transposed[n], 16, 32, 3, groups=4), shape)
    for mode in ("reflect", "replicate", "circular"):
        yield layer(f"conv2d_{mode}", partial(nn.Conv2d, 16, 32, 3, padding=1, padding_mode=mode), shapes[2])
    yield training("conv2d_channels_last", channels_last(nn.Conv2d, shapes[2], torch.channels_last), ALL)
    yield training("conv3d_channels_last", channels_last(nn.Conv3d, shapes[3], torch.channels_last_3d), ALL)
    yield Program("conv2d_benchmark", partial(with_flag, "benchmark"), BOTH)
    yield Program("conv2d_deterministic", partial(with_flag, "deterministic"), BOTH)


def channels_last(make, shape, memory_format):
    """A block of convolution, norm, activation and pooling whose tensors lie channels last."""

    def build():
        model = nn.Sequential(make(16, 32, 3, padding=1), nn.ReLU()).to(memory_format=memory_format)
        inputs = torch.randn(shape).to(memory_format=memory_format)
        return model, lambda model: model(inputs)

    return build


def with_flag(flag, precision):
    """A convolution with a flag of torch.backends.cudnn set."""
    before = getattr(torch.backends.cudnn, flag)
    setattr(torch.backends.cudnn, flag, True)
    try:
        model = nn.Conv2d(16, 32, 3, device="cuda")
        inputs = torch.randn(2, 16, 32, 32, device="cuda")
        train_step(model, lambda model: model(inputs), precision)
    finally:
        setattr(torch.backends.cudnn, flag, before)


def recurrent():
    """RNN, LSTM, GRU and their cells; deep, bidirectional, projected, packed."""
    shape = (20, 4, 32)
    for cls in (nn.RNN, nn.LSTM, nn.GRU):
        name = cls.__name__.lower()
        yield layer(name, partial(cls, 32, 64), shape, precisions=ALL)
        yield layer(f"{name}_deep", partial(cls, 32, 64, num_layers=3, bidirectional=True), shape, precisions=ALL)
        yield layer(f"{name}_batch_first", partial(cls, 32, 64, batch_first=True), (4, 20, 32))
    yield layer("lstm_projected", partial(nn.LSTM, 32, 64, proj_size=16), shape)
    yield layer("lstm_cell", partial(nn.LSTMCell, 32, 64), (4, 32))
    yield layer("gru_cell", partial(nn.GRUCell, 32, 64), (4, 32))
    yield training("lstm_packed", packed_lstm, BOTH)


def packed_lstm():
    """An LSTM over sequences of different lengths."""
    model = nn.LSTM(32, 64)
    lengths = torch.tensor([20, 15, 7, 3], device="cpu")
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(20, 4, 32), lengths)
    return model, lambda model: model(packed)


def attention():
    """Transformer layers and the ways to scaled dot-product attention."""
    shape = (2, 32, 64)
    options = {"dim_feedforward": 128, "batch_first": True}
    heads = [(2, 4, 32, 16)] * 3
    causal = partial(F.scaled_dot_product_attention, is_causal=True)
    yield layer("transformer", partial(nn.Transformer, 64, 4, 2, 2, **options), shape, shape, precisions=ALL)
    yield layer("transformer_encoder_layer", partial(nn.TransformerEncoderLayer, 64, 4, **options), shape)
    yield layer("transformer_decoder_layer", partial(nn.TransformerDecoderLayer, 64, 4, **options), shape, shape)
    yield layer("multihead_attention", partial(nn.MultiheadAttention, 64, 4, batch_first=True), *[shape] * 3)
    yield function("sdpa", F.scaled_dot_product_attention, *heads, precisions=ALL)
    yield function("sdpa_causal", causal, *heads, precisions=ALL)
    yield function("sdpa_masked", sdpa_masked, *heads, precisions=ALL)
    yield function("sdpa_dropout", partial(F.scaled_dot_product_attention, dropout_p=0.1), *heads, precisions=ALL)
    yield plain("transformer_encoder_inference", encoder_inference, BOTH)


def sdpa_masked(query, key, value):
    """Attention with a mask of its own."""
    mask = torch.zeros(query.shape[2], key.shape[2], device=query.device)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def encoder_inference():
    """The fused path of a Transformer encoder in evaluation mode."""
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, batch_first=True), 2).eval()
    with torch.inference_mode():
        model(torch.randn(2, 32, 64))


def norms():
    """Normalisations, in training and in evaluation."""
    image = (4, 16, 8, 8)
    yield layer("batch_norm1d", partial(nn.BatchNorm1d, 16), (4, 16), precisions=ALL)
    yield layer("batch_norm2d", partial(nn.BatchNorm2d, 16), image, precisions=ALL)
    yield layer("batch_norm3d", partial(nn.BatchNorm3d, 16), (4, 16, 4, 8, 8), precisions=ALL)
    yield layer("group_norm", partial(nn.GroupNorm, 4, 16), image, precisions=ALL)
    yield layer("instance_norm2d", partial(nn.InstanceNorm2d, 16, affine=True), image)
    yield layer("layer_norm", partial(nn.LayerNorm, 64), (4, 64), precisions=ALL)
    yield layer("rms_norm", partial(nn.RMSNorm, 64), (4, 64), precisions=ALL)
    yield layer("local_response_norm", partial(nn.LocalResponseNorm, 2), image)
    yield layer("spectral_norm", lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(16, 32)), (4, 16))
    yield layer("weight_norm", lambda: nn.utils.parametrizations.weight_norm(nn.Linear(16, 32)), (4, 16))


# Losses that want random scores of shape (8, 10) and these targets.
LOSSES = {
    "cross_entropy": (F.cross_entropy, lambda: torch.randint(10, (8,))),
    "cross_entropy_smoothed": (partial(F.cross_entropy, label_smoothing=0.1), lambda: torch.randint(10, (8,))),
    "bce_with_logits": (F.binary_cross_entropy_with_logits, lambda: torch.ones(8, 10)),
    "mse": (F.mse_loss, lambda: torch.randn(8, 10)),
    "l1": (F.l1_loss, lambda: torch.randn(8, 10)),
    "huber": (F.huber_loss, lambda: torch.randn(8, 10)),
    "kl_div": (F.kl_div, lambda: torch.ones(8, 10)),
    "gaussian_nll": (partial(F.gaussian_nll_loss, var=0.1), lambda: torch.randn(8, 10)),
    "multi_margin": (F.multi_margin_loss, lambda: torch.randint(10, (8,))),
    "multilabel_soft_margin": (F.multilabel_soft_margin_loss, lambda: torch.ones(8, 10)),
}


def losses():
    """The losses, connectionist temporal classification in both its implementations."""
    for name, (loss, target) in LOSSES.items():
        body = lambda scores, loss=loss, target=target: loss(scores, target())  # noqa: E731
        yield function(f"loss_{name}", body, (8, 10), precisions=BOTH)
    yield function("loss_ctc", ctc, (50, 4, 20), precisions=BOTH)
    yield function("loss_ctc_cudnn", ctc_cudnn, (50, 4, 20))
    yield function("loss_triplet", F.triplet_margin_loss, *[(8, 16)] * 3)


def ctc(scores):
    """CTC loss as PyTorch computes it: targets on the device, lengths from the host."""
    targets = torch.ones(4 * 10, dtype=torch.long)
    frames, lengths = torch.full((4,), 50, device="cpu"), torch.full((4,), 10, device="cpu")
    return F.ctc_loss(F.log_softmax(scores.float(), -1), targets, frames, lengths)


def ctc_cudnn(scores):
    """CTC loss as cuDNN computes it: 32-bit targets on the host, lengths as plain numbers."""
    targets = torch.ones(4 * 10, dtype=torch.int32, device="cpu")
    return F.ctc_loss(F.log_softmax(scores, -1), targets, (50,) * 4, (10,) * 4)


def pools_and_samplers():
    """Pooling, resizing, sampling, folding."""
    image, clip = (2, 16, 32, 32), (2, 16, 8, 16, 16)
    yield layer("max_pool1d", partial(nn.MaxPool1d, 2), (2, 16, 64))
    yield layer("max_pool2d", partial(nn.MaxPool2d, 3, 2), image, precisions=ALL)
    yield layer("max_pool3d", partial(nn.MaxPool3d, 2), clip)
    yield layer("avg_pool2d", partial(nn.AvgPool2d, 2), image)
    yield layer("avg_pool3d", partial(nn.AvgPool3d, 2), clip)
    yield layer("adaptive_avg_pool2d", partial(nn.AdaptiveAvgPool2d, 5), image)
    yield layer("adaptive_max_pool2d", partial(nn.AdaptiveMaxPool2d, 5), image)
    yield layer("fractional_max_pool2d", partial(nn.FractionalMaxPool2d, 2, output_size=16), image)
    yield layer("lp_pool2d", partial(nn.LPPool2d, 2, 2), image)
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        yield layer(f"upsample_{mode}", partial(nn.Upsample, scale_factor=2.0, mode=mode), image)
    yield function("max_unpool2d", lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), image)
    yield function("grid_sample", F.grid_sample, image, (2, 16, 16, 2), precisions=BOTH)
    yield function("affine_grid", lambda theta: F.affine_grid(theta, [2, 3, 16, 16]), (2, 2, 3))
    yield layer("unfold", partial(nn.Unfold, 3), image)
    yield layer("fold", partial(nn.Fold, 32, 3), (2, 16 * 9, 900))
    yield layer("pixel_shuffle", partial(nn.PixelShuffle, 2), image)
    yield layer("dropout2d", partial(nn.Dropout2d, 0.5), image)


def embeddings():
    """Embeddings and embedding bags, dense and sparse."""
    indices = lambda: torch.randint(100, (4, 8))  # noqa: E731
    for mode in ("sum", "mean", "max"):
        body = lambda weight, mode=mode: F.embedding_bag(indices(), weight, mode=mode)  # noqa: E731
        yield function(f"embedding_bag_{mode}", body, (100, 16), precisions=BOTH)
    yield function("embedding", lambda weight: F.embedding(indices(), weight, padding_idx=0), (100, 16), precisions=BOTH)
    yield plain("embedding_sparse_adam", sparse_adam)


def sparse_adam():
    """Sparse gradients of an embedding, and the optimizer made for them."""
    model = nn.Embedding(100, 16, sparse=True)
    optimizer = torch.optim.SparseAdam(model.parameters())
    model(torch.randint(100, (4, 8))).sum().backward()
    optimizer.step()


def fourier():
    """Fast Fourier transforms of every kind, and the short-time one."""
    square = (4, 32, 32)
    yield function("fft", lambda x: torch.fft.fft(x).abs(), square)
    yield function("fft2", lambda x: torch.fft.fft2(x).abs(), square)
    yield function("fftn", lambda x: torch.fft.fftn(x).abs(), square)
    yield function("rfft_irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x), n=32), square)
    yield function("rfft2_irfft2", lambda x: torch.fft.irfft2(torch.fft.rfft2(x)), square)
    yield function("hfft", lambda x: torch.fft.hfft(x), square)
    yield function("fft_prime", lambda x: torch.fft.fft(x).abs(), (4, 101))
    yield function("fft_double", lambda x: torch.fft.fft(x.double()).abs(), square)
    yield function("fft_half", lambda x: torch.fft.rfft(x.half()).abs(), square)
    yield function("stft", stft, (2, 4000))


def stft(wave):
    """To a spectrogram and back."""
    window = torch.hann_window(256)
    spectrum = torch.stft(wave, 256, window=window, return_complex=True)
    magnitude = spectrum.abs().mean()
    padded = torch.fft.irfft(spectrum.transpose(1, 2), n=256)
    return magnitude + padded.mean()


def positive(x):
    """A positive definite matrix, by construction."""
    return x @ x.mT + torch.eye(x.shape[-1], device=x.device)


# torch.linalg and its kin: the body, and the shapes of its parameters. All are differentiable.
LINALG = {
    "svd": (torch.linalg.svd, [(16, 16)]),
    "svd_batched": (lambda a: torch.linalg.svd(a, full_matrices=False), [(4, 24, 16)]),
    "svdvals": (torch.linalg.svdvals, [(4, 24, 16)]),
    "cholesky": (lambda a: torch.linalg.cholesky(positive(a)), [(16, 16)]),
    "cholesky_batched": (lambda a: torch.linalg.cholesky(positive(a)), [(4, 16, 16)]),
    "cholesky_solve": (lambda a, b: torch.cholesky_solve(b, torch.linalg.cholesky(positive(a))), [(16, 16), (16, 4)]),
    "cholesky_inverse": (lambda a: torch.cholesky_inverse(torch.linalg.cholesky(positive(a))), [(16, 16)]),
    "solve": (torch.linalg.solve, [(16, 16), (16, 4)]),
    "solve_batched": (torch.linalg.solve, [(4, 16, 16), (4, 16, 4)]),
    "solve_triangular": (lambda a, b: torch.linalg.solve_triangular(a, b, upper=True), [(16, 16), (16, 4)]),
    "inv": (torch.linalg.inv, [(4, 16, 16)]),
    "inv_single": (torch.linalg.inv, [(64, 64)]),
    "pinv": (torch.linalg.pinv, [(16, 8)]),
    "det": (torch.linalg.det, [(16, 16)]),
    "slogdet": (torch.linalg.slogdet, [(4, 16, 16)]),
    "qr": (torch.linalg.qr, [(16, 16)]),
    "qr_batched": (torch.linalg.qr, [(4, 24, 16)]),
    "householder_product": (torch.linalg.householder_product, [(16, 8), (8,)]),
    "eigh": (lambda a: torch.linalg.eigh(positive(a)), [(16, 16)]),
    "eigh_batched": (lambda a: torch.linalg.eigh(positive(a)), [(4, 16, 16)]),
    "eigh_large": (lambda a: torch.linalg.eigh(positive(a)), [(600, 600)]),
    "eigvalsh": (lambda a: torch.linalg.eigvalsh(positive(a)), [(16, 16)]),
    "lstsq": (lambda a, b: torch.linalg.lstsq(a, b).solution, [(24, 16), (24, 4)]),
    "lu": (torch.linalg.lu, [(16, 16)]),
    "lu_batched": (torch.linalg.lu, [(4, 16, 16)]),
    "lu_solve": (lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b), [(16, 16), (16, 4)]),
    "matrix_exp": (torch.linalg.matrix_exp, [(16, 16)]),
    "matrix_power": (lambda a: torch.linalg.matrix_power(a, 3), [(4, 16, 16)]),
    "matrix_norm": (lambda a: torch.linalg.matrix_norm(a, "nuc"), [(4, 16, 16)]),
    "multi_dot": (lambda *a: torch.linalg.multi_dot(a), [(16, 32), (32, 8), (8, 4)]),
    "bmm": (torch.bmm, [(4, 16, 32), (4, 32, 8)]),
    "baddbmm": (torch.baddbmm, [(4, 16, 8), (4, 16, 32), (4, 32, 8)]),
    "addmm": (torch.addmm, [(8,), (16, 32), (32, 8)]),
    "addmv": (torch.addmv, [(16,), (16, 32), (32,)]),
    "dot": (torch.dot, [(64,), (64,)]),
    "einsum": (partial(torch.einsum, "bik,bjk->bij"), [(4, 16, 8), (4, 12, 8)]),
    "cdist": (torch.cdist, [(64, 8), (48, 8)]),
}


def linear_algebra():
    """LINALG, factors of indefinite matrices, and matrices of other types."""
    for name, (body, shapes) in LINALG.items():
        yield function(name, body, *shapes)
    yield plain("ldl", lambda: torch.linalg.ldl_factor(torch.eye(16)))
    yield plain("ormqr", lambda: torch.ormqr(torch.randn(16, 8), torch.randn(8), torch.randn(16, 4)))
    yield plain("complex_matmul", lambda: torch.randn(8, 8, dtype=torch.cfloat) @ torch.randn(8, 8, dtype=torch.cfloat))
    yield plain("double_solve", lambda: torch.linalg.solve(torch.eye(16).double(), torch.randn(16, 2).double()))
    yield plain("int8_matmul", lambda: torch._int_mm(*[torch.zeros(32, 32, dtype=torch.int8)] * 2))
    yield plain("float8_matmul", float8_matmul)


def float8_matmul():
    """A scaled product of 8-bit floats with a bf16 result."""
    a = torch.zeros(32, 64).to(torch.float8_e4m3fn)
    b = torch.zeros(16, 64).to(torch.float8_e4m3fn).t()
    torch._scaled_mm(a, b, torch.ones(()), torch.ones(()), out_dtype=torch.bfloat16)


def sparse():
    """Sparse tensors: COO, CSR, BSR, their products and conversions."""
    yield function("sparse_coo_mm", lambda x: torch.sparse.mm(coo(), x), (16, 8))
    yield function("sparse_csr_mm", lambda x: coo().to_sparse_csr() @ x, (16, 8))
    yield function("sparse_csr_mv", lambda x: coo().to_sparse_csr() @ x, (16,))
    yield plain("sparse_coalesce", lambda: coo().coalesce())
    yield plain("sparse_to_dense", lambda: coo().to_dense())
    yield plain("sparse_from_dense", lambda: torch.eye(16).to_sparse())
    yield plain("sparse_addmm", lambda: torch.sparse.addmm(torch.randn(16, 4), coo(), torch.randn(16, 4)))
    yield plain("sparse_product", lambda: coo().to_sparse_csr() @ coo().to_sparse_csr())
    yield plain("sparse_softmax", lambda: torch.sparse.softmax(coo(), 1))
    yield plain("sparse_bsr", lambda: coo().to_dense().to_sparse_bsr((4, 4)))
    yield plain("sparse_transpose_sum", lambda: torch.sparse.sum(coo().t(), 0))


def coo():
    """A diagonal of 16, its indices copied from the host."""
    indices = torch.arange(16, device="cpu").repeat(2, 1).cuda()
    return torch.sparse_coo_tensor(indices, torch.ones(16), (16, 16))


# Programs without gradients: the random number generators, sorting, searching, indexing, scans.
PLAIN = {
    "rand": lambda: torch.rand(1000),
    "randn_generator": lambda: torch.randn(1000, generator=torch.Generator("cuda").manual_seed(1)),
    "randint": lambda: torch.randint(10, (1000,)),
    "randperm": lambda: torch.randperm(100_000),
    "randperm_small": lambda: torch.randperm(100),
    "bernoulli": lambda: torch.bernoulli(torch.full((1000,), 0.5)),
    "multinomial": lambda: torch.multinomial(torch.ones(4, 100), 10),
    "multinomial_replacement": lambda: torch.multinomial(torch.ones(4, 100), 10, replacement=True),
    "poisson": lambda: torch.poisson(torch.ones(1000)),
    "exponential": lambda: torch.empty(1000).exponential_(),
    "gamma": lambda: torch.distributions.Gamma(torch.ones(10), torch.ones(10), validate_args=False).rsample((4,)),
    "dirichlet": lambda: torch._sample_dirichlet(torch.ones(4, 10)),
    "rng_state": lambda: torch.cuda.set_rng_state(torch.cuda.get_rng_state()),
    "sort": lambda: torch.randn(64, 1000).sort(),
    "sort_large": lambda: torch.randn(3_000_000).sort(),
    "sort_stable": lambda: torch.randn(64, 5000).sort(dim=0, stable=True),
    "argsort": lambda: torch.randn(1000).argsort(descending=True),
    "topk": lambda: torch.randn(64, 1000).topk(5),
    "topk_large": lambda: torch.randn(4, 200_000).topk(100),
    "kthvalue": lambda: torch.randn(64, 1000).kthvalue(5),
    "median": lambda: torch.randn(64, 1000).median(-1),
    "quantile": lambda: torch.randn(1000).quantile(0.9),
    "mode": lambda: torch.randn(64, 100).mode(),
    "unique": lambda: torch.randint(10, (1000,)).unique(return_inverse=True, return_counts=True),
    "unique_rows": lambda: torch.randint(10, (100, 3)).unique(dim=0),
    "unique_consecutive": lambda: torch.randint(10, (1000,)).unique_consecutive(),
    "bincount": lambda: torch.randint(10, (1000,)).bincount(minlength=10),
    "histc": lambda: torch.randn(1000).histc(10, -1, 1),
    "searchsorted": lambda: torch.searchsorted(torch.arange(100.0), torch.rand(50)),
    "bucketize": lambda: torch.bucketize(torch.rand(50), torch.arange(10.0)),
    "nonzero": lambda: torch.randn(100, 100).nonzero(),
    "where": lambda: torch.where(torch.randn(100) > 0),
    "masked_select": lambda: torch.randn(100, 100).masked_select(torch.ones(100, 100, dtype=torch.bool)),
    "boolean_index_put": lambda: torch.randn(100, 100).index_put_((torch.ones(100, dtype=torch.bool),), torch.ones(())),
    "isin": lambda: torch.isin(torch.arange(100), torch.arange(10)),
    "tril_indices": lambda: torch.tril_indices(10, 10),
    "combinations": lambda: torch.combinations(torch.arange(10)),
    "reductions": lambda: [f(torch.randn(300_000)) for f in (torch.sum, torch.amax, torch.argmax, torch.std, torch.any)],
    "nms": lambda: __import__("torchvision").ops.nms(torch.rand(100, 4), torch.rand(100), 0.5),
    "item": lambda: torch.ones(()).item(),
    "allclose": lambda: torch.allclose(torch.ones(10), torch.ones(10)),
    "foreach_add": lambda: torch._foreach_add_([torch.ones(10) for _ in range(100)], 1.0),
}

# Programs with gradients: scans and indexing.
DIFFERENTIABLE = {
    "cumsum": lambda x: x.cumsum(-1),
    "cumprod": lambda x: x.cumprod(-1),
    "logcumsumexp": lambda x: x.logcumsumexp(-1),
    "cummax": lambda x: x.cummax(-1).values,
    "flat_cumsum": lambda x: x.flatten().cumsum(0),
    "logsumexp": lambda x: x.logsumexp(-1),
    "softmax": lambda x: x.softmax(-1),
    "index_select": lambda x: x.index_select(0, torch.arange(4)),
    "advanced_index": lambda x: x[torch.arange(4), torch.arange(4)],
    "gather": lambda x: x.gather(1, torch.zeros(64, 2, dtype=torch.long)),
    "scatter_add": lambda x: torch.zeros(64, 64).scatter_add(1, torch.zeros(64, 64, dtype=torch.long), x),
    "scatter_reduce": lambda x: torch.zeros(64).scatter_reduce(0, torch.zeros(64, dtype=torch.long), x[0], "amax"),
    "index_add": lambda x: torch.zeros(64, 64).index_add(0, torch.arange(64), x),
    "segment_reduce": lambda x: torch.segment_reduce(x, "sum", lengths=torch.full((16,), 4), unsafe=True),
    "roll_flip_sort": lambda x: x.roll(3).flip(0).sort().values,
    "trapezoid": lambda x: torch.trapezoid(x),
    "special": lambda x: torch.special.i0(x) + torch.special.erfcx(x) + torch.lgamma(x),
}


def operations():
    """PLAIN and DIFFERENTIABLE."""
    yield from (plain(name, body) for name, body in PLAIN.items())
    yield from (function(name, body, (64, 64)) for name, body in DIFFERENTIABLE.items())


def network():
    """A small network with convolution, norm and dropout, and a batch for it."""
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Dropout(0.1), nn.Flatten(), nn.Linear(4096, 10)
    )
    return model.cuda(), torch.randn(4, 3, 16, 16, device="cuda")


def optimizers():
    """Every optimizer with its own state; Adam and SGD in all their implementations."""
    names = "Adadelta Adafactor Adagrad Adam AdamW Adamax ASGD LBFGS Muon NAdam RAdam RMSprop Rprop SGD".split()
    for name in names:
        yield Program(f"optimizer_{name.lower()}", partial(optimize, name, {}), ("fp32",))
    for variant in ("foreach", "fused", "capturable"):
        yield Program(f"optimizer_adam_{variant}", partial(optimize, "Adam", {variant: True}), ("fp32", "fp16"))
    yield Program("optimizer_adam_amsgrad", partial(optimize, "Adam", {"amsgrad": True}), ("fp32",))
    yield Program("optimizer_sgd_fused", partial(optimize, "SGD", {"fused": True, "momentum": 0.9}), ("fp32",))


def optimize(name, options, precision):
    """Two steps, since some optimizers build their state in the first; gradients are clipped on the way."""
    model = nn.Linear(64, 64, bias=False, device="cuda")
    optimizer = getattr(torch.optim, name)(model.parameters(), **options)
    scaler = torch.amp.GradScaler("cuda", enabled=precision == "fp16")

    def closure():
        optimizer.zero_grad()
        with autocast(precision):
            loss = model(torch.randn(8, 64, device="cuda")).square().mean()
        scaler.scale(loss).backward()
        return loss

    for _ in range(2):
        if name == "LBFGS":
            optimizer.step(closure)
            continue
        closure()
        scaler.unscale_(optimizer) if scaler.is_enabled() else None
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def loading(precision):
    """Batches from two workers in pinned memory."""
    data = TensorDataset(torch.zeros(64, 3, 16, 16), torch.zeros(64, dtype=torch.long))
    loader = DataLoader(data, batch_size=16, num_workers=2, pin_memory=True, persistent_workers=True)
    model, _ = network()
    for x, y in loader:
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        train_step(model, lambda model: F.cross_entropy(model(x), y), precision)


def compiled(options, precision):
    """A compiled network, three steps."""
    model, batch = network()
    fast = torch.compile(model, **options)
    for _ in range(3):
        train_step(model, lambda _: fast(batch), precision)


def graphed(precision):
    """A whole training step captured in a CUDA graph and replayed."""
    model, batch = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16", cache_enabled=False):
            loss = model(batch).float().mean()
        loss.backward()
        optimizer.step()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(3):
        graph.replay()
    graph.reset()


def graphed_callables(precision):
    """Forward and backward as graphs of their own, by make_graphed_callables."""
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda()
    batch = torch.randn(8, 64, device="cuda")
    fast = torch.cuda.make_graphed_callables(model, (batch,))
    train_step(model, lambda _: fast(batch), precision)
    del fast


def checkpointed(reentrant, precision):
    """Blocks that are computed again in the backward pass."""
    blocks = nn.ModuleList(nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(4)).cuda()
    batch = torch.randn(64, 256, device="cuda", requires_grad=True)

    def forward(blocks):
        x = batch
        for block in blocks:
            x = checkpoint(block, x, use_reentrant=reentrant)
        return x

    train_step(blocks, forward, precision)


def streamed(precision):
    """Work on two streams, a tensor passed between them, and events that time the work."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    side = torch.cuda.Stream()
    start.record()
    with torch.cuda.stream(side), autocast(precision):
        x = torch.randn(512, 512, device="cuda")
        y = x @ x
    torch.cuda.current_stream().wait_stream(side)
    y.record_stream(torch.cuda.current_stream())
    (y + 1).sum().item()
    end.record()
    torch.cuda.synchronize()
    start.elapsed_time(end)


def saved(precision):
    """A checkpoint file: saved, loaded to the host, loaded to the device."""
    model, _ = network()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt")
        torch.save(model.state_dict(), path)
        model.load_state_dict(torch.load(path, map_location="cpu"))
        model.load_state_dict(torch.load(path, map_location="cuda"))


def offloaded(precision):
    """Activations kept in pinned host memory between forward and backward."""
    model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(4)]).cuda()
    batch = torch.randn(64, 256, device="cuda")
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        output = total(model(batch))
    output.backward()


def functional(precision):
    """A second derivative by autograd; gradients of each sample, a Jacobian and a Hessian, by torch.func."""
    # A thread of autograd's would free its graph at an unknown later moment: with the next allocation, or after it.
    with torch.autograd.set_multithreading_enabled(False):
        second_derivative()
        weight = torch.randn(16, 16, device="cuda")
        batch = torch.randn(8, 16, device="cuda")
        loss = lambda weight, x: (x @ weight).square().sum()  # noqa: E731
        torch.func.vmap(torch.func.grad(loss), (None, 0))(weight, batch)
        torch.func.jacrev(torch.sin)(batch[0])
        torch.func.hessian(lambda x: x.square().sum())(batch[0])


def second_derivative():
    """Through the graph of a gradient."""
    x = torch.randn(8, device="cuda", requires_grad=True)
    (gradient,) = torch.autograd.grad(x.pow(3).sum(), x, create_graph=True)
    gradient.sum().backward()


def jitted(precision):
    """A scripted and a traced module."""
    model = nn.Sequential(nn.Linear(64, 64), nn.GELU()).cuda()
    batch = torch.randn(8, 64, device="cuda")
    train_step(model, lambda model: torch.jit.trace(model, batch)(batch), precision)
    train_step(model, lambda model: torch.jit.script(model)(batch), precision)


def nested(precision):
    """Sequences of different lengths in one jagged tensor."""
    parts = [torch.randn(n, 16, device="cuda") for n in (3, 5, 7)]
    jagged = torch.nested.nested_tensor(parts, layout=torch.jagged, requires_grad=True)
    linear = nn.Linear(16, 8, device="cuda")
    linear(jagged).values().sum().backward()


def profiled(precision):
    """A step under torch.profiler, and memory statistics asked for on the way."""
    model, batch = network()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True):
        train_step(model, lambda model: model(batch), precision)
    torch.cuda.memory_summary()
    torch.cuda.mem_get_info()


def ways():
    """The ways of running: loading, compiling, graphs, checkpoints, streams, files, transforms."""
    fp32 = ("fp32",)
    yield Program("dataloader_pinned", loading, BOTH)
    yield Program("compile", partial(compiled, {}), ALL)
    yield Program("compile_dynamic", partial(compiled, {"dynamic": True}), fp32)
    yield Program("compile_reduce_overhead", partial(compiled, {"mode": "reduce-overhead"}), fp32)
    yield Program("cuda_graph", graphed, BOTH)
    yield Program("cuda_graph_callables", graphed_callables, fp32)
    yield Program("checkpoint", partial(checkpointed, False), ALL)
    yield Program("checkpoint_reentrant", partial(checkpointed, True), ALL)
    yield Program("streams", streamed, BOTH)
    yield Program("save_load", saved, fp32)
    yield Program("save_on_cpu", offloaded, fp32)
    yield Program("functional_transforms", functional, fp32)
    yield Program("torchscript", jitted, fp32)
    yield Program("nested_tensor", nested, fp32)
    yield Program("profiler", profiled, BOTH)


def programs():
    """Every program of this file."""
    parts = (convolutions, recurrent, attention, norms, losses, pools_and_samplers, embeddings)
    more = (fourier, linear_algebra, sparse, operations, optimizers, ways)
    for part in (*parts, *more):
        yield from part()


if __name__ == "__main__":
    main(list(programs()))
