"""The contract with the binary and the phantom: names and limits. The records are in `records.py`.

Written by `make generate` from the tables in crates/wire; not to be edited.
"""

# Environment variables.
# a file to which the functions that each dry run replaced are appended, for `tests/hooks` (Note [Replacements] in `python/oomph/agent/hooks`).
REPLACED = "OOMPH_REPLACED"
# absolute path of the run directory; unset = record nothing.
RUN_DIR = "OOMPH_RUN_DIR"
# absolute path of the folder for the recordings of a real run; unset = no such run (Note [Real runs] in `python/oomph/agent/live`).
RUN = "OOMPH_RUN"
# stop after this number of optimizer steps; `0` = run to the end.
STEPS = "OOMPH_STEPS"
# the most steps after those, while there is more to see and a step takes little time; unset = none.
MORE_STEPS = "OOMPH_MORE_STEPS"
# `1`: visit the whole life of the program, its loops shortened; `OOMPH_STEPS` are its first steps, and the stop of a program whose loops cannot be shortened.
LIFE = "OOMPH_LIFE"
# share of elements that value-dependent shapes are assumed to select; default 0.5.
FRACTION = "OOMPH_FRACTION"
# the remedies to apply to the program, as JSON (Note [Remedies] in `python/oomph/agent/remedies`).
REMEDIES = "OOMPH_REMEDIES"
# the program's files that are read from other places, `{PATH: OTHER}` as JSON (`remedies/overlay.py`).
OVERLAY = "OOMPH_OVERLAY"
# `0`: record PyTorch's counters only, no history of the allocator.
HISTORY = "OOMPH_HISTORY"
# `1`: count FLOPs, bytes and copies of operators (`position/work.py`).
WORK = "OOMPH_WORK"
# the file for notes on the files that the program reads (Note [Files looked at] in `crates/phantom/src/files.rs`).
FILES = "OOMPH_FILES"
# the folder for the journal of changes to files, which are undone after the run (Note [Undo journal] in `crates/phantom/src/undo.rs`).
UNDO = "OOMPH_UNDO"
# set: wait as a fork server (Note [Fork server] in `process/server.py`).
SERVE = "OOMPH_SERVE"
# `1`: trackers, mail and uploads are not taken off line (Note [Off line] in `python/oomph/agent/scenery/outside`).
ONLINE = "OOMPH_ONLINE"
# `1`: well-known data sets that are not there are made up (Note [Made-up data] in `python/oomph/agent/scenery/data`).
FAKE_DATA = "OOMPH_FAKE_DATA"
# the only rank of a job that runs; unset = every rank is a process.
RANK = "OOMPH_RANK"
# number of ranks in that job.
WORLD_SIZE = "OOMPH_WORLD_SIZE"
# number of that job's ranks on one machine.
LOCAL_WORLD_SIZE = "OOMPH_LOCAL_WORLD_SIZE"
# the specification of the world that a child of a fork server enters, or of its confinement (Note [World] in `crates/world/src/lib.rs`).
WORLD = "OOMPH_WORLD"
# the guard of the user's files, `namespace` or `functions`: zeros are written as holes (Note [Holes] in `crates/phantom/src/holes.rs`).
GUARD = "OOMPH_GUARD"
# `1`: connections to other programs are refused (Note [Connections] in `crates/phantom/src/files/network.rs`), and the Hugging Face Hub is closed (`scenery/weights/network.py`).
OFFLINE = "OOMPH_OFFLINE"
# set by the agent: the first process of the run, so that its helpers record nothing.
AGENT_PID = "OOMPH_AGENT_PID"

# Exit status of a forked child that could not start the program.
CANNOT = 117

# Bytes of the largest copy to the device whose values the phantom keeps.
KEPT_BYTES = 1048576

# Signals from oomph: to end, with the records of that moment; to write the Python stack.
STOP = 16
STACK = 23

# Names in the run directory: `rank0.marks.jsonl`, `rank0.snapshot.pickle`.
RANK_PREFIX = "rank"
MARKS = ".marks.jsonl"
SNAPSHOT = ".snapshot.pickle"
RECORDING = ".recording"
POSITION_PREFIX = "position-"
STACK_PREFIX = "stack-"
DOWNLOADS = "downloads"
HOLLOW = "hollow"
HOSTS = "hosts"
