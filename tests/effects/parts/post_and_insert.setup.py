"""Makes the files of an earlier run."""

import sqlite3

base = sqlite3.connect("runs.db")
base.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, batch INTEGER)")
base.execute("INSERT INTO runs (batch) VALUES (1)")
base.commit()
