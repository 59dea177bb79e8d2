"""autocast: forward and loss in bfloat16 or float16, over parameters that stay in float32.

Note [Where autocast is]
~~~~~~~~~~~~~~~~~~~~~~~~
A user writes `with torch.autocast("cuda", dtype=...)` around forward and loss, and calls `backward` after it. Here autocast begins at the
program's call of a module with parameters on a GPU, and ends at the call of the autograd engine: so a loss outside of the model is
included, and the casts of weights, which autocast keeps until its end, are freed when backward begins. A forward that records no graph has
no backward; there autocast ends with the module. PyTorch itself makes checkpoints recompute under the autocast of the first forward.

If the program has an autocast that is turned off, the remedy turns it on. Trainers of transformers and Lightning have an argument for
autocast, and implement it themselves.
"""

import sys

import torch
from torch.amp.autocast_mode import autocast
from torch.nn.modules import module as nn_module

from ..hooks import around, events
from ..process import frames
from . import Remedy
from .actions import set_argument

_DTYPES = {"bf16": torch.bfloat16, "bfloat16": torch.bfloat16, "fp16": torch.float16, "float16": torch.float16}
# These enter autocast only to repeat in a thread, or a second forward, the state of the first.
_REPEATERS = ("torch/utils/checkpoint.py", "torch/nn/parallel/parallel_apply.py")


def install(remedy: Remedy) -> None:
    """`dtype=bf16` (the default) or `dtype=fp16`."""
    asked = remedy.settings.get("dtype", "bf16")
    if asked not in _DTYPES:
        return remedy.rejected(f"dtype={asked}: expected bf16 or fp16", at=("", 0))
    remedy.otherwise = "no module with parameters on a GPU runs"
    _Autocast(remedy, _DTYPES[asked]).install()


class _Autocast:
    """See Note [Where autocast is]."""

    def __init__(self, remedy: Remedy, dtype: torch.dtype) -> None:
        self._remedy = remedy
        self._dtype = dtype
        # The region under way, and whether it ends with the outermost module.
        self._region: autocast | None = None
        self._ends_with_module = False
        self._depth = 0
        self._in_engine = 0
        self._is_off = False
        # True if the program has an autocast, which was turned on.
        self._has_its_own = False

    def install(self) -> None:
        """Watches modules, the engine, and the program's own use of autocast."""
        nn_module.register_module_forward_pre_hook(self._before)
        nn_module.register_module_forward_hook(self._after, always_call=True)
        events.around_backward(self._run_backward)
        events.before_training_arguments(self._tell_transformers)
        events.before_lightning_trainer(self._tell_lightning)
        around("torch.amp.autocast_mode:autocast.__enter__", events.before(self._enter))

    def _tell_transformers(self, arguments) -> None:
        self._is_off = True
        if arguments.bf16 or arguments.fp16:
            return self._remedy.rejected("TrainingArguments asks for mixed precision already")
        dtype, hardware = _on_this_gpu(self._dtype, has_scaler=True)
        name = "bf16" if dtype is torch.bfloat16 else "fp16"
        setattr(arguments, name, True)
        self._remedy.applied(f"TrainingArguments({name}=True){hardware}", action=set_argument("TrainingArguments", name, "True"))

    def _tell_lightning(self, keywords: dict) -> None:
        self._is_off = True
        if keywords.get("precision") not in (None, 32, "32", "32-true"):
            return self._remedy.rejected(f"Trainer was made with precision={keywords['precision']!r}")
        dtype, hardware = _on_this_gpu(self._dtype, has_scaler=True)
        precision = keywords["precision"] = "bf16-mixed" if dtype is torch.bfloat16 else "16-mixed"
        action = set_argument("Trainer", "precision", f'"{precision}"')
        self._remedy.applied(f'Trainer(precision="{precision}"){hardware}', action=action)

    def _before(self, module: torch.nn.Module, _args) -> None:
        if torch.compiler.is_compiling():
            return
        self._depth += 1
        is_settled = self._is_off or self._has_its_own or self._region is not None
        if self._depth == 1 and not is_settled and not self._in_engine and _is_on_gpu(module):
            self._begin(module)

    def _after(self, _module: torch.nn.Module, _args, _output) -> None:
        if torch.compiler.is_compiling():
            return
        self._depth -= 1
        if self._depth == 0 and self._ends_with_module:
            self._end()

    def _begin(self, module: torch.nn.Module) -> None:
        reason = _against(module)
        if reason is not None:
            return self._remedy.rejected(reason)
        dtype, hardware = _on_this_gpu(self._dtype)
        self._remedy.applied(f'torch.autocast("cuda", dtype={dtype}) around forward and loss{hardware}')
        self._region = autocast("cuda", dtype=dtype)
        self._ends_with_module = not torch.is_grad_enabled()
        self._region.__enter__()

    def _end(self) -> None:
        region, self._region, self._ends_with_module = self._region, None, False
        if region is not None:
            region.__exit__(None, None, None)

    def _run_backward(self, run, *args, **kwargs):
        self._end()
        self._in_engine += 1
        try:
            return run(*args, **kwargs)
        finally:
            self._in_engine -= 1

    def _enter(self, context: autocast) -> None:
        """Ends the remedy's autocast wherever the program enters its own."""
        caller = frames.skip_agents(sys._getframe())
        file = caller.f_code.co_filename if caller else ""
        if context is not self._region and context.device == "cuda" and not file.endswith(_REPEATERS):
            self._meet(context, file)

    def _meet(self, context: autocast, file: str) -> None:
        """The program enters an autocast of its own. A disabled autocast inside a module is left alone: the module needs full precision."""
        if self._is_off:
            return
        if context._enabled and not self._has_its_own:
            self._give_way(f"the program autocasts to {context.fast_dtype} itself")
        elif not context._enabled and self._depth == 0 and frames.is_users(file):
            context.fast_dtype, hardware = _on_this_gpu(self._dtype)
            context._enabled = self._has_its_own = True
            action = set_argument("autocast", "enabled", "True")
            self._remedy.applied(f"autocast(enabled=True, dtype={context.fast_dtype}){hardware}", action=action)

    def _give_way(self, reason: str) -> None:
        self._is_off = True
        self._end()
        self._remedy.rejected(reason)


def _is_on_gpu(module: torch.nn.Module) -> bool:
    return any(parameter.is_cuda for parameter in module.parameters())


def _against(module: torch.nn.Module) -> str | None:
    """Why autocast would do nothing for a module."""
    name = type(module).__name__
    if torch.is_autocast_enabled("cuda"):
        return f"{name} runs under autocast already"
    dtypes = {parameter.dtype for parameter in module.parameters() if parameter.is_floating_point()}
    if dtypes and not dtypes & {torch.float32}:
        return f"the parameters of {name} are in {', '.join(sorted(map(str, dtypes)))} already"
    return None


def _on_this_gpu(dtype: torch.dtype, has_scaler: bool = False) -> tuple[torch.dtype, str]:
    """The dtype in which the GPU computes, and a remark for the record. A trainer has its own GradScaler."""
    major, minor = torch.cuda.get_device_capability()
    said = ""
    if dtype is torch.bfloat16 and major < 8:
        dtype, said = torch.float16, f", for compute capability {major}.{minor} does not compute in bfloat16"
    if dtype is torch.float16 and not has_scaler:
        said += "; training in float16 needs a GradScaler, whose numbers (less than 4 KiB) are not counted here"
    if major < 7:
        said += f"; compute capability {major}.{minor} has no Tensor Cores, so it gets no faster"
    return dtype, said
