"""Makes the files of an earlier run."""

import pathlib
import sqlite3

pathlib.Path("output/old").mkdir(parents=True)
for i in range(20):
    pathlib.Path(f"output/old/{i}.bin").write_bytes(bytes([i]) * 10000)
pathlib.Path("metrics.csv").write_text("step,loss\n1,0.5\n")
pathlib.Path("untouched.txt").write_text("untouched\n")
pathlib.Path.home().joinpath("settings.json").write_text("{}")
base = sqlite3.connect("runs.db")
base.execute("CREATE TABLE runs (step INTEGER)")
base.execute("INSERT INTO runs VALUES (1)")
base.commit()
