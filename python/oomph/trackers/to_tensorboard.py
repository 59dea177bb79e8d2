"""Logs to TensorBoard: an event file in a folder of its own, below the folder of the program's event files where one is known."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from .figures import Figures

# The variable of transformers' Trainer, and the folder of PyTorch's SummaryWriter.
_VARIABLE, _DEFAULT = "TENSORBOARD_LOGGING_DIR", "runs"


class EventFile:
    """An event file."""

    errors = (OSError,)

    def __init__(self, folder: Path) -> None:
        self.where = str(folder)
        self._writer = EventFileWriter(str(folder))

    def log(self, figures: Figures) -> None:
        """Logs numbers as scalars, and texts as summaries of the text plugin."""
        values = [Summary.Value(tag=name, simple_value=number) for name, number in figures.numbers.items()]
        values += [_write_text(name, text) for name, text in figures.texts.items()]
        self._writer.add_event(Event(wall_time=figures.time, step=figures.step, summary=Summary(value=values)))

    def close(self) -> None:
        """Writes the rest of the file."""
        self._writer.close()


def open_run(place: str, run: dict[str, Any]) -> EventFile:
    """Opens an event file in the first free folder."""
    logs = Path(place or run.get("place") or os.environ.get(_VARIABLE) or _DEFAULT)
    return EventFile(_make_free(logs))


def _make_free(logs: Path) -> Path:
    """Makes `logs/oomph`, or `logs/oomph-2` and so on: two runs in one folder would be one curve."""
    number = 1
    while True:
        folder = logs / ("oomph" if number == 1 else f"oomph-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder


def _write_text(name: str, text: str) -> Summary.Value:
    plugin = SummaryMetadata.PluginData(plugin_name="text")
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    tensor = TensorProto(dtype=DT_STRING, string_val=[text.encode()], tensor_shape=shape)
    return Summary.Value(tag=name, metadata=SummaryMetadata(plugin_data=plugin), tensor=tensor)
