"""This process, as a part of the session."""

import os
import platform
import sys
import time

import torch

from .. import records
from ..part import Part, Write
from . import lineage
from .environment import Environment
from .kernels import has_kernels


class Process(Part):
    """The record of the process, and the kernels that its PyTorch lacks."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._write: Write | None = None

    def install(self, write: Write) -> None:
        """Keeps `write`."""
        self._write = write

    def attach(self) -> None:
        """Records a GPU without kernels: PyTorch warns in the program's output, which a check does not show."""
        # All devices of a run are alike. The public function counts devices first, by NVML.
        device, built_for = torch.cuda._get_device_properties(0), torch.cuda.get_arch_list()
        capability = device.major, device.minor
        if not has_kernels(capability, built_for):
            self._write(records.kernels_missing(capability="%d.%d" % capability, built_for=" ".join(built_for)))

    def describe(self) -> dict:
        """The process, its rank, and the versions of Python, PyTorch and CUDA's libraries."""
        return records.process(
            pid=os.getpid(),
            rank=self._env.rank,
            local_rank=self._env.local_rank,
            world_size=self._env.world_size,
            argv=sys.argv,
            script_dir=self._env.script_dir,
            python=platform.python_version(),
            executable=sys.executable or "",
            torch=torch.__version__,
            cuda=torch.version.cuda,
            cudnn=_cudnn_version(),
            started_ns=lineage.process_start_ns(),
            ancestors=lineage.list_ancestors(),
            monotonic_ns=time.monotonic_ns(),
        )


def _cudnn_version() -> int | None:
    cudnn = getattr(torch._C, "_cudnn", None)
    return None if cudnn is None else int(cudnn.getVersionInt())
