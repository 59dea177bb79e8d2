"""The libraries that load weights, and the module here that changes each of them right after its import. See Note [Missing weights]."""

import functools
import importlib

from ... import phantom
from ...failure import guarded
from ...hooks.importing import after_import

# By the module here: the modules of libraries. A module here has `HOOKS`: a function without arguments by the name of the library's module.
_LIBRARIES: dict[str, tuple[str, ...]] = {
    "addresses": ("torch.hub",),
    "open_clip_models": ("open_clip.pretrained", "open_clip.factory"),
    "timm_models": ("timm.models._builder", "timm.models._helpers", "timm.models._hub"),
    "torchvision_models": ("torchvision.models.densenet",),
    "transformers_models": ("transformers.modeling_utils",),
    "older_transformers": ("transformers.modeling_utils",),
    "diffusers_models": ("diffusers.models.modeling_utils", "diffusers.pipelines.pipeline_utils"),
    "adapters": ("peft.utils.save_and_load",),
    "gguf_files": (
        "transformers.integrations.gguf.reader", "transformers.integrations.gguf.kernels", "transformers.modeling_gguf_pytorch_utils",
        "gguf",
    ),
    "sentence_models": ("sentence_transformers.base.modules.module", "sentence_transformers.models.Module"),
    "older_sentence_models": ("sentence_transformers.models",),
}  # fmt: skip
# The same for modules that programs often import before torch, and from which names are imported; the modules here do without torch.
_EARLY_LIBRARIES = {
    "hub": ("huggingface_hub.utils._http", "huggingface_hub.file_download", "huggingface_hub._snapshot_download"),
}


def wait() -> None:
    """Changes each library when the program imports it; at once if it is imported already."""
    _wait_for(_LIBRARIES)


@guarded
def wait_early() -> None:
    """The same before the import of torch, over a phantom GPU only."""
    if phantom.find() is not None:
        _wait_for(_EARLY_LIBRARIES)


def _wait_for(families: dict[str, tuple[str, ...]]) -> None:
    for family, libraries in families.items():
        for library in libraries:
            after_import(library, functools.partial(_change, family, library))


def _change(family: str, library: str) -> None:
    importlib.import_module(f".{family}", __package__).HOOKS[library]()
