"""torchvision's `weights=`, where the names in the file are not those of the model. See Note [Missing weights].

All other models pass the state dict of the address to `load_state_dict` at once (`torchvision/models/_api.py`, 0.26).
"""

import functools
import sys

from .model_states import UnknownWeightsError


def _change_densenet() -> None:
    """The names in the files of DenseNet are older than the model (`_load_state_dict`)."""
    module = sys.modules["torchvision.models.densenet"]
    original = getattr(module, "_load_state_dict", None)
    if original is None:
        return

    @functools.wraps(original)
    def load(model, weights, progress):
        try:
            original(model, weights, progress)
        except UnknownWeightsError:
            model.load_state_dict(weights.get_state_dict(progress=progress, check_hash=True))

    module._load_state_dict = load


HOOKS = {"torchvision.models.densenet": _change_densenet}
