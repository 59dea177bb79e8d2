"""The numbers that PyTorch's kernels draw on a CUDA device, computed on the host.

Note [Draws of a device]
~~~~~~~~~~~~~~~~~~~~~~~~
A CUDA generator of PyTorch is a seed and an offset; its state is kept, saved and restored by PyTorch's own code on the host, which also
moves the offset on with each draw. The numbers are Philox 4x32-10 (Salmon et al., 2011) as cuRAND has it: the key is the seed, the counter
is the offset divided by four and the number of the thread, and each counter makes four words of 32 bits.

The kernels of most draws (`distribution_nullary_kernel` in ATen/native/cuda/DistributionTemplates.h, 2.11) run on a grid of 256 threads a
block, with at most as many blocks as the device holds at once. A thread makes four numbers of 32 bits, or two of 64, and writes them a
whole grid apart. So the same seed draws the same numbers on two GPUs only as long as the tensor is no larger than the smaller grid.

Words become numbers as in cuRAND's `curand_uniform4`, `curand_uniform2_double`, `curand_normal4` (Box-Muller), `curand_normal2_double`. The device's
fast sine differs from the host's in the last bits; all else is exact.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import torch

_WORD = 0xFFFFFFFF
_MULTIPLIERS, _WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_BLOCK = 256
# Words of 64 bits from this range of integers on (#143787); before PyTorch 2.7 from 2 to the 32 on, and for some dtypes only.
_WIDE = 1 << 28
_HAS_LARGEST = {torch.int64: 63, torch.int32: 31, torch.int16: 15, torch.int8: 7, torch.uint8: 8, torch.bool: 1}
_DIGITS = {torch.float32: 24, torch.float64: 53, torch.float16: 11, torch.bfloat16: 8}


class Draw(NamedTuple):
    """A generator's state before a draw, and the threads that the device runs at once."""

    seed: int
    offset: int
    resident: int


def read_state(tensor: torch.Tensor, generator: torch.Generator | None) -> Draw:
    """The state of a CUDA generator; `None` is the default generator of the tensor's device."""
    index = tensor.device.index
    state = (torch.cuda.default_generators[index] if generator is None else generator).get_state()
    seed, offset = state[:16].view(torch.int64).tolist()
    return Draw(seed & (1 << 64) - 1, offset, _resident_threads(index))


@functools.cache
def _resident_threads(index: int) -> int:
    properties = torch.cuda.get_device_properties(index)
    return properties.multi_processor_count * (properties.max_threads_per_multi_processor // _BLOCK) * _BLOCK


def draw(name: str, state: Draw, dtype: torch.dtype, count: int, *args) -> torch.Tensor | None:
    """The numbers of an operator in the order of memory; `None` if its kernel is not known here."""
    make = _KERNELS.get(name)
    return None if make is None else make(state, dtype, count, *args)


def permute(state: Draw, count: int) -> torch.Tensor:
    """The numbers of `randperm`: positions sorted by keys, and equal keys shuffled (ATen/native/cuda/Randperm.cu, 2.11)."""
    if count == 0:
        return torch.empty(0, dtype=torch.int64, device="cpu")
    bits = min(64, math.ceil(math.log2(count - (6 * count * count + 1) / (12 * math.log(0.9)))))
    keys = _draw_keys(state, count, bits) & ((1 << min(bits, 62)) - 1)
    keys, order = torch.sort(keys, stable=True)
    grid = _grid(state, count)
    offset = state.offset + 4 * (-(-count // (grid * (2 if _is_wide(_WORD, torch.int32) or bits > 32 else 4))))
    for start, size in _list_islands(keys):
        _shuffle(order[start : start + size], state._replace(offset=offset), start)
    return order


def _draw_keys(state: Draw, count: int, bits: int) -> torch.Tensor:
    if bits > 32:
        return _wide_words(state, count)
    return _remainder(state, torch.int32, count, _WORD)


def _list_islands(keys: torch.Tensor):
    """The start and the size of each row of equal keys."""
    starts = torch.cat((torch.tensor([True], device="cpu"), keys[1:] != keys[:-1])).nonzero().flatten().tolist()
    for start, end in zip(starts, [*starts[1:], len(keys)]):
        if end - start > 1:
            yield start, end - start


def _shuffle(part: torch.Tensor, state: Draw, thread: int) -> None:
    words = _philox(state, torch.tensor([thread], device="cpu"), -(-len(part) // 4))
    words = words.flatten().tolist()
    for taken, last in enumerate(range(len(part) - 1, 0, -1)):
        other = words[taken] % (last + 1)
        part[[last, other]] = part[[other, last]]


def _philox(state: Draw, threads: torch.Tensor, calls: int) -> torch.Tensor:
    """Words of 32 bits: of each call, the four words of every thread. A tensor of calls, words, threads."""
    first = (torch.arange(calls, device="cpu") + state.offset // 4)[:, None]
    counters = [first & _WORD, first >> 32, threads[None] & _WORD, threads[None] >> 32]
    keys = [state.seed & _WORD, state.seed >> 32]
    for _ in range(_ROUNDS):
        products = [_MULTIPLIERS[0] * counters[0], _MULTIPLIERS[1] * counters[2]]
        high, low = [it >> 32 & _WORD for it in products], [it & _WORD for it in products]
        counters = [high[1] ^ counters[1] ^ keys[0], low[1], high[0] ^ counters[3] ^ keys[1], low[0]]
        keys = [key + step & _WORD for key, step in zip(keys, _WEYL)]
    return torch.stack(torch.broadcast_tensors(*counters), 1)


def _grid(state: Draw, count: int) -> int:
    """The threads of the grid."""
    return min(-(-count // _BLOCK) * _BLOCK, state.resident)


def _words(state: Draw, count: int, each: int) -> torch.Tensor:
    """The words of the kernel's grid, with `each` numbers of a call: calls, four words, threads."""
    grid = _grid(state, count)
    return _philox(state, torch.arange(grid, device="cpu"), -(-count // (grid * each)))


def _narrow_words(state: Draw, count: int) -> torch.Tensor:
    return _words(state, count, 4).flatten()[:count]


def _pairs(state: Draw, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Two words for each number of 64 bits."""
    words = _words(state, count, 2)
    return words[:, 0::2].flatten()[:count], words[:, 1::2].flatten()[:count]


def _wide_words(state: Draw, count: int) -> torch.Tensor:
    """Words of 64 bits, as signed numbers of the same bits."""
    high, low = _pairs(state, count)
    return high << 32 | low


def _uniform(state: Draw, dtype: torch.dtype, count: int) -> torch.Tensor:
    """Numbers above 0 up to 1, as double precision of what the kernel computes with."""
    if dtype == torch.float64:
        first, second = _pairs(state, count)
        return (first ^ second << 21).double() * 2.0**-53 + 2.0**-54
    return (_narrow_words(state, count).float() * 2.0**-32 + 2.0**-33).double()


def _draw_uniform(state: Draw, dtype: torch.dtype, count: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
    low, high = (torch.tensor(it, dtype=dtype, device="cpu") for it in (low, high))
    between = high - low if dtype == torch.float64 else (high - low).float()
    drawn = (_uniform(state, dtype, count) * between.double() + low.double()).to(dtype)
    return torch.where(drawn == high, low, drawn)


def _draw_normal(state: Draw, dtype: torch.dtype, count: int, mean: float = 0.0, std: float = 1.0) -> torch.Tensor:
    if dtype == torch.float64:
        words = _words(state, count, 2)
        first, second = (words[:, place] ^ words[:, place + 1] << 21 for place in (0, 2))
        drawn = _box_muller(first.double() * 2.0**-53 + 2.0**-54, (second.double() * 2.0**-52 + 2.0**-53) * math.pi)
        return drawn.flatten()[:count] * std + mean
    words = _words(state, count, 4).float()
    radius, angle = words[:, 0::2] * 2.0**-32 + 2.0**-33, (words[:, 1::2] * 2.0**-32 + 2.0**-33) * (2 * math.pi)
    return (_box_muller(radius, angle).flatten()[:count] * std + mean).to(dtype)


def _box_muller(radius: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    """Normal numbers: of each pair the sine's comes first. A tensor of calls, numbers, threads."""
    length = (-2 * radius.log()).sqrt()
    both = torch.stack((length * angle.sin(), length * angle.cos()), -2)
    return both.view(len(both), -1, both.size(-1))


def _draw_bernoulli(state: Draw, dtype: torch.dtype, count: int, probability: float = 0.5) -> torch.Tensor:
    drawn = _uniform(state, dtype, count)
    limit = probability if dtype == torch.float64 else float(torch.tensor(probability, dtype=torch.float32, device="cpu"))
    return (drawn < limit).to(dtype)


def _draw_exponential(state: Draw, dtype: torch.dtype, count: int, rate: float = 1.0) -> torch.Tensor:
    epsilon = torch.finfo(torch.float64 if dtype == torch.float64 else torch.float32).eps
    drawn = _uniform(state, dtype, count)
    return (torch.where(drawn >= 1 - epsilon / 2, -epsilon / 2, drawn.log()) / -rate).to(dtype)


def _draw_geometric(state: Draw, dtype: torch.dtype, count: int, probability: float) -> torch.Tensor:
    return (_uniform(state, dtype, count).log() / math.log1p(-probability)).ceil().to(dtype)


def _draw_integers(state: Draw, dtype: torch.dtype, count: int, low: int, high: int | None) -> torch.Tensor | None:
    if high is None or not 0 < high - low < 1 << 62:
        return None
    return (_remainder(state, dtype, count, high - low) + low).to(dtype)


def _draw_below(state: Draw, dtype: torch.dtype, count: int, high: int) -> torch.Tensor | None:
    return _draw_integers(state, dtype, count, 0, high)


def _draw_any(state: Draw, dtype: torch.dtype, count: int) -> torch.Tensor | None:
    """Integers of the whole range of a dtype from 0 on, or up to the largest that the dtype holds with all below."""
    if dtype == torch.int64:
        return _wide_words(state, count) & (1 << 63) - 1
    words = _wide_words(state, count) if dtype == torch.float64 else _narrow_words(state, count)
    if dtype in _DIGITS:
        return _modulo(words, (1 << _DIGITS[dtype]) + 1).to(dtype)
    return (words & (1 << _HAS_LARGEST[dtype]) - 1).to(dtype) if dtype in _HAS_LARGEST else None


def _remainder(state: Draw, dtype: torch.dtype, count: int, size: int) -> torch.Tensor:
    """Integers below `size`."""
    return _modulo(_wide_words(state, count), size) if _is_wide(size, dtype) else _narrow_words(state, count) % size


def _modulo(words: torch.Tensor, size: int) -> torch.Tensor:
    """The remainder of words of 64 bits without a sign."""
    halves = (words >> 1 & (1 << 63) - 1) % size
    return (2 * halves + (words & 1)) % size


@functools.cache
def _has_wide_range() -> bool:
    return tuple(int(it) for it in torch.__version__.split(".")[:2]) >= (2, 7)


def _is_wide(size: int, dtype: torch.dtype) -> bool:
    """True if the kernel of integers below `size` draws words of 64 bits."""
    if _has_wide_range():
        return size >= _WIDE
    return size > _WORD and dtype in (torch.int64, torch.float64, torch.float32, torch.bfloat16)


def draw_by_probabilities(state: Draw, probabilities: torch.Tensor) -> torch.Tensor:
    """The booleans of `bernoulli_` with a tensor, four elements in a row for each thread (`bernoulli_tensor_cuda_kernel`)."""
    threads = torch.arange(-(-probabilities.numel() // 4), device="cpu")
    drawn = _philox(state, threads, 1)[0].t().flatten()[: probabilities.numel()].float() * 2.0**-32 + 2.0**-33
    return drawn.view(probabilities.shape) <= probabilities


_KERNELS: dict[str, Callable] = {
    "uniform_": _draw_uniform,
    "normal_": _draw_normal,
    "bernoulli_.float": _draw_bernoulli,
    "exponential_": _draw_exponential,
    "geometric_": _draw_geometric,
    "random_.from": _draw_integers,
    "random_.to": _draw_below,
    "random_": _draw_any,
}
