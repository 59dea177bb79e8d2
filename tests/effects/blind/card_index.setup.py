"""Makes the files of an earlier run."""

import dbm.dumb
import shelve

with shelve.open("index", flag="n") as index:
    index["runs"] = 12
    index["names"] = ["a", "b"]
with dbm.dumb.open("plain", "n") as base:
    base["a"] = "1"
    base["b"] = "2"
