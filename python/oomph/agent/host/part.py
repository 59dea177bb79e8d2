"""The machine around the device, as parts of the session."""

from .. import records
from ..hooks.kernels import Overrides
from ..part import Part, Write
from ..phantom import Phantom
from ..process.environment import Environment
from .checkpoints import moves
from .checkpoints.unread import Checkpoints
from .holes import Holes
from .initializers import Initializers
from .latent import Latent


class Host(Part):
    """Host memory and checkpoint files, over a phantom GPU."""

    def __init__(self, env: Environment, found: Phantom | None, overrides: Overrides) -> None:
        self._env = env
        self._phantom = found
        self._overrides = overrides
        self._latent: Latent | None = None
        self._initializers: Initializers | None = None
        self._checkpoints: Checkpoints | None = None

    def install(self, write: Write) -> None:
        """Replaces operators on the host, and functions that read checkpoints."""
        if self._phantom is None:
            return
        self._latent = Latent(self._phantom)
        holes = Holes(self._phantom, self._latent)
        self._initializers, self._checkpoints = Initializers(holes, self._latent), Checkpoints(self._latent)
        self._latent.install(self._overrides)
        holes.install(self._overrides)
        self._initializers.install(self._overrides)
        self._checkpoints.install()
        if self._env.has_file_guard:
            moves.install()

    def finish(self, reason: str, write: Write) -> None:
        """The records of skipped values."""
        if self._initializers is not None and self._initializers.count:
            write(records.initializers_skipped(count=self._initializers.count, bytes=self._initializers.bytes))
        if self._checkpoints is not None and self._checkpoints.count:
            write(records.checkpoint_unread(count=self._checkpoints.count, bytes=self._checkpoints.bytes))
        for (file, line), count in self._latent.unread.items() if self._latent is not None else ():
            write(records.value_read(file=file, line=line, count=count, bytes=0, sizes=count))
