"""Makes the files of an earlier run."""

import pathlib

pathlib.Path("scores").mkdir()
for i in range(5):
    pathlib.Path(f"scores/{i}.txt").write_text(f"{i}\n")
pathlib.Path("state.json").write_text('{"step": 4000}')
