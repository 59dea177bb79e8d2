"""A real process inserts a row into an SQLite database (WAL and rollback journal) every 50 ms during the dry run, whose program inserts and
deletes rows in the same databases."""

# /// expect
# commands = "check"
# guards = "both"
# why = "nothing of others is lost: each row that the other committed is there, the databases are sound (PRAGMA integrity_check), and the program's rows are gone or the report names the file"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    import sqlite3
    for name, mode in (("wal.db", "wal"), ("rollback.db", "delete")):
        with sqlite3.connect(WORK / name) as db:
            db.execute(f"pragma journal_mode={mode}")
            db.execute("create table t (who text, n integer)")
            db.executemany("insert into t values ('earlier', ?)", [(i,) for i in range(100)])
        db.close()
    program("""
import sqlite3
def insert(name):
    db = sqlite3.connect(name, timeout=20)
    with db: db.execute("insert into t values ('program', 1)")
    with db: db.execute("delete from t where who='earlier' and n < 10")
    db.close()
attempt("wal", lambda: insert("wal.db"))
attempt("rollback", lambda: insert("rollback.db"))
for i in range(3): time.sleep(1); step()
""")
    second = other("""
import sqlite3
os.chdir(sys.argv[1]); print("ready", flush=True); n = {"wal.db": 0, "rollback.db": 0}
while not os.path.exists(sys.argv[2] + "/stop"):
    for name in n:
        try:
            db = sqlite3.connect(name, timeout=20)
            with db: db.execute("insert into t values ('other', ?)", (n[name],))
            db.close(); n[name] += 1
        except sqlite3.Error as error: print("ERROR", name, error, flush=True)
    time.sleep(0.05)
print("WROTE", n["wal.db"], n["rollback.db"], flush=True)
""", WORK, OUT)
    look = Check().acted("wal", "rollback")
    (OUT / "stop").touch()
    until(lambda: "WROTE" in second.text() or second.process.poll() is not None, "the second process")
    errors = [l for l in second.text().splitlines() if "ERROR" in l]
    expect(not errors, f"the other process got {len(errors)} errors: {errors[:2]}")
    counts = dict(zip(("wal.db", "rollback.db"), map(int, second.text().split()[-2:])))
    for name, count in counts.items():
        try:
            db = sqlite3.connect(WORK / name)
            sound = db.execute("pragma integrity_check").fetchone()[0]
            rows = dict(db.execute("select who, count(*) from t group by who").fetchall())
        except sqlite3.Error as error:
            broken(f"{name}: {error}")
        expect(sound == "ok" and rows.get("other") == count, f"{name}: {count - rows.get('other', 0)} of {count} rows of the other process are lost; integrity {sound}; {rows}")
        expect(rows.get("earlier") == 100 and "program" not in rows or look.said(name), f"{name}: {rows}, and the report does not say so")


main(scene)
