"""Makes the files of an earlier run."""

import pathlib

pathlib.Path("data").mkdir()
pathlib.Path("data/readme.txt").write_text("data come here\n")
