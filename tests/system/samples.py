"""Artefacts of a crash, made by hand: small, with every figure known beforehand.

A snapshot is what `torch.cuda.memory._snapshot()` returns, with the keys of PyTorch 2.11.
"""

import gzip
import io
import json
import pickle
import zipfile
import zlib

MIB = 1 << 20
# A rounded request from 10 MiB on has a segment of its own, in whole pages of 2 MiB; so reserved is allocated here.
BLOCK = 20 * MIB
TRAIN = "/home/ann/job/train.py"

MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which "
    "211.00 MiB is free. Process 48213 has 19.51 GiB memory in use. Including non-PyTorch memory, this process has 3.91 GiB memory "
    "in use. Of the allocated memory 3.32 GiB is allocated by PyTorch, and 97.40 MiB is reserved by PyTorch but unallocated."
)
LOG = f"""Traceback (most recent call last):
  File "{TRAIN}", line 61, in main
    logits = model(images.to(device))
{MESSAGE}
"""
HEALTHY = "epoch 0: loss 2.301, out of 1250 batches 100 are done, memory 11.2 GiB\n"


def frames(line: int, file: str = TRAIN) -> list[dict]:
    """A stack of a single frame."""
    return [{"name": "main", "filename": file, "line": line}]


def snapshot(blocks: int, file: str = TRAIN, ran_out: bool = True, device: int = 0) -> dict:
    """A program that makes `blocks` blocks on line 7, in sequence, and then requests one too many on line 9."""
    addresses = [(0x7F00 << 32) + index * BLOCK for index in range(blocks)]
    events, segments = [], []
    for time, address in enumerate(addresses):
        common = {"addr": address, "size": BLOCK, "stream": 0, "frames": frames(7, file), "user_metadata": "", "compile_context": "N/A"}
        events += [{"action": action, "time_us": 1_700_000_000_000_000 + time, **common} for action in ("segment_alloc", "alloc")]
        block = {"address": address, "size": BLOCK, "requested_size": BLOCK, "state": "active_allocated", "frames": frames(7, file)}
        sizes = {"total_size": BLOCK, "allocated_size": BLOCK, "active_size": BLOCK, "requested_size": BLOCK}
        place = {"device": device, "address": address, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0)}
        segments.append({**place, **sizes, "is_expandable": False, "frames": frames(7, file), "blocks": [block]})
    if ran_out:
        oom = {"action": "oom", "device_free": MIB, "size": BLOCK, "stream": 0, "frames": frames(9, file)}
        events.append({**oom, "time_us": 1_700_000_000_001_000, "user_metadata": "", "compile_context": "N/A"})
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "expandable_segments": False, "roundup_power2_divisions": {}}
    traces = [[] for _ in range(device)] + [events]
    return {"segments": segments, "device_traces": traces, "allocator_settings": settings, "external_annotations": []}


def pickled(value, protocol: int = 2) -> bytes:
    """The bytes that `_dump_snapshot` writes."""
    return pickle.dumps(value, protocol)


def zipped(name: str, content: bytes) -> bytes:
    """A zip archive of one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def zstd(content: bytes) -> bytes:
    """A zstd frame of raw blocks (RFC 8878): a magic number, a single segment of a stated size, blocks of up to 128 KiB."""
    frame = b"\x28\xb5\x2f\xfd\xa0" + len(content).to_bytes(4, "little")
    starts = range(0, len(content), 1 << 17)
    for start in starts:
        block = content[start : start + (1 << 17)]
        is_last = start == starts[-1]
        frame += (len(block) << 3 | is_last).to_bytes(3, "little") + block
    return frame


class Code:
    """An object whose pickle runs a command when `pickle.load` reads it."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self):
        import os

        return os.system, (self.command,)


SNAPSHOT = snapshot(10)
# Every form of a snapshot.
FORMS = {
    "a pickle": pickled(SNAPSHOT),
    "a pickle of protocol 0": pickled(SNAPSHOT, 0),
    "a pickle of protocol 5": pickled(SNAPSHOT, 5),
    "gzip": gzip.compress(pickled(SNAPSHOT)),
    "gzip in two members": gzip.compress(pickled(SNAPSHOT)[:100]) + gzip.compress(pickled(SNAPSHOT)[100:]),
    "zstd": zstd(pickled(SNAPSHOT)),
    "zip": zipped("archive/snapshot.pickle", pickled(SNAPSHOT)),
    "JSON": json.dumps(SNAPSHOT).encode(),
    "JSON in gzip": gzip.compress(json.dumps(SNAPSHOT).encode()),
}
CUT_GZIP = FORMS["gzip"][: len(FORMS["gzip"]) // 2]
WRONG_CHECKSUM = FORMS["gzip"][:-8] + zlib.crc32(b"another").to_bytes(4, "little") + FORMS["gzip"][-4:]
