"""Makes the files of an earlier run."""

import pathlib

pathlib.Path("jobs").mkdir()
for i in range(6):
    pathlib.Path(f"jobs/{i}.todo").write_text(str(i))
