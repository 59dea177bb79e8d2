"""Makes the files of an earlier run."""

import sqlite3

base = sqlite3.connect("main.sqlite")
base.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, payload BLOB)")
base.executemany("INSERT INTO runs (payload) VALUES (?)", [(bytes(2000),)] * 300)
base.commit()
base.close()
other = sqlite3.connect("archive.sqlite")
other.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, payload BLOB)")
other.execute("INSERT INTO runs VALUES (7, x'07')")
other.commit()
