"""batch-size: another number of samples in each batch, set where the program sets its own. See Note [Sizes].

Settings: `size`, the new batch size, or `probe=true` to note only the found sizes; `arg`, the option or variable to change.
"""

from .sizes import names, parts

prepare, install = parts.functions("batch size", "size", names.batch, "training_arguments", "loaders")
