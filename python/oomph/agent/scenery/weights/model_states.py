"""The state dict of a checkpoint that cannot be reached: that of the module into which the program loads. See Note [Missing weights]."""

import functools
import io
from collections import OrderedDict

import torch

from ...host.holes import LARGE_BYTES
from . import ledger
from .remote_file import NoNetworkError


class UnknownWeightsError(NoNetworkError):
    """A program asks for the names or values of weights that cannot be reached."""

    __module__ = "oomph"


class ModelState(OrderedDict):
    """A state dict without known names, until a module loads it. Until then all reads fail."""

    def __init__(self, name: str, reason: str, map_location=None) -> None:
        super().__init__()
        self._name, self._reason, self._map_location = name, reason, map_location
        self._is_known = False

    def fill(self, module: torch.nn.Module) -> None:
        """Takes names and shapes of a module, once."""
        if self._is_known:
            return
        self._is_known = True
        state = make_state(module, self._name, _device_of(self._map_location))
        self.update(state)
        self._metadata = state._metadata

    def require(self) -> None:
        """Fails if the names are unknown."""
        if not self._is_known:
            raise UnknownWeightsError(f"{self._reason}; the script reads names of its weights, which nothing on this machine describes")


def _checked(name: str):
    method = getattr(OrderedDict, name)

    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        self.require()
        return method(self, *args, **kwargs)

    return wrapper


for _name in (
    "__getitem__", "__delitem__", "__iter__", "__len__", "__contains__", "__reversed__", "keys", "items", "values", "get", "pop", "popitem",
    "copy", "__eq__", "__or__", "__ror__", "__reduce__", "move_to_end",
):  # fmt: skip
    setattr(ModelState, _name, _checked(_name))


def make_state(module: torch.nn.Module, name: str, device: torch.device | None = None) -> OrderedDict:
    """A state dict of zeros with the names, dtypes and shapes of a module's, and a note of it."""
    found = module.state_dict(keep_vars=True)
    made: dict[int, object] = {}
    state = OrderedDict((key, made.setdefault(id(value), _stand_in(value, device or torch.device("cpu")))) for key, value in found.items())
    state._metadata = getattr(found, "_metadata", None)
    tensors = [value for value in made.values() if isinstance(value, torch.Tensor)]
    ledger.note(ledger.WEIGHTS, name, ledger.MODEL, tensors=len(tensors), bytes=sum(value.numel() * value.element_size() for value in tensors))
    return state


def _stand_in(value, device: torch.device):
    """Zeros in place of a tensor. Indices and packed values are the module's own."""
    if not isinstance(value, torch.Tensor) or value.is_quantized or value.layout != torch.strided:
        return value
    is_large = value.numel() * value.element_size() >= LARGE_BYTES
    if value.is_meta or is_large or value.is_floating_point() or value.is_complex():
        return torch.zeros(value.shape, dtype=value.dtype, device=device)
    return value.detach().to(device, copy=True)


def _device_of(map_location) -> torch.device:
    """The device of a tensor that was saved on the CPU and is loaded with `map_location`."""
    if map_location is None:
        return torch.device("cpu")
    file = io.BytesIO()
    torch.save(torch.zeros(1), file)
    file.seek(0)
    return torch.load(file, map_location=map_location).device


def _load(call, module, state_dict, *args, **kwargs):
    if isinstance(state_dict, ModelState):
        state_dict.fill(module)
    return call(module, state_dict, *args, **kwargs)


LAYERS = {"torch.nn.modules.module:Module.load_state_dict": _load}
