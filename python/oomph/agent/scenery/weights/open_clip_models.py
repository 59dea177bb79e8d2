"""open_clip's `pretrained=` (`open_clip/factory.py` and `open_clip/pretrained.py`, 3.3). See Note [Missing weights]."""

import os
from collections.abc import Callable

from ...hooks.replacing import Layer
from . import addresses, model_states
from .remote_file import is_unreachable


class _Absent(str):
    """The name of a checkpoint that cannot be reached, in place of a path."""


def _fetch(call, url, cache_dir=None):
    folder = cache_dir or os.path.expanduser("~/.cache/clip")
    if os.path.exists(os.path.join(folder, os.path.basename(url))) or not addresses.is_remote(url):
        return call(url, cache_dir)
    return addresses.fetch(url, os.path.basename(url))


def _download(name_of: Callable[..., str | None]) -> Layer:
    """Returns the name of the weights if they cannot be reached. A configuration has no stand-in: then the name is `None`."""

    def layer(call, *args, **kwargs):
        try:
            return call(*args, **kwargs)
        except Exception as error:
            name = name_of(*args, *([kwargs["filename"]] if "filename" in kwargs else []))
            if name is None or not is_unreachable(error):
                raise
            return _Absent(name.strip("/"))

    return layer


def _load(call, model, checkpoint_path, *args, **kwargs):
    if not isinstance(checkpoint_path, _Absent):
        return call(model, checkpoint_path, *args, **kwargs)
    return model.load_state_dict(model_states.make_state(model, checkpoint_path))


LAYERS = {
    "open_clip.pretrained:download_pretrained_from_url": _fetch,
    "open_clip.factory:download_pretrained": _download(lambda config, *_: config.get("hf_hub") or config.get("url")),
    "open_clip.factory:download_pretrained_from_hf": _download(lambda model_id, filename=None, *_: None if filename else model_id),
    "open_clip.factory:load_checkpoint": _load,
}
