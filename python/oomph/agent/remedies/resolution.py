"""resolution: images of another size, set where the program says its own. See Note [Sizes].

Settings: `size`, the new height and width, or `probe=true` to note only what is found; `arg`, the option or variable to change.
"""

from .sizes import names, parts

prepare, install = parts.functions("image size", "size", names.image, "training_arguments", "transforms")
