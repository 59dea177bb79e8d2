"""Trackers, mail and uploads: off line in a dry run.

Note [Off line]
~~~~~~~~~~~~~~~
The values of a dry run are zeros, and a report of zeros to other people or machines does harm. Over a phantom GPU the known libraries
therefore send nothing, and their functions return plausible results:

===========  ==================================================================================
`wandb_runs`  Weights & Biases
`mlflow_runs` MLflow: a local temporary store in place of a server; stores in files stay
`trackers`    Comet, Neptune, ClearML
`hub`         changes of repositories on the Hugging Face Hub; downloads stay
`mail`        `smtplib`
`clouds`      changes in Amazon's, Google's and Microsoft's stores; reads stay
`chats`       `slack_sdk`, Apprise, Telegram
===========  ==================================================================================

Requests by other libraries, `requests` for example, pass: their purpose is unknown. No module is imported: a library is changed right
after the program's own import of the library. Settings of the user for the opposite, in the environment or in the program, have no effect;
with `OOMPH_ONLINE=1` every function is the library's own.

The hooks are installed before the program imports torch, since a name that a module has imported from a library, such as `upload_file`,
stays the old function. A fork server installs the hooks before its imports, and its children read `OOMPH_ONLINE` at each call.

Every suppressed act is counted by library and kind of act; the last records of a process hold the counts (`Outside` in
`crates/wire/src/record/marks.rs`). A forked child counts for itself.
"""

import functools
import importlib

from ... import phantom
from ...failure import guarded
from ...hooks.importing import after_import
from . import online, variables

# The modules of libraries that each module here changes. A module here is imported with the first of its libraries.
_LIBRARIES = {
    "wandb_runs": ("wandb",),
    "mlflow_runs": ("mlflow",),
    "trackers": ("comet_ml", "neptune", "clearml"),
    "hub": (
        "huggingface_hub.hf_api", "huggingface_hub.repocard", "transformers.utils.hub",
        "datasets.arrow_dataset", "datasets.dataset_dict", "datasets.iterable_dataset",
        "transformers.safetensors_conversion",
    ),
    "mail": ("smtplib",),
    "clouds": (
        "botocore.client", "aiobotocore.client", "boto3.s3.transfer", "google.cloud.storage", "google.cloud.storage.fileio",
        "azure.storage.blob", "azure.storage.blob.aio",
    ),
    "chats": (
        "slack_sdk.web.base_client", "slack_sdk.web.async_base_client", "slack_sdk.webhook.client", "slack_sdk.webhook.async_client",
        "apprise", "telegram",
    ),
}  # fmt: skip
# True once the hooks wait for the libraries.
_is_waiting = False


@guarded
def install() -> None:
    """Takes this process and its children off line, over a phantom GPU and without `OOMPH_ONLINE`."""
    wait_for_libraries()
    if _is_waiting and not online.is_online():
        variables.set_all()


@guarded
def wait_for_libraries() -> None:
    """Waits for the libraries, over a phantom GPU only. The environment stays: a fork server's children may be on line."""
    global _is_waiting
    if _is_waiting or phantom.find() is None:
        return
    _is_waiting = True
    for family, libraries in _LIBRARIES.items():
        for library in libraries:
            after_import(library, functools.partial(_change, family, library))


def _change(family: str, library: str) -> None:
    importlib.import_module(f".{family}", __name__).HOOKS[library]()
