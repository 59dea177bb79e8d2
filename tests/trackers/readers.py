"""Reads the last figures of a run back, with the library of each tracker. Each function returns them by name, without a prefix."""

import json
import os
import struct
from pathlib import Path

# The ident of a file of wandb, its block, and the header of a record in it (leveldb's log format): checksum, length, kind.
_IDENT, _BLOCK, _RECORD = b":W&B", 32 << 10, struct.Struct("<IHB")
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
Figures = dict[str, object]


def tensorboard(folder: Path) -> Figures:
    """The last scalars, and the last text of the phase, of an event file."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    found: Figures = {name: events.Scalars(name)[-1].value for name in events.Tags()["scalars"]}
    for name in events.Tags()["tensors"]:
        found[name] = events.Tensors(name)[-1].tensor_proto.string_val[0].decode()
    return found


def mlflow(store: str, experiment: str = "0") -> list[tuple[str, str, Figures]]:
    """The name, the status and the last figures of each run in a store."""
    from mlflow import MlflowClient

    client = MlflowClient(store)
    runs = client.search_runs([experiment])
    tags = lambda run: {key: value for key, value in run.data.tags.items() if not key.startswith("mlflow.")}
    return [(run.info.run_name, run.info.status, {**run.data.metrics, **tags(run)}) for run in runs]


def trackio(folder: Path, project: str) -> list[tuple[str, Figures]]:
    """The name and the last figures of each run of a project."""
    os.environ["TRACKIO_DIR"] = str(folder)
    from trackio import Api
    from trackio.sqlite_storage import SQLiteStorage

    found = []
    for run in Api().runs(project):
        merged: Figures = {}
        for row in SQLiteStorage.get_logs(project, run.name, run_id=run.id):
            merged |= row
        found.append((run.name, merged))
    return found


def wandb(folder: Path) -> list[tuple[object, Figures]]:
    """The record of the run and its last figures, of each offline run: wandb's own messages, in the order of the file."""
    from wandb.proto.wandb_internal_pb2 import Record

    found = []
    for file in sorted(folder.glob("offline-run-*/run-*.wandb")):
        run, figures = None, {}
        for data in _list_records(file.read_bytes()):
            record = Record()
            record.ParseFromString(data)
            if record.HasField("run"):
                run = record.run
            for item in record.history.item:
                figures[item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
        found.append((run, figures))
    return found


def _list_records(content: bytes) -> list[bytes]:
    assert content[:4] == _IDENT, content[:8]
    records, at, parts = [], 7, b""
    while at + _RECORD.size <= len(content):
        left = _BLOCK - at % _BLOCK
        if left < _RECORD.size:
            at += left
            continue
        _, length, kind = _RECORD.unpack_from(content, at)
        at += _RECORD.size
        parts = (b"" if kind in (_FULL, _FIRST) else parts) + content[at : at + length]
        at += length
        if kind in (_FULL, _LAST):
            records.append(parts)
    return records
