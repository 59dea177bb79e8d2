"""The agent: notes what a PyTorch program does into the run directory, from inside the program.

Nothing here imports torch before the program does. `start` waits for that import; `session.start` then
connects the parts:

==============  =====================================================================
`records`       the JSON lines file
`marks`         where the program is: step, phase, module, attached to every allocation
`modules`       forward passes, and which roots exist
`backward`      backward passes, and whose backward runs
`steps`         optimizer steps, and stopping after the wanted number
`untrained`     parameters that no step trained
`census`        which storages are parameters, gradients, optimizer state, buffers
`stats`         the allocator's counters
`positions`     marks for PyTorch before 2.10
`history`       PyTorch's memory history: turning it on, writing the snapshot
`notebook`      a notebook as the main script
`oom`           out-of-memory errors, at the instant they happen
`handlers`      who catches such an error, by the program's source
`finish`        how the program ended
`values`        what is read of the device, and shapes that depend on it (only over a phantom GPU)
`known`         values that are known, and what is computed of them (only over a phantom GPU)
`initializers`  random initialisation that nobody needs (only over a phantom GPU)
`generation`    how long text generation goes on (only over a phantom GPU)
`checkpoints`   checkpoint files: weights that nobody needs to read, files that must survive (only over a phantom GPU)
`holes`         large host tensors that hold nothing and cost nothing (only over a phantom GPU)
`files`         which folders are listed, for a launcher that keeps what a run came to; nothing without `OOMPH_FILES`
`remedies`      changes that were asked for, such as another optimizer; nothing without `OOMPH_REMEDIES`
`script`        the main script's syntax tree, changed before Python compiles it; nothing unless a remedy asks
`groups`        what NCCL is told of process groups (only over a phantom GPU)
`objects`       Python objects that ranks exchange (only over a phantom GPU)
`integers`      small tensors of integers that ranks exchange (only over a phantom GPU)
`absent_ranks`  the ranks of a job that do not run; `job_rank` is the rank that does (only over a phantom GPU)
==============  =====================================================================

The agent decides nothing, keeps no tensor alive, never initialises CUDA, and never breaks the program: what goes wrong
in it is one line on standard error.
"""

from . import absent_ranks, files, importing, remedies, script


def serve() -> None:
    """Waits as a fork server; returns in each of its children, which then run the program."""
    from . import server

    files.watch()
    server.serve()


def start() -> None:
    """Takes the place of the rank that was asked for; starts the agent as soon as the program has imported torch."""
    files.watch()
    script.take_notebooks()
    absent_ranks.assume_rank()
    asked = remedies.Remedies()
    asked.prepare()
    importing.after_import("torch", lambda: _start(asked))


def _start(asked: remedies.Remedies) -> None:
    from . import session

    session.start(asked)
