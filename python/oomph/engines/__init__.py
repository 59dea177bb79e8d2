"""Engines of `oomph sweep`: each runs the tasks of a sweep on a cluster, with Ray or with Slurm.

Note [Engines]
~~~~~~~~~~~~~~
The command `oomph sweep` cuts a grid of configurations into tasks. It starts an engine, `python -m oomph.engines.ray_engine` or
`python -m oomph.engines.slurm_engine`, writes one JSON object to the engine's standard input, closes it, and reads one JSON object from each
line of the standard output. Messages for a person go to the standard error.

The request:

==============  =====================================================================
`argv`          the command of a worker: it reads the JSON text of one task from its
                standard input, and writes one JSON line for each point
`cwd`           the working directory of a worker
`env`           variables of a worker, by name
`tasks`         JSON texts; a task is named by its index in this list
`folder`        an existing folder, for files of the engine
`host_bytes`    host memory of a task
`cpus`          cores of a task
`address`       of Ray: `auto`, `local`, `ray://HOST:PORT` or `HOST:PORT`
`options`       of Slurm: more options of `sbatch`
==============  =====================================================================

The events, each on one line, in any order of tasks:

* `{"kind": "started", "tasks": 8, "where": "Slurm job 123, 8 tasks"}`
* `{"kind": "done", "task": 3, "lines": ["{…}"], "seconds": 12.3, "worker": "node1"}`: the lines that the worker printed
* `{"kind": "lost", "task": 3, "why": "…"}`: a task without an answer, after all retries
* `{"kind": "end"}`: the last event

The exit status is 0 after `end`, even with lost tasks. Status 2 follows one sentence on the standard error: no cluster can be used, and no
task was started. SIGINT and SIGTERM cancel the running tasks; finished tasks are reported, then `end`. A task that was cancelled in this way
has no event: nothing is known about its points.

A worker inherits the environment of its node, without the variables by which Ray and Slurm describe their own job: a script that finds them
believes that the cluster launched it, and behaves as it never does in a dry run at home.
"""
