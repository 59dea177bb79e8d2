"""Makes the files of an earlier run."""

import pathlib

for name in ("held.log", "rolled.log", "reopened.log", "shell.log", "tee.log"):
    pathlib.Path(name).write_text("earlier\n")
for name in ("rewritten.json", "removed.txt", "started.txt"):
    pathlib.Path(name).write_text("{}\n")
