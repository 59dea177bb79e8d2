"""inplace-activations: an activation function writes its result over its input.

Note [What may be overwritten]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Autograd must not need the input: ReLU's backward needs the result alone, as do the in-place versions of the functions in `_BY_RESULT`. The
other functions (SiLU, Hardswish, Mish …) copy their input when they work in place, and save nothing.

And no other code may need the input. Autograd raises only if another operation had saved the input; `x + relu(x)` would silently be wrong.
So in the first forward of an activation all calls of PyTorch are watched: an input with a use before or after the activation must not be
overwritten. The result is a view of the input, so that the watch can tell the two apart afterwards. If the input is used after the
activation, this first call has already overwritten the input; later calls work out of place.
"""

import sys
import weakref

import torch
from torch.nn.modules import activation
from torch.nn.modules import module as nn_module
from torch.overrides import TorchFunctionMode

from ..hooks import events
from ..process import frames
from . import Remedy
from .actions import set_argument

_BY_RESULT = (
    torch.nn.ReLU,
    torch.nn.ReLU6,
    torch.nn.Hardtanh,
    torch.nn.LeakyReLU,
    torch.nn.ELU,
    torch.nn.CELU,
    torch.nn.SELU,
    torch.nn.Threshold,
)
_ACTIVATIONS = tuple(getattr(activation, name) for name in activation.__all__)
# Operations that saved their own result, by the names of their graph nodes.
_SAVE_THEIR_RESULT = ("Sigmoid", "Tanh", "Exp", "Softmax", "LogSoftmax", "Sqrt", "Rsqrt", "Relu", "Reciprocal", "Elu", "LeakyRelu")


def install(remedy: Remedy) -> None:
    """Sets `inplace=True` on every activation module that can work in place. See Note [What may be overwritten]."""
    remedy.otherwise = "no activation module runs that could work in place and does not"
    activations = _Activations(remedy)
    nn_module.register_module_forward_pre_hook(activations.before)
    nn_module.register_module_forward_hook(activations.after, always_call=True)
    events.around_backward(activations.backward)


class _Activations:
    def __init__(self, remedy: Remedy) -> None:
        self._remedy = remedy
        self._decided: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        # The activations that run for the first time in this forward, and the user's lines.
        self._tried: weakref.WeakKeyDictionary[torch.nn.Module, tuple[str, int]] = weakref.WeakKeyDictionary()
        # The activation that runs at present, in place.
        self._running: torch.nn.Module | None = None
        self._depth = 0
        self._watch = _Watch(self._used_after)
        self._is_watching = False

    def before(self, module: torch.nn.Module, args) -> None:
        """A module begins."""
        if torch.compiler.is_compiling():
            return
        self._depth += 1
        if self._depth == 1 and any(map(self._is_open, module.modules())):
            self._is_watching = True
            self._watch.__enter__()
        if not self._is_watching or not torch.is_grad_enabled() or not args:
            return
        if self._is_open(module):
            self._begin(module)
        if module in self._tried and module.inplace:
            self._try(module, args[0])

    def after(self, module: torch.nn.Module, args, output):
        """A module ends; separates the result of an activation's first call from the overwritten input."""
        if torch.compiler.is_compiling():
            return None
        self._depth -= 1
        if self._depth == 0 and self._is_watching:
            self._is_watching = False
            self._watch.__exit__(None, None, None)
            self._watch.finish(output)
            self._note_tried()
        if module is not self._running:
            return None
        self._running = None
        return None if output is None or self._depth == 0 else self._watch.overwritten(args[0], module)

    def _is_open(self, module: torch.nn.Module) -> bool:
        """True if this is an undecided activation."""
        is_activation = isinstance(module, _ACTIVATIONS) and hasattr(module, "inplace")
        return is_activation and module not in self._decided

    def _begin(self, module: torch.nn.Module) -> None:
        self._decided.add(module)
        if module.inplace:
            return self._remedy.rejected(f"{type(module).__name__}(inplace=True) already")
        module.inplace = True
        self._tried[module] = frames.users_line(sys._getframe(1))

    def _try(self, module: torch.nn.Module, taken: torch.Tensor) -> None:
        """Each call of it: a module may be called in several places."""
        reason = _against(module, taken)
        if reason is None and self._watch.has_seen(taken):
            reason = f"{type(module).__name__} is not the first to use its input"
        if reason is None:
            self._running = module
        else:
            module.inplace = False
            self._remedy.rejected(reason)

    def _used_after(self, module: torch.nn.Module | None) -> None:
        if module is not None and module.inplace:
            module.inplace = False
            self._remedy.rejected(f"what {type(module).__name__} would overwrite is used here")

    def _note_tried(self) -> None:
        """The forward is over: what still works in place, nobody has objected to."""
        for module, at in self._tried.items():
            if module.inplace:
                name = type(module).__name__
                self._remedy.applied(f"{name}(inplace=True)", at=at, action=set_argument(name, "inplace", "True"))
        self._tried.clear()

    def backward(self, run, *args, **kwargs):
        """Says why, where autograd refuses."""
        try:
            return run(*args, **kwargs)
        except RuntimeError as error:
            if "modified by an inplace operation" in str(error):
                self._remedy.rejected(f"autograd needs what was overwritten: {str(error).partition(';')[0]}")
            raise


def _against(module: torch.nn.Module, taken: torch.Tensor) -> str | None:
    """Why an activation cannot work in place on this tensor."""
    name = type(module).__name__
    if type(module) not in _BY_RESULT:
        return f"{name} needs its input in backward: in place it keeps a copy"
    if taken.grad_fn is None:
        return f"the input of {name} is not computed by the model"
    if taken._is_view():
        return f"the input of {name} is a view of something else"
    node = taken.grad_fn.name().removesuffix("Backward0")
    return f"{node}, whose result {name} is given, needs it in backward" if node in _SAVE_THEIR_RESULT else None


class _Watch(TorchFunctionMode):
    """Watches every call of PyTorch and its arguments: the used tensors, and the used ones among the overwritten."""

    def __init__(self, used_after) -> None:
        super().__init__()
        self._used_after = used_after
        # By id, for a tensor's own equality is a tensor; an entry counts only while its reference is the tensor.
        self._seen: dict[int, weakref.ref] = {}
        self._overwritten: dict[int, tuple[weakref.ref, weakref.ref]] = {}

    def has_seen(self, tensor: torch.Tensor) -> bool:
        """True if a call had the tensor as an argument."""
        reference = self._seen.get(id(tensor))
        return reference is not None and reference() is tensor

    def overwritten(self, tensor: torch.Tensor, module: torch.nn.Module) -> torch.Tensor:
        """Forbids later use of the tensor; returns a view of it as the result."""
        result = tensor.view_as(tensor)
        self._overwritten[id(tensor)] = weakref.ref(tensor), weakref.ref(module)
        return result

    def finish(self, output) -> None:
        """Ends the watch, with the `output` of the outermost module."""
        for tensor in _tensors(output):
            self._note(tensor)
        self._seen.clear()
        self._overwritten.clear()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, (torch.Tensor, tuple, list)):
            for tensor in _tensors((args, kwargs)):
                # An operation in place, such as `+=`, returns its own input.
                if tensor is not result:
                    self._note(tensor)
        return result

    def _note(self, tensor: torch.Tensor) -> None:
        self._seen[id(tensor)] = weakref.ref(tensor)
        reference, module = self._overwritten.get(id(tensor), (None, None))
        if reference is not None and reference() is tensor:
            self._used_after(module())


def _tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
