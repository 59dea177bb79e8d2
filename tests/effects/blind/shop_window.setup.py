"""Makes the files of an earlier run."""

import pathlib

pathlib.Path("site").mkdir()
pathlib.Path("site/index.html").write_text("old\n")
