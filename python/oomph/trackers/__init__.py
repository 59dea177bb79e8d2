"""Trackers of experiments: the figures of `oomph run --log-to NAME` go to each by its own library.

Note [Trackers]
~~~~~~~~~~~~~~~
`oomph run --log-to NAME[=PLACE]` starts for each tracker one helper process before the program, with the program's own Python::

    python -m oomph.trackers NAME PLACE FOLDER SECONDS

FOLDER is the working directory of the program. The helper reads the lines of `--metrics` from its standard input (`ProcessMetrics` in
`crates/report/src/metrics.rs`), and writes events to its standard output, each a JSON object on one line:

* `{"kind": "ready"}`, or `{"kind": "missing", "package": "mlflow"}`: the first event, before any import of the library
* `{"kind": "closed", "where": "runs/oomph", "logged": 120, "dropped": 0, "why": null}`: the last event; `where` is null if no figure came, and
  `why` names the first error of the library

The library is imported when a process uses CUDA, and a run is begun with the first figures: a program that ends before leaves no empty run. Two threads work in the helper: one reads the
lines into a queue of bounded length, and the other one logs. A tracker that answers too slowly loses lines, which are counted. After the end of the
standard input the queue is emptied for SECONDS; then the helper ends, whatever the library does. `oomph run` itself waits a
second longer, and kills the helper's process group.

The program takes no part, so that it is neither slower nor in danger. The agent notes the name of the run that the program logs to,
an attribute of the loaded library (`python/oomph/agent/live/trackers.py`); the lines carry that name in `trackers`. Where a tracker lets a second process
add to a run (mlflow), the figures go there; decision 070 has the reasons.
"""
