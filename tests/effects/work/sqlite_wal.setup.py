"""Makes the files of an earlier run."""

import sqlite3

base = sqlite3.connect("study.db")
base.execute("PRAGMA journal_mode = WAL")
base.execute("CREATE TABLE trials (id INTEGER PRIMARY KEY, state TEXT)")
base.executemany("INSERT INTO trials (state) VALUES (?)", [("complete",)] * 20)
base.commit()
base.close()
