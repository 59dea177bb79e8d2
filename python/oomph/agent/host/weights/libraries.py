"""The libraries that load weights, and the module here that changes each of them right after its import. See Note [Missing weights]."""

import functools
import importlib

from ...process.importing import after_import

# By the module here: the modules of libraries. A module here has `HOOKS`: a function without arguments by the name of the library's module.
_LIBRARIES: dict[str, tuple[str, ...]] = {
    "transformers_models": ("transformers.modeling_utils",),
    "diffusers_models": ("diffusers.models.modeling_utils", "diffusers.pipelines.pipeline_utils"),
    "adapters": ("peft.peft_model",),
    "gguf_files": (
        "transformers.integrations.gguf.reader", "transformers.integrations.gguf.kernels", "transformers.modeling_gguf_pytorch_utils",
        "gguf",
    ),
    "sentence_models": ("sentence_transformers.base.modules.module",),
}  # fmt: skip


def wait() -> None:
    """Changes each library when the program imports it; at once if it is imported already."""
    for family, libraries in _LIBRARIES.items():
        for library in libraries:
            after_import(library, functools.partial(_change, family, library))


def _change(family: str, library: str) -> None:
    importlib.import_module(f".{family}", __package__).HOOKS[library]()
