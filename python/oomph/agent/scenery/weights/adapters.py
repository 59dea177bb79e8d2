"""peft: an adapter with a configuration and without weights. See Note [Missing weights].

The adapter is in the model already when its weights are loaded (`PeftModel.load_adapter`, peft 0.13 to 0.21; `PeftAdapterMixin.load_adapter`,
transformers 4.46 to 5.17), so the names and shapes are the model's own. Older transformers call peft's `load_peft_weights`, newer ones read the
file themselves.
"""

import os
import sys

from ...hooks import find_caller
from . import ledger, state_files
from .remote_file import is_unreachable

CONFIGURATION = "adapter_config.json"
_FILES = ("adapter_model.safetensors", "adapter_model.bin")
# Before the names of a model's own modules, in a file of peft's.
_PREFIX = "base_model.model."


def stand_in_for(title: str, model, adapter: str) -> tuple[list[str], None] | None:
    """The hollow file of an adapter of a model of transformers; `None` for a folder with the adapter's weights."""
    if os.path.isdir(title) and not _is_bare(title):
        return None
    return [_write(title, model, adapter)], None


def _write(title: str, model, adapter: str) -> str:
    peft = sys.modules["peft"]
    tensors = peft.get_peft_model_state_dict(model, adapter_name=adapter, save_embedding_layers=False)
    state = state_files.state_of({_with_prefix(name): tensor for name, tensor in tensors.items()})
    path = os.path.join(state_files.make_folder(), _FILES[0])
    state_files.write_file(path, state)
    ledger.note(ledger.WEIGHTS, title, ledger.CONFIGURATION, tensors=len(state.shapes), bytes=state.bytes)
    return path


def _with_prefix(name: str) -> str:
    return name if name.startswith("base_model.") or name.startswith("prompt_embeddings") else _PREFIX + name


def _load(call, model_id, *args, **kwargs):
    caller = find_caller().f_locals
    folder = os.path.join(str(model_id), kwargs.get("subfolder") or "")
    is_known = "self" in caller and "adapter_name" in caller
    if not is_known or not _is_bare(folder):
        try:
            return call(model_id, *args, **kwargs)
        except Exception as error:
            # The configuration of a name is in the cache: the adapter was made from it.
            if not is_known or os.path.isdir(folder) or not is_unreachable(error):
                raise
    made = os.path.dirname(_write(os.path.normpath(folder), caller["self"], caller["adapter_name"]))
    return call(made, *args, **kwargs | {"subfolder": None})


def _is_bare(folder: str) -> bool:
    """True for a folder with an adapter's configuration and without its weights."""
    return os.path.isfile(os.path.join(folder, CONFIGURATION)) and not any(os.path.exists(os.path.join(folder, name)) for name in _FILES)


# Where it is defined: peft and transformers import it from there.
LAYERS = {"peft.utils.save_and_load:load_peft_weights": _load}
