"""Makes the files of an earlier run."""

import pathlib

pathlib.Path("sub/deep").mkdir(parents=True)
pathlib.Path("sub/a.txt").write_text("a\n")
pathlib.Path("sub/b.txt").write_text("b\n")
pathlib.Path("sub/deep/c.txt").write_text("c\n")
pathlib.Path("top.log").write_text("start\n")
