"""timm's `pretrained=True` (`timm/models/_builder.py`, 1.0.31). See Note [Missing weights]."""

import errno
import inspect
import os
import sys
from collections.abc import Callable

import torch

from ...hooks import innermost
from . import addresses, model_states
from .remote_file import AnswerError, is_unreachable

# `_EXT_PRIORITY` of `timm/models/_hub.py`.
_ENDINGS = (".safetensors", ".pth", ".pth.tar", ".bin")


def _load(call, *args, **kwargs):
    given = inspect.signature(innermost(call)).bind(*args, **kwargs).arguments
    model = given["model"]
    config = given.get("pretrained_cfg") or getattr(model, "pretrained_cfg", None) or {}
    try:
        return call(*args, **kwargs)
    except Exception as error:
        # A file of another library, such as JAX, has no header that describes the model.
        is_foreign = isinstance(error, AnswerError) and config.get("custom_load")
        if not is_foreign and not is_unreachable(error) and not _is_bare(config):
            raise
    state = _make_state(model, config, given.get("num_classes", 1000), given.get("in_chans", 3))
    return call(**{**given, "pretrained_cfg": {**config, "source": "", "state_dict": state}, "filter_fn": None})


def _is_bare(config: dict) -> bool:
    """True for a folder with a configuration and no checkpoint; the folder is that of `local-dir:`, whose files are looked for there alone."""
    folder = str(config.get("file") or "") if config.get("source") == "local-dir" else ""
    return os.path.isfile(os.path.join(folder, "config.json")) and not any(name.endswith(_ENDINGS) for name in os.listdir(folder))


def _make_state(model: torch.nn.Module, config: dict, num_classes: int, in_chans: int) -> dict:
    """The state of the published model: the program may have changed its classes and channels."""
    state = model_states.make_state(model, config.get("hf_hub_id") or config.get("url") or config.get("architecture", "a model of timm"))
    published = (config.get("input_size") or (3,))[0]
    for name in _list(config.get("first_conv")) if published != in_chans else ():
        _resize(state, f"{name}.weight", 1, lambda size: size * published // in_chans)
    classes = config.get("num_classes")
    offset = config.get("label_offset", 0)
    for name in _list(config.get("classifier")) if classes and (offset or classes != num_classes) else ():
        for part in ("weight", "bias"):
            _resize(state, f"{name}.{part}", 0, lambda _size: classes + offset)
    return state


def _list(names: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names or ())


def _resize(state: dict, name: str, dimension: int, size_of: Callable[[int], int]) -> None:
    """Replaces a tensor by zeros of another size, if the state has the tensor."""
    tensor = state.get(name)
    if tensor is not None and tensor.ndim > dimension:
        shape = list(tensor.shape)
        shape[dimension] = size_of(shape[dimension])
        state[name] = torch.zeros(shape, dtype=tensor.dtype)


def _fetch(call, url, *args, cache_dir=None, **kwargs):
    address, name = url if isinstance(url, (list, tuple)) else (url, addresses.name_of(url))
    folder = cache_dir or sys.modules["timm.models._hub"].get_cache_dir()
    if os.path.exists(os.path.join(folder, name)) or not addresses.is_remote(address):
        return call(url, *args, **({"cache_dir": cache_dir} if cache_dir else {}), **kwargs)
    return addresses.fetch(address, name)


def _name_file(call, checkpoint_path, *args, **kwargs):
    """Names the file in the error, which timm raises without (`timm/models/_helpers.py`, 1.0.11 to 1.0.31)."""
    try:
        return call(checkpoint_path, *args, **kwargs)
    except FileNotFoundError as error:
        if not error.args:
            error.errno, error.strerror, error.filename = errno.ENOENT, os.strerror(errno.ENOENT), str(checkpoint_path)
        raise


LAYERS = {
    "timm.models._builder:load_pretrained": _load,
    "timm.models._helpers:load_state_dict": _name_file,
    "timm.models._hub:download_cached_file": _fetch,
}
