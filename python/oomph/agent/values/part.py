"""Values on the device, as a part of the session."""

from collections.abc import Callable

from ..hooks.kernels import Overrides
from ..part import Assume, Part, Write
from ..phantom import Phantom
from ..process.environment import Environment
from .generation import Generation
from .values import Values


class Answers(Part):
    """Known values and assumed answers, over a phantom GPU."""

    def __init__(self, env: Environment, found: Phantom | None, overrides: Overrides, step: Callable[[], int], assume: Assume) -> None:
        self._fraction = env.fraction
        self._phantom = found
        self._overrides = overrides
        # The optimizer step under way.
        self._step = step
        self._assume = assume
        self._values: Values | None = None

    def install(self, write: Write) -> None:
        """Replaces operators on the device, and the end of text generation."""
        if self._phantom is None:
            return
        self._values = Values(self._phantom, self._fraction, step=self._step)
        self._values.install(self._overrides)
        Generation(self._assume).install()

    def finish(self, reason: str, write: Write) -> None:
        """The records of reads and assumptions."""
        if self._values is not None:
            self._values.finish(write)
