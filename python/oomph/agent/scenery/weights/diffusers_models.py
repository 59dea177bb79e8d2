"""diffusers: models and pipelines with configurations and without weights. See Note [Missing weights].

`ModelMixin.from_pretrained` asks `_get_model_file` for the file (`diffusers/models/modeling_utils.py`, 0.31 to 0.42), with the class and the
configuration in its frame. Schedulers have no weights, and text encoders are loaded by transformers. A configuration of diffusers states
no dtype: the file has that of the variant, else float32.
"""

import copy
import functools
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping

import torch

from ..outside import acts
from . import ledger, quantized_states, reasons, state_files
from ...host.hollow import Shape
from .state_files import State
from .transformers_models import VARIANTS, find_in_cache

_CONFIGURATION = "config.json"
# By folder and file name: the hollow file.
_made: dict[tuple, str] = {}


def _change() -> None:
    modeling = sys.modules["diffusers.models.modeling_utils"]
    acts.replace(modeling, "_get_model_file", functools.partial(_standing_in, make=_make_once))
    # Before 0.33 the function returns a folder: absent shards end with the library's error.
    if not hasattr(modeling, "_merge_sharded_checkpoints"):
        acts.replace(modeling, "_get_checkpoint_shard_files", functools.partial(_standing_in, make=_complete))


def _complete(arguments: Mapping, caller: Mapping) -> tuple[list[str], dict] | None:
    """The shards of an index, with hollow ones for the absent: an index is small, and lies in many folders without its shards. `None` if the configuration's model has none of an absent shard's tensors."""
    index_path = str(arguments["index_filename"])
    with open(index_path, encoding="utf-8") as file:
        index = json.load(file)
    places: dict[str, str] = index["weight_map"]
    state, folder = _in_size(_describe(caller), index.get("metadata", {}).get("total_size")), state_files.make_folder()
    paths, made = [], State({})
    for shard in sorted(set(places.values())):
        path = os.path.join(os.path.dirname(index_path), shard)
        part = state.select(name for name, place in places.items() if place == shard)
        if not os.path.exists(path):
            if not part.shapes:
                return None
            path, made = os.path.join(folder, shard), State(made.shapes | part.shapes)
            state_files.write_file(path, part)
        paths.append(path)
    title = os.path.join(str(arguments["pretrained_model_name_or_path"]), arguments.get("subfolder") or "").rstrip("/")
    ledger.note(ledger.WEIGHTS, title, ledger.CONFIGURATION, tensors=len(made.shapes), bytes=made.bytes)
    return paths, {**index.get("metadata", {}), "all_checkpoint_keys": list(places), "weight_map": dict(places)}


def _in_size(state: State, total_bytes: int | None) -> State:
    """The state in half the precision where the index states half the bytes of float32."""
    if total_bytes is None or state.bytes < 2 * total_bytes:
        return state
    return State({name: Shape("BF16", shape.sizes) if shape.dtype == "F32" else shape for name, shape in state.shapes.items()}, state.values)


def _standing_in(original: Callable, make: Callable[[Mapping, Mapping], object]) -> Callable:
    """A function of the loading code that finds files: where it finds none, `make(arguments, frame of the caller)` does, or returns `None`."""
    signature = inspect.signature(original)

    def stand_in(*args, **kwargs):
        arguments, caller = signature.bind_partial(*args, **kwargs).arguments, sys._getframe(1).f_locals
        try:
            return original(*args, **kwargs)
        except OSError as error:
            is_known = "cls" in caller and "config" in caller and not reasons.is_refused(error)
            made = make(arguments, caller) if is_known else None
            if made is None:
                raise
            return made

    return stand_in


def _change_pipelines() -> None:
    acts.replace(sys.modules["diffusers.pipelines.pipeline_utils"], "_identify_model_variants", _adding_variants)


def _adding_variants(original: Callable) -> Callable:
    """Pipelines look for the variant's files by folder; a folder without files has any variant."""

    def stand_in(folder, variant, config):
        found = original(folder=folder, variant=variant, config=config)
        bare = (name for name in config if variant is not None and _is_bare_folder(os.path.join(folder, name)))
        return found | dict.fromkeys(bare, variant)

    return stand_in


def _is_bare(arguments: Mapping) -> bool:
    """True for a configuration without weights, in a folder or in the Hub's cache."""
    name, subfolder = str(arguments["pretrained_model_name_or_path"]), arguments.get("subfolder") or ""
    if os.path.isdir(name):
        return _is_bare_folder(os.path.join(name, subfolder))
    return find_in_cache(name, os.path.join(subfolder, _CONFIGURATION), arguments) is not None


def _is_bare_folder(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, _CONFIGURATION)) and not state_files.has_weights(folder)


def _make_once(arguments: Mapping, caller: Mapping) -> str | None:
    if not _is_bare(arguments):
        return None
    title = os.path.join(str(arguments["pretrained_model_name_or_path"]), arguments.get("subfolder") or "").rstrip("/")
    key = (os.getpid(), title, arguments["weights_name"], caller["cls"])
    if key not in _made:
        _made[key] = _write(title, arguments["weights_name"], _describe(caller))
    return _made[key]


def _write(title: str, filename: str, state: State) -> str:
    path = os.path.join(state_files.make_folder(), os.path.basename(filename))
    state_files.write_file(path, state)
    ledger.note(ledger.WEIGHTS, title, ledger.CONFIGURATION, tensors=len(state.shapes), bytes=state.bytes)
    return path


def _describe(caller: Mapping) -> State:
    """The tensors of the configuration's model. Errors of its making are those of the program's configuration."""
    dtype = VARIANTS.get(caller.get("variant"), torch.float32)
    with torch.device("meta"):
        model = caller["cls"].from_config(copy.deepcopy(caller["config"]), **caller.get("unused_kwargs", {}))
    model = model.to(dtype)
    quantizer = caller.get("hf_quantizer")
    if quantizer is None or not quantizer.pre_quantized:
        return state_files.state_of(model.state_dict())
    quantizer = copy.deepcopy(quantizer)
    quantizer.preprocess_model(model=model, device_map=None, keep_in_fp32_modules=[])
    state = state_files.state_of(model.state_dict())
    return quantized_states.add_quantized(model, state, quantizer.quantization_config, dtype)


HOOKS = {"diffusers.models.modeling_utils": _change, "diffusers.pipelines.pipeline_utils": _change_pipelines}
