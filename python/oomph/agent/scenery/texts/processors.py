"""Describes absent image processors, video processors and feature extractors by the model's configuration. See Note [Missing texts]."""

import os
import sys

from ... import phantom
from ...failure import tell
from .. import network
from ..weights import ledger, reasons
from . import configurations

# By module: the base class, and the class method that reads the description of a processor (transformers 4.30 to 5.17).
_READERS = {
    "transformers.image_processing_base": ("ImageProcessingMixin", "get_image_processor_dict"),
    "transformers.feature_extraction_utils": ("FeatureExtractionMixin", "get_feature_extractor_dict"),
    "transformers.video_processing_utils": ("BaseVideoProcessor", "get_video_processor_dict"),
}
# Settings of a processor that have the same name in a configuration of pictures.
_SAME = ("patch_size", "temporal_patch_size", "spatial_merge_size", "num_channels")
# Options of the call that are not settings of the processor.
_DOWNLOADING = ("cache_dir", "force_download", "proxies", "token", "revision", "local_files_only", "subfolder", "_from_auto", "_from_pipeline")


def _change(module: str) -> None:
    kind, name = _READERS[module]
    base = getattr(sys.modules[module], kind)
    original = vars(base)[name].__func__
    setattr(base, name, classmethod(lambda cls, *args, **kwargs: _read_or_describe(cls, original, *args, **kwargs)))


def _read_or_describe(cls, original, name, **kwargs):
    """The description in the processor's file, else one of the configuration."""
    if not network.can_load(name):
        kwargs["local_files_only"] = True
    try:
        return original(cls, name, **kwargs)
    except OSError as error:
        is_final = phantom.find() is None or os.path.isfile(name) or reasons.is_refused(error)
        described = None if is_final else _describe(cls, str(name), kwargs.get("subfolder") or "")
        if described is None:
            raise
        return described, {key: value for key, value in kwargs.items() if key not in (*_DOWNLOADING, "image_processor_filename")}


def _describe(cls, name: str, subfolder: str) -> dict | None:
    """The settings that differ from the class's defaults; `None` without a configuration."""
    config = configurations.find(name, subfolder, cls.__name__)
    if config is None or not _has_sizes(config):
        return None
    kind = _class_for(cls, config)
    try:
        settings = {} if kind is None else _settings_of(kind(), config)
    except Exception as error:
        tell("a processor from its configuration", error)
        return None
    if kind is not None:
        ledger.note(ledger.TOKENIZER, name, ledger.CONFIGURATION)
    return settings


def _class_for(cls, config) -> type | None:
    """The class of the settings; `None` for a base class that asks for the name of the class alone, which follows from the configuration.

    `AutoFeatureExtractor` of transformers 4 has the base class read the settings, too (`feature_extraction_auto.py`, 4.57).
    """
    if cls.__name__ not in {kind for kind, _ in _READERS.values()}:
        return cls
    auto = sys.modules.get("transformers.models.auto.feature_extraction_auto") if cls.__name__ == "FeatureExtractionMixin" else None
    mapping = {} if auto is None else auto.FEATURE_EXTRACTOR_MAPPING
    return mapping[type(config)] if type(config) in mapping else None


def _has_sizes(config) -> bool:
    """True for a model of pictures or audio."""
    parts = (configurations.of_pictures(config), configurations.of_audio(config), getattr(config, "vision_config", None))
    return any(part is not None for part in parts) or hasattr(config, "conv_kernel")


def _settings_of(default, config) -> dict:
    """The sizes of the configuration, in the form of the defaults."""
    return {**_sizes_of(default, config), **_audio_of(default, config)}


def _sizes_of(default, config) -> dict:
    pictures = configurations.of_pictures(config)
    side = getattr(pictures, "image_size", None)
    found = {name: _shape(dict(size), side) for name in ("size", "crop_size") if side and (size := getattr(default, name, None))}
    part = getattr(config, "vision_config", pictures)
    same = {name: value for name in _SAME if hasattr(default, name) and isinstance(value := getattr(part, name, None), int)}
    return {**found, **same}


def _shape(size: dict, side) -> dict:
    """The sides of a picture under the names that the default has."""
    height, width = side if isinstance(side, (list, tuple)) else (side, side)
    values = {"height": height, "width": width, "shortest_edge": min(height, width), "longest_edge": max(height, width)}
    return {name: values.get(name, value) if value is not None else None for name, value in size.items()}


def _audio_of(default, config) -> dict:
    """The number of bands, and the length of spectrograms that the configuration has."""
    audio = configurations.of_audio(config)
    bands = getattr(audio, "num_mel_bins", None)
    if bands is None:
        return {}
    if hasattr(default, "num_mel_bins"):
        length = getattr(audio, "max_length", None)
        return {"num_mel_bins": bands, **({"max_length": length} if isinstance(length, int) and hasattr(default, "max_length") else {})}
    return {"feature_size": bands} if hasattr(default, "mel_filters") else {}


HOOKS = {module: lambda module=module: _change(module) for module in _READERS}
