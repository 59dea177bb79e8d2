"""resolution: images of another size, set where the program sets its own. See Note [Sizes].

Settings: `size`, the new height and width, or `probe=true` to note only the found sizes; `arg`, the option or variable to change.
"""

from .sizes import names, parts

prepare, install = parts.functions("image size", "size", names.image, "training_arguments", "transforms")
