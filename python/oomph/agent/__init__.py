"""The agent: notes what a PyTorch program does into the run directory, from inside the program.

Nothing here imports torch before the program does. `start_with_torch` waits for that import; `session.start` then
connects the parts:

==============  =====================================================================
`records`       the JSON lines file
`marks`         where the program is: step, phase, module, attached to every allocation
`modules`       forward passes, and which roots exist
`backward`      backward passes, and whose backward runs
`steps`         optimizer steps, and stopping after the wanted number
`census`        which storages are parameters, gradients, optimizer state, buffers
`stats`         the allocator's counters
`history`       PyTorch's memory history: turning it on, writing the snapshot
`oom`           out-of-memory errors, at the instant they happen
`finish`        how the program ended
`values`        shapes that depend on values (only over a phantom GPU)
`initializers`  random initialisation that nobody needs (only over a phantom GPU)
==============  =====================================================================

The agent decides nothing, keeps no tensor alive, never initialises CUDA, and never breaks the program: what goes wrong
in it is one line on standard error.
"""

from . import importing


def start_with_torch() -> None:
    """Starts the agent as soon as the program has imported torch."""
    importing.after_import("torch", _start)


def _start() -> None:
    from . import session

    session.start()
