"""transformers: a folder or a cached name with a configuration and without weights. See Note [Missing weights].

`from_pretrained` asks `_get_resolved_checkpoint_files` for the files and loads them (`transformers/modeling_utils.py`, 4.50 to 5.17). The
class and the configuration are in the frame of `from_pretrained`; the answer is a hollow checkpoint in the layout of a real save. The class
is that of the configuration's `architectures`: a checkpoint of a language model stays one when a classifier is loaded from the checkpoint.
"""

import contextlib
import copy
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import torch

from ...failure import guarded
from ..outside import acts
from . import adapters, ledger, quantized_states, reasons, state_files
from .state_files import State

_CONFIGURATION = "config.json"
_INDEX = "model.safetensors.index.json"
# The dtypes of files by variant: a variant is named after the dtype.
VARIANTS = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
# The most tensors that an error names.
_NAMED = 2
# The checkpoints already made, by name, class and dtype: a program may load one twice.
_made: dict[tuple, tuple[list[str], dict | None]] = {}


@dataclass(frozen=True)
class Request:
    """A call of the library's search for files: the wanted checkpoint, and the variables of the function that loads the checkpoint."""

    name: str
    subfolder: str
    variant: str | None
    # True if the program wants no safetensors.
    is_pickle: bool
    # `cache_dir` and `revision` of the search.
    place: dict[str, str | None]
    loader: Mapping[str, object] = field(repr=False)

    @property
    def title(self) -> str:
        """The name in the report."""
        return os.path.join(self.name, self.subfolder) if self.subfolder else self.name

    def find(self, filename: str) -> str | None:
        """The path of a file of the checkpoint in its folder, or in the cache of the Hub."""
        if os.path.isdir(self.name):
            path = os.path.join(self.name, self.subfolder, filename)
            return path if os.path.isfile(path) else None
        return find_in_cache(self.name, os.path.join(self.subfolder, filename), self.place)


def find_in_cache(name: str, filename: str, place: Mapping[str, str | None]) -> str | None:
    """The path of a file of a repository in the Hub's cache."""
    hub = sys.modules["huggingface_hub"]
    try:
        path = hub.try_to_load_from_cache(name, filename, cache_dir=place.get("cache_dir"), revision=place.get("revision"))
    except ValueError:
        # Not the name of a repository: the library says so itself.
        return None
    return path if isinstance(path, str) else None


def _change() -> None:
    modeling = sys.modules["transformers.modeling_utils"]
    # Older versions: `older_transformers`.
    if not hasattr(modeling, "_get_resolved_checkpoint_files"):
        return
    acts.replace(modeling, "_get_resolved_checkpoint_files", _resolving)
    acts.replace(modeling, "log_state_dict_report", _reporting)


def _resolving(original: Callable) -> Callable:
    signature = inspect.signature(original)

    def stand_in(*args, **kwargs):
        request = _read_request(signature.bind_partial(*args, **kwargs).arguments, sys._getframe(1).f_locals)
        try:
            found = original(*args, **kwargs)
        except OSError as error:
            made = None if request is None or reasons.is_refused(error) else stand_in_for(request)
            if made is None:
                raise
            return made
        return found if request is None else _check_files(request, *found)

    return stand_in


def _read_request(arguments: Mapping, loader: Mapping) -> Request | None:
    """The call, in the words of 4.50 to 5.17; `None` for a call without a name, or for a GGUF file."""
    name, options = arguments.get("pretrained_model_name_or_path"), arguments.get("download_kwargs") or arguments
    if name is None or arguments.get("gguf_file"):
        return None
    place = {"cache_dir": options.get("cache_dir"), "revision": options.get("commit_hash") or options.get("revision")}
    is_pickle = arguments.get("use_safetensors") is False
    return Request(str(name), options.get("subfolder") or "", arguments.get("variant"), is_pickle, place, dict(loader))


def stand_in_for(request: Request) -> tuple[list[str], dict | None] | None:
    """Files and their index for a checkpoint without weights; `None` leaves the error to the library."""
    if "peft_config" in request.loader and "cls" not in request.loader:
        return adapters.stand_in_for(request.title, request.loader["self"], request.loader["adapter_name"])
    if request.find(_CONFIGURATION) is None or "cls" not in request.loader:
        return None
    if os.path.isdir(request.name):
        if state_files.has_weights(os.path.join(request.name, request.subfolder)):
            return None
    elif (index := request.find(_INDEX)) is not None:
        return complete(request, read_places(index))
    return _make_once(request)


def _make_once(request: Request) -> tuple[list[str], dict | None] | None:
    kind, state = _describe(request)
    key = (os.getpid(), request.title, request.variant, request.is_pickle, kind)
    if key not in _made:
        _made[key] = _write(request, state)
    files, index = _made[key]
    return list(files), copy.deepcopy(index)


def _write(request: Request, state: State) -> tuple[list[str], dict | None]:
    stem, ending = ("pytorch_model", ".bin") if request.is_pickle and not state.values else ("model", ".safetensors")
    files, places = state_files.write_shards(stem, ending, state)
    ledger.note(ledger.WEIGHTS, request.title, ledger.CONFIGURATION, tensors=len(state.shapes), bytes=state.bytes)
    return files, None if len(files) == 1 else _index_of(places, state)


def _index_of(places: Mapping[str, str], state: State) -> dict:
    return {"total_size": state.bytes, "all_checkpoint_keys": list(places), "weight_map": dict(places)}


def read_places(index: str) -> dict[str, str]:
    """The file's name by tensor, of an index."""
    with open(index, encoding="utf-8") as file:
        return json.load(file)["weight_map"]


def _check_files(request: Request, files: list[str] | None, index: dict | None) -> tuple[list[str] | None, dict | None]:
    """Stands in for files that the library has not looked for: shards that an index names (half a download), and an adapter's file."""
    # Without a connection the list has `None` for a file that is in no cache (4.57).
    if not files or all(file is not None and os.path.isfile(file) for file in files):
        return files, index
    made = stand_in_for(request) if index is None else complete(request, index["weight_map"])
    return made or (files, index)


def complete(request: Request, places: dict[str, str]) -> tuple[list[str], dict] | None:
    """The shards of an index, with hollow ones for the absent; `None` if the configuration's model has none of an absent shard's tensors."""
    names = sorted(set(places.values()))
    missing = [name for name in names if request.find(name) is None]
    _, whole = _describe(request)
    states = {name: whole.select(tensor for tensor, place in places.items() if place == name) for name in missing}
    if not missing or not all(state.shapes for state in states.values()):
        return None
    folder = state_files.make_folder()
    for name, state in states.items():
        state_files.write_file(os.path.join(folder, name), state)
    title = f"{request.title} ({len(missing)} of {len(names)} shards)"
    count, size = sum(len(state.shapes) for state in states.values()), sum(state.bytes for state in states.values())
    ledger.note(ledger.WEIGHTS, title, ledger.CONFIGURATION, tensors=count, bytes=size)
    return [request.find(name) or os.path.join(folder, name) for name in names], _index_of(places, whole)


def _describe(request: Request) -> tuple[type, State]:
    """The class of the checkpoint, and its tensors."""
    kind, config, dtype = request.loader["cls"], request.loader["config"], _dtype_of(request)
    args, kwargs = request.loader.get("model_args", ()), request.loader.get("model_kwargs", {})
    saved = _class_of(config, kind)
    model = _make_model(saved, config, *(((), {}) if saved is not kind else (args, kwargs)), dtype)
    return saved, _state_of(model, _quantizer_of(request), dtype)


def _class_of(config, kind: type) -> type:
    """The class whose checkpoint this is: the first of the configuration's architectures that the library has."""
    library, names = sys.modules["transformers"], getattr(config, "architectures", None) or [kind.__name__]
    found = getattr(library, names[0], None)
    is_model = isinstance(found, type) and issubclass(found, library.PreTrainedModel)
    return found if is_model and found.config_class is not None and isinstance(config, found.config_class) else kind


def _make_model(kind: type, config, args, kwargs, dtype: torch.dtype):
    """The model on the meta device. Its errors are those of the program's configuration."""
    with torch.device("meta"), _default_dtype(dtype), _creation():
        return kind(copy.deepcopy(config), *args, **copy.deepcopy(kwargs))


def _creation() -> contextlib.AbstractContextManager:
    """Creation that reads values on the host, in transformers 5."""
    make = getattr(sys.modules.get("transformers.initialization"), "meta_device_safe_creation_ops", contextlib.nullcontext)
    return make()


@contextlib.contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _quantizer_of(request: Request):
    """The quantizer of a checkpoint that was saved quantized, with packed layers."""
    quantizer = request.loader.get("hf_quantizer")
    if quantizer is None or not quantizer.pre_quantized:
        return None
    quantizer = copy.deepcopy(quantizer)
    if getattr(quantizer.quantization_config, "dequantize", False):
        quantizer.quantization_config.dequantize = False
    return quantizer


def _state_of(model, quantizer, dtype: torch.dtype) -> State:
    """The tensors of a save of the model, in the layout of the file (`save_pretrained`, 5.17)."""
    modeling, core = sys.modules["transformers.modeling_utils"], sys.modules.get("transformers.core_model_loading")
    if quantizer is not None:
        quantizer.preprocess_model(model=model, device_map=None, dtype=dtype, checkpoint_files=[], keep_in_fp32_modules=[])
    tensors = model.state_dict()
    for name in getattr(model, "_keys_to_ignore_on_save", None) or ():
        tensors.pop(name, None)
    tensors = getattr(modeling, "remove_tied_weights_from_state_dict", _drop_tied)(tensors, model)
    if hasattr(core, "revert_weight_conversion"):
        tensors = core.revert_weight_conversion(model, tensors)
    state = state_files.state_of(tensors)
    return state if quantizer is None else quantized_states.add_quantized(model, state, quantizer.quantization_config, dtype)


def _drop_tied(tensors: dict, model) -> dict:
    """Keeps the first name of each tensor, for versions before 5."""
    first: dict[int, str] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        first.setdefault(id(tensor), name)
    return {name: tensors[name] for name in first.values() if name in tensors}


def _dtype_of(request: Request) -> torch.dtype:
    """The dtype of the file: the variant's, else the one that the configuration's file states."""
    if request.variant in VARIANTS:
        return VARIANTS[request.variant]
    with open(request.find(_CONFIGURATION), encoding="utf-8") as file:
        stated = json.load(file)
    for part in (stated, stated.get("text_config") or {}):
        name = part.get("dtype") or part.get("torch_dtype")
        dtype = getattr(torch, name.removeprefix("torch."), None) if isinstance(name, str) else None
        if isinstance(dtype, torch.dtype):
            return dtype
    return torch.float32


def _reporting(original: Callable) -> Callable:
    """Names the tensors in the error on shapes, which the library only logs."""

    def stand_in(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        except RuntimeError as error:
            lines = guarded(_list_mismatches)(inspect.signature(original).bind(*args, **kwargs).arguments)
            if lines:
                error.args = ("\n".join([str(error), *lines]),)
            raise

    return stand_in


def _list_mismatches(arguments: Mapping) -> list[str]:
    mismatched = sorted(getattr(arguments.get("loading_info"), "mismatched_keys", ()))
    lines = [f"{name} is {tuple(found)} in the checkpoint, the model expects {tuple(wanted)}" for name, found, wanted in mismatched[:_NAMED]]
    return lines + [f"and {len(mismatched) - _NAMED} more"] * (len(mismatched) > _NAMED)


HOOKS = {"transformers.modeling_utils": _change}
