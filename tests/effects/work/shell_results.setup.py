"""Makes the files of an earlier run."""

import pathlib

folder = pathlib.Path("results")
folder.mkdir()
for name in ("accuracy.txt", "confusion.txt", "roc.txt"):
    (folder / name).write_text(f"{name} of the last run\n")
