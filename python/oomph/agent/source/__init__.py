"""The program's source: parsed once, searched by line, evaluated without running it.

`trees` parses; `spans` finds nodes by line and instruction; `flow` has the loops around a statement and the statements behind; `names` has the
names in expressions; `scope` evaluates expressions in a running function; `functions` has the functions that a call runs; `imports` lists what
a script imports; `script` and `notebook` change the main script before Python compiles it.
"""
