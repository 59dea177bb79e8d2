"""sequence-length: another number of tokens in each sequence, set where the program sets its own. See Note [Sizes].

Settings: `length`, the new length, or `probe=true` to note only the found lengths; `arg`, the option or variable to change.
"""

from .sizes import names, parts

prepare, install = parts.functions("sequence length", "length", names.length, "training_arguments", "tokenizers")
