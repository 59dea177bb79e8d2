"""Weights that are not on this machine.

Note [Missing weights]
~~~~~~~~~~~~~~~~~~~~~~
A dry run needs the names, dtypes and shapes of a checkpoint, never its values. Where a program loads an absent checkpoint, a *hollow file* takes
its place: a file of the right format and size with a real header, whose tensors are holes. Every library then loads the hollow file by the
library's own code, so the peak while loading is the library's own. `checkpoints.unread` maps such a file without memory.

Sources of a header, in order of preference:

=================  =============================================================================================
`headers`           the beginning of the remote file, fetched by range requests
`configuration`     the state dict of the model that the configuration describes, made on the meta device
`model`             the state dict of the model into which the program loads
=================  =============================================================================================

Hollow files lie in the run's own folder or in a cache of oomph's, never in a cache that a real training reads. Existing files are always
preferred. Every absent checkpoint has a record (`ledger`), and the report names the checkpoint.
"""
