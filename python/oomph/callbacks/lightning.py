"""`OomphCallback` for Lightning::

    from oomph.callbacks.lightning import OomphCallback

    trainer = Trainer(..., callbacks=[OomphCallback()])

The figures go to every logger of the trainer, at the steps of `log_every_n_steps`, as those of Lightning's own `DeviceStatsMonitor`: `self.log` would
make single-precision numbers of them, which cannot hold the bytes of a GPU.
"""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch import LightningModule, Trainer
    from lightning.pytorch.callbacks import Callback
except ImportError:
    # The package by its former name.
    from pytorch_lightning import LightningModule, Trainer
    from pytorch_lightning.callbacks import Callback

from .figures import MemoryMeter

__all__ = ["OomphCallback"]


class OomphCallback(Callback):
    """Logs the memory of the GPU beside the loss."""

    def __init__(self) -> None:
        self._meter = MemoryMeter()
        self._logged_step = 0

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Warns where the figures would go nowhere."""
        if not trainer.loggers:
            self._meter.turn_off("the trainer has no logger, so no memory is logged")

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Logs the figures after a step at which Lightning logs."""
        # With accumulated gradients several batches have one step.
        step = trainer.global_step
        if step != self._logged_step and trainer.log_every_n_steps and step % trainer.log_every_n_steps == 0:
            self._logged_step = step
            figures = self._meter.read(step)
            for logger in trainer.loggers if figures else ():
                logger.log_metrics(dict(figures), step=step)
