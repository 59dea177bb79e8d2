"""sentence-transformers before 5: modules with a configuration and without weights. See Note [Missing weights].

`load(input_path)` of a module reads the configuration, makes the module `model` and loads `model.safetensors`, else `pytorch_model.bin`
(`sentence_transformers/models/Dense.py`, 3.3). Newer versions have `sentence_models`.
"""

import os
import shutil

from ...hooks import innermost
from ...hooks.rows import libraries
from . import sentence_models
from .tracebacks import find_variables


def _load(call, input_path, *args, **kwargs):
    try:
        return call(input_path, *args, **kwargs)
    except FileNotFoundError as error:
        model = (find_variables(error, innermost(call)) or {}).get("model")
        if model is None or not sentence_models.is_bare(str(input_path)):
            raise
    return call(_lay_out(str(input_path), model), *args, **kwargs)


def _lay_out(folder: str, model) -> str:
    """A folder with the files of `folder` and a hollow checkpoint."""
    made = sentence_models.write(os.path.normpath(folder), model)
    for entry in os.scandir(folder):
        if entry.is_file():
            shutil.copy(entry.path, made)
    return made


LAYERS = dict.fromkeys(libraries.OLDER_SENTENCE_MODULES, _load)
