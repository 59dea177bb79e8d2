"""Makes the files of an earlier run."""

import sqlite3

base = sqlite3.connect("experiments.db")
base.execute("CREATE TABLE runs (name TEXT, loss REAL)")
base.executemany("INSERT INTO runs VALUES (?, ?)", [(f"run {i}", i / 10) for i in range(200)])
base.execute("CREATE TABLE notes (text TEXT)")
base.execute("INSERT INTO notes VALUES ('keep me')")
base.commit()
