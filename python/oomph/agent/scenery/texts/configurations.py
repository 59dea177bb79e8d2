"""Finds the model's configuration that belongs to an absent tokenizer or processor. See Note [Missing texts]."""

import json
import os
import sys

_CONFIGURATION = "config.json"
_PIPELINE = "model_index.json"
# Folders of a pipeline of diffusers whose models have the pictures of its `feature_extractor`.
_PICTURE_MODELS = ("safety_checker", "image_encoder")
# The names of parts of a configuration that has several.
_TEXT_PARTS = ("text_config", "decoder", "encoder")
_PICTURE_PARTS = ("vision_config", "encoder")
_AUDIO_PARTS = ("audio_config", "audio_encoder", "encoder")


def find(name: str, subfolder: str = "", kind: str = ""):
    """The configuration of a folder or of a model in the cache, or `None`. `kind` is the name of the class that the program loads."""
    for folder in _list_folders(name, subfolder, kind):
        path = _find_file(name, folder)
        if path is not None:
            return _read(path)
    return None


def of_text(config):
    """The part that describes text."""
    return _part_with(config, "vocab_size", _TEXT_PARTS)


def of_pictures(config):
    """The part that describes pictures."""
    return _part_with(config, "image_size", _PICTURE_PARTS)


def of_audio(config):
    """The part that describes audio."""
    return _part_with(config, "num_mel_bins", _AUDIO_PARTS)


def _part_with(config, attribute: str, parts: tuple[str, ...]):
    candidates = [config, *(getattr(config, part, None) for part in parts)]
    return next((it for it in candidates if getattr(it, attribute, None) is not None), None)


def _list_folders(name: str, subfolder: str, kind: str) -> list[str]:
    """Folders below `name`, the likeliest first: in a pipeline the model is beside its tokenizer."""
    folders = [subfolder, *_beside(subfolder)]
    base = os.path.basename(name.rstrip(os.sep))
    folders += [os.path.join(os.pardir, folder) for folder in _beside(base)]
    if not subfolder:
        folders += [folder for part in _parts_of_pipeline(name, kind) for folder in _beside(part)]
    return folders


def _beside(part: str) -> list[str]:
    """`text_encoder_2` for `tokenizer_2`."""
    if part.startswith("tokenizer"):
        return [part.replace("tokenizer", "text_encoder", 1)]
    return list(_PICTURE_MODELS) if part == "feature_extractor" else []


def _parts_of_pipeline(name: str, kind: str) -> list[str]:
    """The parts of a pipeline that are of a class."""
    path = _find_file(name, "", _PIPELINE)
    if path is None:
        return []
    with open(path, encoding="utf-8") as file:
        index = json.load(file)
    wanted = kind.removesuffix("Fast")
    return [part for part, value in index.items() if isinstance(value, list) and str(value[-1]).removesuffix("Fast") == wanted]


def _find_file(name: str, folder: str, file: str = _CONFIGURATION) -> str | None:
    """The path of a file of a folder, or of a model in the hub's cache."""
    if os.path.isdir(name):
        path = os.path.normpath(os.path.join(name, folder, file))
        return path if os.path.isfile(path) else None
    if folder.startswith(os.pardir) or os.path.isabs(name) or name.count("/") > 1:
        return None
    cached = sys.modules["huggingface_hub"].try_to_load_from_cache(name, f"{folder}/{file}" if folder else file)
    return cached if isinstance(cached, str) else None


def _read(path: str):
    """The configuration of a file. An architecture without a class here has the plain class of all configurations."""
    transformers = sys.modules["transformers"]
    with open(path, encoding="utf-8") as file:
        values = json.load(file)
    try:
        return transformers.AutoConfig.from_pretrained(os.path.dirname(path))
    except (ValueError, KeyError, OSError):
        return transformers.PretrainedConfig.from_dict(values)
