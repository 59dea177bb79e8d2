"""The models of a program as hooks for remedies: the move to a device, and the first call.

A root is a module that the program moves or calls itself, as in `modules`. Modules below a known root are part of that root; so a model is
reported once, even if DDP or a compiler is put around it later.
"""

import threading
import weakref
from collections.abc import Callable

import torch

from ..hooks import around, events
from ..hooks.replacing import Layer

_MOVERS: list[tuple[int, Callable]] = []


class _Met:
    """The known modules. By id, because a module's own hash may be costly."""

    def __init__(self) -> None:
        self._references: dict[int, weakref.ref] = {}

    def __contains__(self, module: torch.nn.Module | None) -> bool:
        reference = self._references.get(id(module))
        return reference is not None and reference() is module

    def add(self, root: torch.nn.Module) -> None:
        """All that is below the root now."""
        for module in root.modules():
            self._references[id(module)] = weakref.ref(module)


def has_batch_norm(root: torch.nn.Module) -> bool:
    """True if a layer of batch normalisation is trained: the statistics are those of a batch."""
    return any(isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.training for module in root.modules())


def before_training(action: Callable[[torch.nn.Module, bool], object]) -> None:
    """Calls `action(root, is_compiled)` before each root's first forward that records a graph, or is compiled."""
    met = _Met()

    def compiled(model=None, *_args, **_options) -> None:
        if isinstance(model, torch.nn.Module) and model not in met:
            met.add(model)
            action(model, True)

    def called(module: torch.nn.Module, *_args, **_kwargs) -> None:
        if not torch.is_grad_enabled() or module in met:
            return
        is_around = _inner(module) in met
        met.add(module)
        if not is_around and any(parameter.requires_grad for parameter in module.parameters()):
            action(module, False)

    # Not a hook of modules: when hooks run, the module has already chosen its `forward`.
    events.around_module_call(events.before(called))
    for name in ("torch:compile", "torch.nn.modules.module:Module.compile"):
        around(name, events.before(compiled))


def _inner(module: torch.nn.Module) -> torch.nn.Module | None:
    """The module inside DDP or the compiler's wrapper."""
    inside = module._modules
    return inside.get("_orig_mod") or inside.get("module")


def around_forward(run: Callable) -> None:
    """Replaces each call of a root that records a graph by `run(root, forward)`, which calls `forward()` and returns its result.

    Recomputation in backward is part of the backward.
    """
    inside = threading.local()

    def layer(call, module, *args, **kwargs):
        is_root = not (getattr(inside, "root", None) or torch._C._current_graph_task_id() != -1)
        if not is_root or not torch.is_grad_enabled() or not any(parameter.requires_grad for parameter in module.parameters()):
            return call(module, *args, **kwargs)
        inside.root = module
        try:
            return run(module, lambda: call(module, *args, **kwargs))
        finally:
            inside.root = None

    events.around_module_call(layer)


def before_move(action: Callable[[torch.nn.Module, torch.device], object], order: int = 0) -> None:
    """Calls `action(root, device)` before each root is first moved to a GPU, by `to` or `cuda`; actions of lower order first.

    An action that returns `True` replaces the move; later moves of the root do nothing either.
    """
    _MOVERS.append((order, action))
    _MOVERS.sort(key=lambda mover: mover[0])
    if len(_MOVERS) > 1:
        return
    met, stay = _Met(), _Met()

    def on_move(module: torch.nn.Module, device: torch.device | None) -> bool:
        if device is not None and device.type == "cuda" and module not in met:
            met.add(module)
            answers = [mover(module, device) for _, mover in _MOVERS]
            met.add(module)
            if True in answers:
                stay.add(module)
        return module in stay

    events.around_move(_move_unless(on_move, lambda *args, **kwargs: torch._C._nn._parse_to(*args, **kwargs)[0]))
    events.around_cuda(_move_unless(on_move, _cuda))


def replace(root: torch.nn.Module, name: str, module: torch.nn.Module) -> None:
    """Replaces the module of this name."""
    parent, _, child = name.rpartition(".")
    setattr(root.get_submodule(parent), child, module)


def _cuda(device=None) -> torch.device:
    return torch.device("cuda", device) if isinstance(device, int) else torch.device(device or "cuda")


def _move_unless(on_move: Callable, device_of: Callable) -> Layer:
    def layer(move, module, *args, **kwargs):
        return module if on_move(module, device_of(*args, **kwargs)) else move(module, *args, **kwargs)

    return layer


def plain_name(name: str) -> str:
    """A module's name without the prefixes of DDP and the compiler."""
    return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))
