"""oomph in a notebook: the extension of IPython. `%load_ext oomph` adds `%oomph` and `%%oomph check`.

Nothing here imports torch or initialises CUDA, and no object keeps a tensor after a command. A file imports only files above it in this table:

=================  ===================================================================
`blocks`           the blocks of the allocator
`kinds`            types, and values read without the user's code
`tensors`          the blocks and the references of a tensor and of an autograd graph
`heap`             the objects that lead to device memory, and their references
`shell`            the names, outputs and exceptions that IPython keeps
`holders`          the holders of device memory, by name
`report`           the rows of a device as plain figures
`survey`           the search: from holders to rows
`sentences`        figures in words
`text`, `page`     a report as text of 80 columns and as HTML
`command`          the `oomph` command
`free`             `%oomph free`
`errors`           the handler of out-of-memory errors
`dry_run`          `%%oomph check`
`magic`            the magics
=================  ===================================================================
"""


def load(shell) -> None:
    """Registers the magics and the handler of out-of-memory errors."""
    from .magic import OomphMagics

    if not any(isinstance(it, OomphMagics) for it in shell.magics_manager.registry.values()):
        OomphMagics(shell).install()


def unload(shell) -> None:
    """Removes the magics and the handler."""
    from .magic import OomphMagics

    for magics in [it for it in shell.magics_manager.registry.values() if isinstance(it, OomphMagics)]:
        magics.remove()
