"""Makes the files of an earlier run."""

import pathlib

folder = pathlib.Path("output")
(folder / "logs").mkdir(parents=True)
(folder / "ckpt-100.pt").write_bytes(b"a trained model" * 1000)
(folder / "ckpt-200.pt").write_bytes(b"a better model" * 1000)
(folder / "logs" / "events.log").write_text("step 1\nstep 2\n")
