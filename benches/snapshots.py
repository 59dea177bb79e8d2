"""Makes memory snapshots of any size, as PyTorch 2.11 would have dumped them after so many training steps.

    python benches/snapshots.py --oomph target/release/oomph --python .venv/bin/python --megabytes 165 OUT.pickle

A small transformer is trained on the phantom GPU for a few steps and its snapshot taken, so that structure, stacks
and addresses are real. Then the events of its last step are repeated until the file has the size: the memory is the
same after a step as before, so the history still ends in the dumped segments. Same arguments, same bytes, save for
addresses and times of the recording.
"""

import argparse
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

# A step of it is some thousand events, and the stacks are as deep as people's.
PROGRAM = """
import sys, torch
torch.cuda.memory._record_memory_history(stacks="python")
layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).cuda()
optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
for step in range(6):
    optimizer.zero_grad()
    model(torch.randn(8, 128, 256, device="cuda")).square().mean().backward()
    optimizer.step()
torch.cuda.memory._dump_snapshot(sys.argv[1])
"""

MICROSECONDS_BETWEEN = 11
BATCH = 1000


def main() -> None:
    """Records, and repeats."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oomph", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--megabytes", type=int, required=True)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    snapshot = record(arguments.oomph, arguments.python)
    print(f"{write(snapshot, arguments.megabytes * 10**6, arguments.out)} events")


def record(oomph: str, python: str) -> dict:
    """The snapshot of the program after a few steps on the phantom."""
    with tempfile.TemporaryDirectory() as folder:
        program, out = pathlib.Path(folder, "train.py"), pathlib.Path(folder, "out.pickle")
        program.write_text(PROGRAM)
        command = [os.path.abspath(oomph), "phantom", "--gpu", "rtx-4090", "--", os.path.abspath(python)]
        subprocess.run([*command, program, out], check=True, stdout=sys.stderr)
        return pickle.loads(out.read_bytes())


def write(snapshot: dict, size: int, out: pathlib.Path) -> int:
    """Writes the snapshot with its last step repeated until the file has about `size` bytes; gives its events."""
    events = snapshot["device_traces"][0]
    step = events[-period(events):]
    with out.open("wb") as file:
        pickler = Repeating(file, step, size)
        # The history comes last: what was repeated has no number in the memo, so nothing may follow that has one.
        rest = {key: value for key, value in snapshot.items() if key != "device_traces"}
        pickler.dump({**rest, "device_traces": [Trace(events)]})
        return pickler.events


def period(events: list[dict]) -> int:
    """The length of the last step: the events before it are the same again."""
    what = [(event["action"], event["addr"], event["size"]) for event in events]
    for length in range(500, len(what) // 2):
        if what[-1] == what[-1 - length] and what[-length:] == what[-2 * length:-length]:
            return length
    sys.exit("the recorded steps do not repeat")


class Trace(list):
    """The list of events that is to be followed by its last step, again and again."""


class Repeating(pickle._Pickler):
    """Python's own pickler, which writes the events of a step once as any others and then repeats their bytes."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file, step: list[dict], size: int) -> None:
        super().__init__(file, 4)
        self.file, self.step, self.size, self.events = file, step, size, 0

    def save_trace(self, trace: Trace) -> None:
        """Writes a `Trace`."""
        self.write(pickle.EMPTY_LIST)
        self.memoize(trace)
        self._batch_appends(trace)
        time = trace[-1]["time_us"]
        pieces = [self.pieces(fresh(event)) for event in self.step]
        self.framer.commit_frame(force=True)
        self.events = len(trace)
        while self.file.tell() < self.size:
            for start in range(0, len(pieces), BATCH):
                batch = bytearray(pickle.MARK)
                for before, after in pieces[start:start + BATCH]:
                    time += MICROSECONDS_BETWEEN
                    batch += before + encoded(time) + after
                    self.events += 1
                self.file.write(batch + pickle.APPENDS)

    dispatch[Trace] = save_trace

    def pieces(self, event: dict) -> tuple[bytes, bytes]:
        """The pickle of an event before and after its time."""
        written, write, known = [], self.write, dict(self.memo)
        self.write = written.append
        self.save(event)
        self.write, self.memo = write, known
        before, after = b"".join(written).split(encoded(event["time_us"]))
        return before, after


def encoded(number: int) -> bytes:
    """The pickle of a time."""
    return pickle.LONG1 + b"\x07" + number.to_bytes(7, "little")


def fresh(event: dict) -> dict:
    """An event as the allocator's next one: with a list of frames and a context text of its own, as PyTorch makes them."""
    copy = {**event, "compile_context": "".join(list(event["compile_context"]))}
    if "frames" in event:
        copy["frames"] = list(event["frames"])
    return copy


if __name__ == "__main__":
    main()
