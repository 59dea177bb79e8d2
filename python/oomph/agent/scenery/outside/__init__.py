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

Requests by other libraries, `requests` for example, pass: their purpose is unknown. Settings of the user for the opposite, in the environment
or in the program, have no effect; with `OOMPH_ONLINE=1` every function is the library's own.

The names are replaced before the program imports torch, since a name that a module has imported from a library, such as `upload_file`,
stays the old function. A fork server replaces them before its imports, and its children read `OOMPH_ONLINE` at each call.

Every suppressed act is counted by library and kind of act; the last records of a process hold the counts (`Outside` in
`crates/wire/src/record/marks.rs`). A forked child counts for itself.
"""

from ... import phantom
from ...failure import guarded
from . import online, variables


@guarded
def set_variables() -> None:
    """Takes the children of this process off line, over a phantom GPU and without `OOMPH_ONLINE`. A fork server does not: its own may be on line."""
    if phantom.find() is not None and not online.is_online():
        variables.set_all()
