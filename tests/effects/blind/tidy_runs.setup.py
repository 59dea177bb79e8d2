"""Makes the files of an earlier run."""

import pathlib

for run in ("a", "b"):
    folder = pathlib.Path("lightning_logs") / run
    folder.mkdir(parents=True)
    (folder / "hparams.yaml").write_text("lr: 0.1\n")
    (folder / "model.ckpt").write_bytes(b"\x01" * 5000)
