"""Runs a program of a task without a GPU and returns facts: bytes alive on the device, printed numbers, gradients.

`weigh` puts every tensor on PyTorch's meta device and counts the storages that a GPU would have. `rehearse` runs the program with real numbers on
the CPU, in the small sizes that its options allow. Both fork, so the caller imports PyTorch once.
"""

import contextlib
import io
import multiprocessing
import os
import pathlib
import re
import runpy
import sys
import traceback
import weakref
from dataclasses import dataclass, field

import torch
import torch._dynamo  # optimizers import it at their first step: here once, not in each fork
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

MIB, GIB = 2**20, 2**30
ROUNDING = 512  # bytes, the smallest block of the caching allocator
SECONDS = 120
NUMBER = re.compile(r"[-+]?\d+\.\d+(?:e[-+]?\d+)?|[-+]?\d+")
VALUES = {torch.Tensor.item, torch.Tensor.__float__, torch.Tensor.__int__, torch.Tensor.__bool__, torch.Tensor.__index__}


@dataclass
class Facts:
    """The result of one run. Bytes are those of the device, without the CUDA context and without the allocator's unused rests."""

    peak: int = 0
    after_steps: list[int] = field(default_factory=list)
    gradients: list[float] = field(default_factory=list)
    printed: str = ""
    error: str = ""
    events: list[tuple[int, int]] = field(default_factory=list)

    @property
    def numbers(self) -> list[float]:
        """The numbers of the printed lines."""
        return [float(number) for number in NUMBER.findall(self.printed)]


class Ledger(TorchDispatchMode):
    """Counts storages on the device: results of operations with an operand there, and those that `Placement` puts there."""

    def __init__(self, facts: Facts, limit: int | None) -> None:
        super().__init__()
        self.facts, self.limit, self.alive, self.placing = facts, limit, 0, False
        self.storages: dict[int, weakref.ref] = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        operands = [leaf for leaf in tree_iter((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        result = function(*args, **(kwargs or {}))
        if self.placing or any(self.holds(operand) for operand in operands):
            for leaf in tree_iter(result):
                if isinstance(leaf, torch.Tensor) and leaf.is_meta:
                    self.add(leaf)
        return result

    def holds(self, tensor: torch.Tensor) -> bool:
        """True if the tensor's storage is on the device."""
        return id(tensor.untyped_storage()) in self.storages

    def add(self, tensor: torch.Tensor) -> None:
        """Counts the storage of a tensor, unless the ledger has it."""
        storage = tensor.untyped_storage()
        key, size = id(storage), -(-storage.nbytes() // ROUNDING) * ROUNDING
        if key in self.storages or not size:
            return
        if self.limit is not None and self.alive + size > self.limit:
            raise torch.OutOfMemoryError(f"request of {size / MIB:.2f} MiB with {self.alive / MIB:.2f} MiB alive")
        self.storages[key] = weakref.ref(storage, lambda _: self.remove(key, size))
        self.alive += size
        self.facts.peak = max(self.facts.peak, self.alive)
        self.facts.events.append((key, size))

    def remove(self, key: int, size: int) -> None:
        """Ends the life of a storage."""
        del self.storages[key]
        self.alive -= size
        self.facts.events.append((key, -size))


def is_gpu(value: object) -> bool:
    """True for a name of a CUDA device; a plain number is not one in the programs of the tasks."""
    return isinstance(value, str | torch.device) and str(value).startswith("cuda")


def is_host(value: object) -> bool:
    """True for a name of the CPU."""
    return isinstance(value, str | torch.device) and str(value).startswith("cpu")


class Placement(TorchFunctionMode):
    """Sends moves to the device to the ledger, makes moves to the host leave it, and answers requests for values with 1."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self.ledger = ledger

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function in VALUES:
            return True if function is torch.Tensor.__bool__ else 1.0 if function in (torch.Tensor.item, torch.Tensor.__float__) else 1
        if function is torch.Tensor.__format__:
            return format(1.0, args[1]) if len(args) > 1 else "1.0"
        if function is torch.Tensor.tolist:
            return [1] * args[0].numel()
        if function in (torch.Tensor.cpu, torch.Tensor.cuda, torch.Tensor.to):
            return self.move(function, args, kwargs)
        if function is F.scaled_dot_product_attention:
            return Attention.apply(*args[:3])
        if function is torch._C._nn._parse_to or not any(map(is_gpu, (*args, *kwargs.values()))):
            return function(*args, **({"device": "meta"} | kwargs if is_host(kwargs.get("device")) else kwargs))
        args = tuple("meta" if is_gpu(value) else value for value in args)
        kwargs = {name: "meta" if is_gpu(value) else value for name, value in kwargs.items()}
        return self.place(function, args, kwargs)

    def place(self, function, args, kwargs):
        """Runs a call whose results belong to the device."""
        self.ledger.placing, before = True, self.ledger.placing
        try:
            return function(*args, **kwargs)
        finally:
            self.ledger.placing = before

    def move(self, function, args, kwargs):
        """`Tensor.to` and its kin: a copy on the other side, or a cast on the same side."""
        tensor, rest = args[0], [*args[1:], *kwargs.values()]
        dtype = next((value for value in rest if isinstance(value, torch.dtype)), tensor.dtype)
        other = next((value for value in rest if isinstance(value, torch.Tensor)), None)
        held = self.ledger.holds(tensor)
        on_gpu = function is torch.Tensor.cuda or any(map(is_gpu, rest)) or (other is not None and self.ledger.holds(other))
        on_host = function is torch.Tensor.cpu or any(map(is_host, rest))
        if on_gpu and not held:
            return self.place(Move.apply, (tensor, dtype), {})
        if on_host and held:
            return Move.apply(tensor, dtype)
        return tensor if dtype == tensor.dtype and other is None else torch.ops.aten._to_copy(tensor, dtype=other.dtype if other is not None else dtype)


class Move(torch.autograd.Function):
    """A differentiable copy, to the device within `Placement.place`, else to the host."""

    @staticmethod
    def forward(ctx, tensor, dtype):
        """The copy."""
        return torch.empty(tensor.shape, dtype=dtype, device="meta")

    @staticmethod
    def backward(ctx, gradient):
        """The gradient, on the same side."""
        return gradient, None


class Attention(torch.autograd.Function):
    """The memory of flash and memory-efficient attention: inputs, output and one number per row are saved, no matrix of scores."""

    @staticmethod
    def forward(ctx, query, key, value):
        """An output of the query's shape."""
        output = torch.empty_like(query)
        ctx.save_for_backward(query, key, value, output, torch.empty_like(query[..., 0], dtype=torch.float32))
        return output

    @staticmethod
    def backward(ctx, gradient):
        """Three gradients."""
        query, key, value, _, row = ctx.saved_tensors
        torch.empty_like(row)
        return torch.empty_like(query), torch.empty_like(key), torch.empty_like(value)


def weigh(folder: pathlib.Path, script: str, options: list[str], limit: int | None = None) -> Facts:
    """The bytes on the device over a run of `script`; the run ends with an error at `limit`."""
    return in_fork(run_weighed, folder, script, options, limit)


def rehearse(folder: pathlib.Path, script: str, options: list[str]) -> Facts:
    """The printed numbers and the gradients of a run on the CPU."""
    return in_fork(run_rehearsed, folder, script, options, None)


def in_fork(runner, folder, script, options, limit) -> Facts:
    """Runs in a fork, whose world ends with the run."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=enter, args=(sender, runner, pathlib.Path(folder), script, options, limit))
    child.start()
    sender.close()
    try:
        facts = receiver.recv() if receiver.poll(SECONDS) else Facts(error=f"the program ran for more than {SECONDS} s")
    except EOFError:
        facts = Facts(error="the program ended its process")
    child.kill()
    child.join()
    return facts


def enter(sender, runner, folder, script, options, limit) -> None:
    """The fork: runs the program in its folder, and sends the facts."""
    facts, output = Facts(), io.StringIO()
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = [script, *options]
    torch.set_num_threads(1)
    torch.set_grad_enabled(True)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        try:
            runner(facts, script, limit)
        except SystemExit as end:
            facts.error = f"exit {end.code}" if end.code else ""
        except BaseException:
            facts.error = traceback.format_exc()
    facts.printed = output.getvalue()
    sender.send(facts)


def run_weighed(facts: Facts, script: str, limit: int | None) -> None:
    """The run on the meta device."""
    import torch.optim.optimizer as optimizers

    ledger = Ledger(facts, limit)
    optimizers._get_foreach_kernels_supported_devices = lambda: ["cuda", "meta"]
    optimizers._get_fused_kernels_supported_devices = lambda: ["cuda", "meta"]
    replace_cuda()
    optimizers.register_optimizer_step_post_hook(lambda *_: facts.after_steps.append(ledger.alive))
    placement, backward = Placement(ledger), torch.autograd._engine_run_backward

    def run_backward(*args, **kwargs):
        """Backward, with the placement that PyTorch takes away during a call: a checkpoint computes again in here."""
        with placement:
            return backward(*args, **kwargs)

    torch.autograd._engine_run_backward = run_backward
    with torch.device("meta"), placement, ledger:
        runpy.run_path(script, run_name="__main__")


def run_rehearsed(facts: Facts, script: str, limit: None) -> None:
    """The run on the CPU, with the same seed each time."""
    import torch.optim.optimizer as optimizers

    replace_cuda()
    optimizers.register_optimizer_step_pre_hook(lambda optimizer, *_: facts.gradients.extend(norms(optimizer)))
    with OnHost():
        torch.manual_seed(0)
        runpy.run_path(script, run_name="__main__")


def norms(optimizer: torch.optim.Optimizer) -> list[float]:
    """The norm of each gradient, in the order of the parameters."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    return [float(weight.grad.norm()) if weight.grad is not None else 0.0 for weight in weights]


class OnHost(TorchFunctionMode):
    """Reads `cuda` as the CPU."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        args = tuple("cpu" if is_gpu(value) else value for value in args)
        kwargs = {name: "cpu" if is_gpu(value) else value for name, value in (kwargs or {}).items()}
        return function(*args, **kwargs) if function is not torch.Tensor.cuda else args[0]


def replace_cuda() -> None:
    """Makes the calls of `torch.cuda` that programs have around their work do nothing, as on a machine with one GPU."""
    torch.cuda.is_available, torch.cuda.device_count = lambda: True, lambda: 1
    torch.cuda.is_current_stream_capturing = lambda: False
    for name in ("synchronize", "empty_cache", "reset_peak_memory_stats", "manual_seed", "manual_seed_all", "set_device"):
        setattr(torch.cuda, name, lambda *_: None)
    for name in ("max_memory_allocated", "memory_allocated", "memory_reserved", "max_memory_reserved"):
        setattr(torch.cuda, name, lambda *_: 0)
