"""open_clip's `pretrained=` (`open_clip/factory.py` and `open_clip/pretrained.py`, 3.3). See Note [Missing weights]."""

import functools
import os
import sys
from collections.abc import Callable

from . import addresses, model_states
from .remote_file import is_unreachable


class _Absent(str):
    """The name of a checkpoint that cannot be reached, in place of a path."""


def _change_pretrained() -> None:
    module = sys.modules["open_clip.pretrained"]
    original = module.download_pretrained_from_url

    @functools.wraps(original)
    def download_pretrained_from_url(url, cache_dir=None):
        folder = cache_dir or os.path.expanduser("~/.cache/clip")
        if os.path.exists(os.path.join(folder, os.path.basename(url))) or not addresses.is_remote(url):
            return original(url, cache_dir)
        return addresses.fetch(url, os.path.basename(url))

    module.download_pretrained_from_url = download_pretrained_from_url


def _change_factory() -> None:
    module = sys.modules["open_clip.factory"]
    module.download_pretrained = _downloading(module.download_pretrained, lambda config, *_: config.get("hf_hub") or config.get("url"))
    module.download_pretrained_from_hf = _downloading(module.download_pretrained_from_hf, lambda model_id, filename=None, *_: None if filename else model_id)
    module.load_checkpoint = _loading(module.load_checkpoint)


def _downloading(original: Callable, name_of: Callable[..., str | None]) -> Callable:
    """Returns the name of the weights if they cannot be reached. A configuration has no stand-in: then the name is `None`."""

    @functools.wraps(original)
    def download(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        except Exception as error:
            name = name_of(*args, *([kwargs["filename"]] if "filename" in kwargs else []))
            if name is None or not is_unreachable(error):
                raise
            return _Absent(name.strip("/"))

    return download


def _loading(original: Callable) -> Callable:
    @functools.wraps(original)
    def load_checkpoint(model, checkpoint_path, *args, **kwargs):
        if not isinstance(checkpoint_path, _Absent):
            return original(model, checkpoint_path, *args, **kwargs)
        return model.load_state_dict(model_states.make_state(model, checkpoint_path))

    return load_checkpoint


HOOKS = {"open_clip.pretrained": _change_pretrained, "open_clip.factory": _change_factory}
