"""transformers before 4.50: a folder or a cached name with a configuration and without weights. See Note [Missing weights].

`PreTrainedModel.from_pretrained` looks for the files itself (`transformers/modeling_utils.py`, 4.46). Where it finds none, the variables that
it left describe the model as in `transformers_models`, and the call is repeated with a folder that has the hollow files. Later versions have
a function for the search, which `transformers_models` replaces.
"""

import contextlib
import inspect
import json
import os
import sys
from collections.abc import Mapping

from ...hooks import innermost
from ...hooks.replacing import Layer
from . import reasons, state_files, transformers_models
from .tracebacks import find_variables
from .transformers_models import Request

_CONFIGURATION = "config.json"


def _in_older(layer: Layer) -> Layer:
    """A layer for versions without the function that `transformers_models` replaces."""

    def within(call, *args, **kwargs):
        is_newer = hasattr(sys.modules["transformers.modeling_utils"], "_get_resolved_checkpoint_files")
        return call(*args, **kwargs) if is_newer else layer(call, *args, **kwargs)

    return within


def _check(call, *args, **kwargs):
    """Fails before the model is made if the shards of an index are not in their folder, which the library has not checked."""
    files, index = call(*args, **kwargs)
    missing = next((file for file in files if not os.path.isfile(file)), None)
    if missing is not None:
        raise FileNotFoundError(f"{missing} is not on this machine, expected the shards of {args[1] if len(args) > 1 else 'the index'}")
    return files, index


def _refuse(call, checkpoint_file, *args, **kwargs):
    """Without a connection the library has `None` for the path of a file that is in no cache, and finds out only here."""
    if checkpoint_file is None:
        raise FileNotFoundError("no weights of the model are in the cache, and the hub cannot be reached, expected a file of weights")
    return call(checkpoint_file, *args, **kwargs)


def _load(call, kind, *args, **kwargs):
    try:
        # The library takes entries out of this one.
        return call(kind, *args, **_with_adapter(kwargs, kwargs.get("adapter_kwargs")))
    except OSError as error:
        loader = find_variables(error, innermost(call)) or {}
        request = _read_request(loader, kind)
        made = None if request is None or reasons.is_refused(error) else _find_files(request)
        if made is None:
            raise
        folder = _lay_out(request, *made)
    given = inspect.signature(innermost(call)).bind(kind, *args, **kwargs)
    given.arguments["pretrained_model_name_or_path"] = folder
    options = _with_adapter(given.kwargs, (kwargs.get("adapter_kwargs") or {}) | _adapter_of(loader))
    return _name(call(*given.args, **options), request.name)


def _with_adapter(kwargs: Mapping, settings: Mapping | None) -> dict:
    return dict(kwargs) if settings is None else {**kwargs, "adapter_kwargs": dict(settings)}


def _adapter_of(loader: Mapping) -> dict:
    """The adapter of a base model, which the first call has found."""
    path = loader.get("_adapter_model_path")
    return {} if path is None else {"_adapter_model_path": path}


def _read_request(loader: Mapping, kind: type) -> Request | None:
    """The search for files; `None` if the library came to no search, or if the call has a GGUF file or a state dict."""
    name, config = loader.get("pretrained_model_name_or_path"), loader.get("config")
    is_search = "hf_quantizer" in loader and loader.get("cls") is kind and not loader.get("gguf_file") and loader.get("state_dict") is None
    if name is None or not is_search or loader.get("model") is not None or not hasattr(config, "architectures"):
        return None
    place = {"cache_dir": loader.get("cache_dir"), "revision": loader.get("commit_hash") or loader.get("revision")}
    is_pickle = loader.get("use_safetensors") is False
    return Request(str(name), loader.get("subfolder") or "", loader.get("variant"), is_pickle, place, loader)


def _find_files(request: Request) -> tuple[list[str], dict | None] | None:
    """The files and their index; `None` leaves the error to the library."""
    index = request.loader.get("resolved_archive_file")
    if request.loader.get("is_sharded") and isinstance(index, str):
        return transformers_models.complete(request, transformers_models.read_places(index))
    return transformers_models.stand_in_for(request)


def _lay_out(request: Request, files: list[str], index: dict | None) -> str:
    """A folder with the small files of the checkpoint, and with its weights under the names that the library looks for."""
    folder = state_files.make_folder()
    inner = os.path.join(folder, request.subfolder)
    os.makedirs(inner, exist_ok=True)
    _link_files(os.path.dirname(request.find(_CONFIGURATION)), inner)
    if request.subfolder and os.path.isdir(request.name):
        _link_files(request.name, folder)
    stem, ending = ("pytorch_model", ".bin") if files[0].endswith(".bin") else ("model", ".safetensors")
    variant = f".{request.variant}" if request.variant else ""
    if index is None:
        os.symlink(files[0], os.path.join(inner, f"{stem}{variant}{ending}"))
        return folder
    for file in files:
        with contextlib.suppress(FileExistsError):
            os.symlink(os.path.realpath(file), os.path.join(inner, os.path.basename(file)))
    _write_index(os.path.join(inner, f"{stem}{ending}.index{variant}.json"), index)
    return folder


def _write_index(path: str, index: dict) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"metadata": {"total_size": index.get("total_size", 0)}, "weight_map": index["weight_map"]}, file)


def _link_files(source: str, folder: str) -> None:
    for entry in os.scandir(source):
        if entry.is_file():
            os.symlink(os.path.realpath(entry.path), os.path.join(folder, entry.name))


def _name(result, name: str):
    """Restores the name in the call on the model, which may be the first of several results."""
    model = result[0] if isinstance(result, tuple) else result
    model.name_or_path = model.config.name_or_path = name
    return result


LAYERS = {
    "transformers.modeling_utils:PreTrainedModel.from_pretrained": _in_older(_load),
    "transformers.modeling_utils:get_checkpoint_shard_files": _in_older(_check),
    "transformers.modeling_utils:load_state_dict": _in_older(_refuse),
}
