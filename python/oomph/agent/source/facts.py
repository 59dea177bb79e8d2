"""Facts of objects of Python's and PyTorch's own: what a condition asks of a device, a tensor or an object's kind, without running the program's code."""

import builtins
import os
import sys
import types

from ..process import objects

# The answer for all else.
NO_FACT = object()

_OF_DEVICES = ("type", "index")
_OF_TENSORS = ("is_cuda", "ndim", "requires_grad")
_METHODS_OF_TENSORS = ("dim", "size", "numel", "nelement")
_FEATURES = ("is_available", "device_count", "is_bf16_supported")


def read_attribute(owner: object, name: str) -> object:
    """An attribute of a `torch.device` or of a plain tensor."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "nn"):
        return NO_FACT
    names = _OF_DEVICES if type(owner) is torch.device else _OF_TENSORS if _is_tensor(torch, owner) else ()
    return getattr(owner, name) if name in names else NO_FACT


def call_method(owner: object, name: str, arguments: list[object]) -> object:
    """A method of a plain tensor that asks for a shape, a feature of a backend, or a variable of the environment."""
    torch = sys.modules.get("torch")
    if owner is os.environ and name == "get" and 1 <= len(arguments) <= 2 and all(type(it) in (str, type(None)) for it in arguments):
        return os.environ.get(*arguments)
    if torch is None or not hasattr(torch, "nn"):
        return NO_FACT
    if name in _FEATURES and not arguments and owner is torch.cuda:
        return getattr(owner, name)()
    if name in _METHODS_OF_TENSORS and _is_tensor(torch, owner) and all(type(it) is int for it in arguments):
        found = getattr(owner, name)(*arguments)
        return found if type(found) is int else tuple(found)
    return NO_FACT


def call_builtin(function: object, arguments: list[object]) -> object:
    """`isinstance` and `hasattr` of objects whose class has no code of its own for them."""
    if len(arguments) != 2:
        return NO_FACT
    owner, asked = arguments
    if function is builtins.isinstance:
        kinds = asked if type(asked) is tuple else (asked,)
        return any(it in type(owner).__mro__ for it in kinds) if all(map(_is_plain_class, kinds)) else NO_FACT
    if function is builtins.hasattr and type(asked) is str:
        return _has_attribute(owner, asked)
    return NO_FACT


def _is_plain_class(kind: object) -> bool:
    """True for a class without a metaclass of its own, which may ask in another way, and for `torch.Tensor`, whose metaclass does not."""
    torch = sys.modules.get("torch")
    return type(kind) is type or (torch is not None and kind is getattr(torch, "Tensor", None))


def _is_tensor(torch: object, value: object) -> bool:
    return type(value) in (torch.Tensor, torch.nn.Parameter)


def _has_attribute(owner: object, name: str) -> object:
    if name in objects.list_own(owner):
        return True
    if type(owner) is types.ModuleType:
        return NO_FACT if "__getattr__" in objects.list_own(owner) else False
    if isinstance(owner, (type, types.ModuleType)):
        # A class has the attributes of its bases, too, and a lazy module makes them.
        return NO_FACT
    found = objects.find_in_class(owner, name)
    if found is not None:
        # A property and a slot may raise `AttributeError`.
        return True if type(found) in (types.FunctionType, staticmethod, classmethod) else NO_FACT
    module = sys.modules.get("torch.nn.modules.module")
    finder = objects.find_in_class(owner, "__getattr__")
    if finder is None:
        return False
    if module is None or finder is not module.Module.__getattr__:
        return NO_FACT
    return any(name in objects.list_own(owner).get(it, ()) for it in ("_parameters", "_buffers", "_modules"))
