"""The agent: records the behaviour of a PyTorch program in the run directory, from inside the program.

Nothing here imports torch before the program does, and a real run imports nothing of the agent's before. `start` waits for that import; `session.start` then
connects the parts, in one order: `part` lists the moments of a part, and the `part` of a folder names
the parts of the folder. A folder imports only folders above it in this table, and none imports `session`:

==============  =====================================================================
`hooks`         the replacement of functions of PyTorch and other libraries, by one table
`process`       the Python process: variables, imports, stacks, the fork server, the end
`source`        the program's source: parsed, searched, evaluated without running it; a
                notebook or a changed script as the main script
`ahead`         what a stopped program still had before it
`host`          host memory and checkpoint files; random initialisation, skipped
                (only over a phantom GPU)
`scenery`       what is not there: weights, tokenizers, data sets, trackers, mail and
                uploads (only over a phantom GPU)
`values`        reads from the device, shapes that depend on values, known values
                (only over a phantom GPU)
`ranks`         exchanges between ranks, and absent ranks (only over a phantom GPU)
`position`      the program's position: step, phase, module, attached to every allocation
`memory`        counters, PyTorch's memory history, censuses, out-of-memory errors at the
                instant they happen, with the handlers and the state of the program
`life`          the whole life of a job: loops that are shortened (only over a phantom GPU)
`remedies`      requested changes, such as another optimizer or another content of a file; nothing
                without `OOMPH_REMEDIES` and `OOMPH_OVERLAY`
`live`          a real run: recorded, and nothing replaced but by remedies (`record` starts it)
==============  =====================================================================

Beside the folders: the contract (`wire`, `records`, `record_file`); `failure`, errors of the agent's own; `phantom`, the entry points of the
phantom; `libraries`, opened by name.

The agent decides nothing, keeps no tensor alive, never initialises CUDA, and never breaks the program: its own
failures are one line on standard error.
"""


def record(folder: str) -> None:
    """Records a real run in `folder` (Note [Real runs] in `live`), with the requested remedies."""
    from . import live, remedies

    asked = remedies.Remedies()
    asked.prepare()
    live.start(folder, asked)


def serve() -> None:
    """Waits as a fork server; returns in each of its children, which then run the program."""
    from .host.checkpoints import safetensors_files
    from .process import files, server
    from .scenery import waiting
    from .source import imports

    files.watch()
    waiting.wait_early()
    safetensors_files.wait()
    server.serve(imports.list_imports, _prepare)


def _prepare() -> None:
    """Imports the agent's own modules, and asks PyTorch for its operators: once, and not in each child. Nothing is replaced."""
    import sys

    if "torch" in sys.modules:
        from . import session  # noqa: F401
        from .values.known import schemas

        schemas.list_operators()
        schemas.written_places("")


def start() -> None:
    """Assumes the requested rank; starts the agent as soon as the program has imported torch."""
    import os

    from . import remedies, wire
    from .host.checkpoints import safetensors_files
    from .hooks import importing
    from .life import loading
    from .process import ending, files, sight
    from .ranks import absent_ranks
    from .remedies import overlay
    from .scenery import outside, waiting
    from .source import script

    end = ending.Ending()
    seen = sight.Sight(os.environ[wire.RUN_DIR])
    if wire.AGENT_PID not in os.environ:
        # Imports take their time, too. Helpers of the program that import no PyTorch have no file.
        seen.show_stack()
    files.watch()
    waiting.wait_early()
    outside.set_variables()
    safetensors_files.wait()
    overlay.install()
    script.take_notebooks()
    if os.environ.get(wire.LIFE) == "1":
        loading.install()
    absent_ranks.assume_rank()
    asked = remedies.Remedies()
    asked.prepare()

    def begin() -> None:
        from . import session

        session.start(asked, end, seen)

    importing.after_import("torch", begin)
