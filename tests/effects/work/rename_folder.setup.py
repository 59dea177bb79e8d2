"""Makes the files of an earlier run."""

import pathlib

folder = pathlib.Path("runs/exp")
(folder / "logs").mkdir(parents=True)
(folder / "model.pt").write_bytes(b"weights" * 10000)
(folder / "logs" / "1.log").write_text("log\n")
