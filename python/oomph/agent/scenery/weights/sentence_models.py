"""sentence-transformers: modules with a configuration and without weights. See Note [Missing weights].

A module's configuration makes the module, and `load_torch_weights` fills it (`sentence_transformers/base/modules/module.py`, 6.2, and
`sentence_transformers/models/Module.py`, 5.1). The module with the transformer is loaded by transformers.
"""

import os
import sys

from . import ledger, state_files

_CONFIGURATION = "config.json"

def _load(call, kind, model_name_or_path, subfolder="", *args, model=None, **kwargs):
    folder = os.path.join(str(model_name_or_path), subfolder or "")
    if model is None or not is_bare(folder):
        try:
            return call(kind, model_name_or_path, subfolder, *args, model=model, **kwargs)
        except ValueError:
            # The library names no cause; the configuration of a name is in the cache, since the module was made from it.
            if model is None or os.path.isdir(folder) or not _is_offline():
                raise
    return call(kind, write(os.path.normpath(folder), model), model=model)


def is_bare(folder: str) -> bool:
    """True for a folder with the configuration of a module, and without weights."""
    return os.path.isfile(os.path.join(folder, _CONFIGURATION)) and not state_files.has_weights(folder)


def _is_offline() -> bool:
    """True if the hub cannot be reached: `network` closes it after the first failed connection."""
    return sys.modules["huggingface_hub.constants"].HF_HUB_OFFLINE


def write(title: str, model) -> str:
    """The folder of a hollow checkpoint of a module."""
    state = state_files.state_of(model.state_dict())
    folder = state_files.make_folder()
    state_files.write_file(os.path.join(folder, "model.safetensors"), state)
    ledger.note(ledger.WEIGHTS, title, ledger.CONFIGURATION, tensors=len(state.shapes), bytes=state.bytes)
    return folder


LAYERS = {
    "sentence_transformers.base.modules.module:Module.load_torch_weights": _load,
    "sentence_transformers.models.Module:Module.load_torch_weights": _load,
}
