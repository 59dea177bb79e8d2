"""sentence-transformers before 5: modules with a configuration and without weights. See Note [Missing weights].

`load(input_path)` of a module reads the configuration, makes the module `model` and loads `model.safetensors`, else `pytorch_model.bin`
(`sentence_transformers/models/Dense.py`, 3.3). Newer versions have `sentence_models`.
"""

import functools
import os
import shutil
import sys
from collections.abc import Callable

from . import sentence_models
from .tracebacks import find_variables

_KINDS = "Dense", "CNN", "LSTM", "LayerNorm", "WeightedLayerPooling"


def _change() -> None:
    library = sys.modules["sentence_transformers.models"]
    for kind in (getattr(library, name, None) for name in _KINDS):
        load = vars(kind).get("load") if isinstance(kind, type) else None
        if isinstance(load, staticmethod):
            kind.load = staticmethod(_loading(load.__func__))


def _loading(original: Callable) -> Callable:
    @functools.wraps(original)
    def load(input_path, *args, **kwargs):
        try:
            return original(input_path, *args, **kwargs)
        except FileNotFoundError as error:
            model = (find_variables(error, original) or {}).get("model")
            if model is None or not sentence_models.is_bare(str(input_path)):
                raise
        return original(_lay_out(str(input_path), model), *args, **kwargs)

    return load


def _lay_out(folder: str, model) -> str:
    """A folder with the files of `folder` and a hollow checkpoint."""
    made = sentence_models.write(os.path.normpath(folder), model)
    for entry in os.scandir(folder):
        if entry.is_file():
            shutil.copy(entry.path, made)
    return made


HOOKS = {"sentence_transformers.models": _change}
