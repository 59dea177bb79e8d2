"""torchvision's `weights=`, where the names in the file are not those of the model. See Note [Missing weights].

All other models pass the state dict of the address to `load_state_dict` at once (`torchvision/models/_api.py`, 0.26).
"""

from .model_states import UnknownWeightsError


def _load(call, model, weights, progress) -> None:
    """The names in the files of DenseNet are older than the model."""
    try:
        call(model, weights, progress)
    except UnknownWeightsError:
        model.load_state_dict(weights.get_state_dict(progress=progress, check_hash=True))


LAYERS = {"torchvision.models.densenet:_load_state_dict": _load}
