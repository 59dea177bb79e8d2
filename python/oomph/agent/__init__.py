"""The agent: records the behaviour of a PyTorch program in the run directory, from inside the program.

Nothing here imports torch before the program does. `start` waits for that import; `session.start` then
connects the parts:

==============  =====================================================================
`records`       the JSON lines file
`marks`         the program's position: step, phase, module, attached to every allocation
`modules`       forward passes, and the root modules
`backward`      backward passes, and the module whose backward runs
`steps`         optimizer steps, and the stop after the requested number
`untrained`     parameters that no step trained
`census`        the storages of parameters, gradients, optimizer state, buffers
`stats`         the allocator's counters
`positions`     marks for PyTorch before 2.10
`history`       PyTorch's memory history: turning it on, writing the snapshot
`notebook`      a notebook as the main script
`oom`           out-of-memory errors, at the instant they happen
`handlers`      the handler of such an error, by the program's source
`enclosing`     the loops around such an error, by the program's source
`guards`        the statement around it, and the ways out
`finish`        the program's end
`values`        reads from the device, and shapes that depend on the values (only over a phantom GPU)
`known`         known values, and computations from known values (only over a phantom GPU)
`initializers`  random initialisation, skipped (only over a phantom GPU)
`generation`    the length of text generation (only over a phantom GPU)
`checkpoints`   checkpoint files: weights are not read, old files survive (only over a phantom GPU)
`outside`       trackers, mail and uploads, off line (only over a phantom GPU)
`holes`         large host tensors of zeros, without memory (only over a phantom GPU)
`files`         listed folders, for a launcher that caches runs; nothing without `OOMPH_FILES`
`remedies`      requested changes, such as another optimizer; nothing without `OOMPH_REMEDIES`
`script`        the main script's syntax tree, changed before Python compiles it; nothing unless a remedy asks
`groups`        messages to NCCL about process groups (only over a phantom GPU)
`objects`       Python objects that ranks exchange (only over a phantom GPU)
`integers`      small tensors of integers that ranks exchange (only over a phantom GPU)
`absent_ranks`  absent ranks of a job; `job_rank` is the running rank (only over a phantom GPU)
==============  =====================================================================

The agent decides nothing, keeps no tensor alive, never initialises CUDA, and never breaks the program: its own
failures are one line on standard error.
"""

from . import absent_ranks, ending, files, importing, outside, remedies, script


def serve() -> None:
    """Waits as a fork server; returns in each of its children, which then run the program."""
    from . import server

    files.watch()
    outside.wait_for_libraries()
    server.serve()


def start() -> None:
    """Assumes the requested rank; starts the agent as soon as the program has imported torch."""
    end = ending.Ending()
    files.watch()
    outside.install()
    script.take_notebooks()
    absent_ranks.assume_rank()
    asked = remedies.Remedies()
    asked.prepare()
    importing.after_import("torch", lambda: _start(asked, end))


def _start(asked: remedies.Remedies, end: ending.Ending) -> None:
    from . import session

    session.start(asked, end)
