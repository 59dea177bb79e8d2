"""The operators whose results are computed from known arguments: the names, as in PyTorch's dispatcher.

All but those of `DRAWN` have a kernel for the CPU with the result of the CUDA kernel, up to rounding.

Absent, because a number may reach these operators as a wrapped number on the device, which PyTorch passes to no kernel in Python: `pow` of
two tensors, `searchsorted`, `bucketize`, the `out` variants of `isin` (`wrapped_scalar_tensor` with a device in ATen/native, 2.11).
"""

_REFUSED = ("pow", "float_power", "searchsorted", "bucketize", "isin")
_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
_BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
_LOGICAL = ("logical_and", "logical_or", "logical_xor")
_UNARY = (
    *("abs", "acos", "asin", "atan", "bitwise_not", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "frac"),
    *("log", "log10", "log1p", "log2", "logical_not", "nan_to_num", "neg", "reciprocal", "round", "rsqrt", "sgn", "sigmoid", "sign"),
    *("sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)
_BINARY = (
    *("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "div.Tensor_mode", "floor_divide", "rsub.Scalar", "rsub.Tensor"),
    *("remainder.Scalar", "remainder.Tensor", "fmod.Scalar", "fmod.Tensor", "maximum", "minimum", "fmax", "fmin", "where.self"),
    *("pow.Tensor_Scalar", "clamp", "clamp.Tensor", "clamp_min", "clamp_max", "atan2", "hypot", "copysign.Tensor", "gcd", "lcm"),
    *("lerp.Scalar", "lerp.Tensor", "addcmul", "addcdiv", "isnan", "signbit"),
    *(f"{name}.{kind}" for name in _COMPARED for kind in ("Scalar", "Tensor")),
    *(f"{name}.{kind}" for name in ("bitwise_left_shift", "bitwise_right_shift") for kind in ("Tensor", "Tensor_Scalar")),
    *(f"{name}.Tensor" for name in (*_BITWISE, "__lshift__", "__rshift__")),
    *(f"{name}.Scalar" for name in ("__lshift__", "__rshift__")),
    *_LOGICAL,
)
_REDUCED = (
    *("sum.dim_IntList", "nansum", "mean.dim", "prod", "prod.dim_int", "amax", "amin", "aminmax", "max", "max.dim", "min", "min.dim"),
    *("argmax", "argmin", "any", "any.dim", "any.dims", "all.dim", "all.dims", "cumsum", "cumprod", "cummax", "cummin"),
    *("count_nonzero.dim_IntList", "median", "median.dim", "nanmedian", "nanmedian.dim", "var.correction", "std.correction", "linalg_vector_norm", "logsumexp"),
    *("kthvalue", "mode", "trace", "isin.Tensor_Tensor"),
)
_MOVED = (
    *("cat", "index.Tensor", "index_select", "gather", "take", "scatter.src", "scatter.value", "scatter.reduce", "scatter_add"),
    *("scatter_reduce.two", "index_add", "index_copy", "index_fill.int_Scalar", "index_fill.int_Tensor", "masked_select", "flip", "roll"),
    *("tril", "triu", "sort", "sort.stable", "topk", "embedding", "histc", "diag_embed", "diagonal_copy", "renorm"),
)

# The results are new tensors.
COMPUTED = (*_UNARY, *_BINARY, *_REDUCED, *_MOVED)

_COMPUTED_BASES = frozenset(name.partition(".")[0] for name in COMPUTED) - {*_REFUSED}

# The operators of `COMPUTED` for comparisons of two numbers.
COMPARED = frozenset(f"{name}.{kind}" for name in _COMPARED for kind in ("Scalar", "Tensor"))

# The first argument is read and written.
CHANGED = (
    *(f"{name}_" for name in (*_UNARY, *_LOGICAL, "clamp", "clamp_min", "clamp_max", "cumsum", "cumprod", "tril", "triu")),
    *(f"{name}_.{kind}" for name in _COMPARED for kind in ("Scalar", "Tensor")),
    *(f"{name}_.Tensor" for name in (*_BITWISE, "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "clamp")),
    *("div_.Tensor_mode", "pow_.Scalar", "remainder_.Scalar", "fmod_.Scalar", "masked_fill_.Scalar", "masked_fill_.Tensor"),
    *("_index_put_impl_", "index_add_", "index_copy_", "index_fill_.int_Scalar", "index_fill_.int_Tensor", "masked_scatter_"),
    *("scatter_.src", "scatter_.value", "scatter_.reduce", "scatter_add_", "scatter_reduce_.two", "lerp_.Scalar"),
)

# The first argument is written whole.
WRITTEN = ("fill_.Scalar", "fill_.Tensor", "zero_")

# The argument `out` is written whole.
WRITTEN_OUT = ("arange.start_out", "linspace.out", "logspace.out", "eye.out", "eye.m_out")

# The first argument is written whole, with draws of a generator of ours: the device's own has no values.
DRAWN = ("random_", "random_.from", "random_.to", "uniform_", "normal_", "bernoulli_.float", "bernoulli_.Tensor", "exponential_", "geometric_")

# As `DRAWN`, into the argument `out`.
DRAWN_OUT = ("randperm.generator_out",)

# Make a tensor of numbers.
MADE = (
    *("zeros", "ones", "full", "arange", "arange.start", "arange.start_step", "linspace", "logspace", "eye", "eye.m", "scalar_tensor"),
    *("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full"),
)
# Composed entirely of other operators: values written by those hold.
COMPOSED = (
    *("_to_copy", "clone", "repeat", "constant_pad_nd", "masked_fill.Scalar", "masked_fill.Tensor", "index_put", "copy", "fill.Scalar"),
    *("slice_scatter", "select_scatter", "diagonal_scatter", "masked_scatter", "put", "rand", "rand.generator", "randn", "randn.generator"),
    *("randint", "randint.generator", "randint.low", "randint.low_generator", "randperm", "randperm.generator", "rand_like"),
    *("randint_like", "randint_like.low_dtype", "bernoulli", "allclose"),
)

# Of a number among tensors these make a wrapped number on the device: they are called with a tensor instead.
OF_A_NUMBER = {"searchsorted.Scalar": "searchsorted.Tensor", "bucketize.Scalar": "bucketize.Tensor"}

# Indices of arguments that are written though the schema does not say so.
WRITTEN_ARGUMENTS = {
    "native_batch_norm": (3, 4),
    "cudnn_batch_norm": (3, 4),
    "batch_norm_update_stats": (1, 2),
    "batch_norm_gather_stats": (3, 4),
    "batch_norm_gather_stats_with_counts": (3, 4),
}

# Operators that write through another operator of these tables.
DELEGATED = ("index_put_",)

# Make two tensors share memory whose versions differ.
SHARING = ("set_.source_Storage", "set_.source_Storage_storage_offset", "set_.source_Tensor")

# Operators that change a tensor's shape, layout or flags, but no value.
SHAPED = (
    *("as_strided_", "detach_", "rename_", "requires_grad_", "resize_", "resize_as_", "resize_as_sparse_", "set_", "squeeze_", "swapaxes_"),
    *("swapdims_", "t_", "transpose_", "unsqueeze_", "sparse_resize_", "sparse_resize_and_clear_", "_coalesced_", "retain_grad_"),
    "record_stream",
)


def is_left_alone(name: str) -> bool:
    """True if an operator changes no value, though its schema says that it writes, or cannot be replaced: `resize_`, `pow.Scalar_out`."""
    base = name.partition(".")[0]
    return base in SHAPED or base in _REFUSED


def is_computed_out(name: str) -> bool:
    """True if the results that `add.out` writes into arguments are computed as those of `add.Tensor`."""
    return name.partition(".")[0] in _COMPUTED_BASES
