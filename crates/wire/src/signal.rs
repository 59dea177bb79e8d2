//! Signals from oomph to the processes of a dry run. Their numbers are those of Linux on every architecture with CUDA.
//!
//! # Note [Stop]
//!
//! A program under a dry run is asked to end by a signal of its own, and not by SIGINT or SIGTERM: programs catch these to save a
//! checkpoint, to finish an epoch, or by a bare `except`. The agent answers with the records of that moment (`process/finish.py`) and
//! ends the process. A process without the agent's handler gets SIGTERM.
//!
//! A process gets one signal at a time, and the request again until it answers: of two pending signals the kernel gives one to any thread
//! (`complete_signal` in kernel/signal.c), CPython before 3.12 handles a signal late if not its main thread takes it (bpo-42296), and
//! `faulthandler` writes the stack of the thread that takes it.
//!
//! An interpreter that is busy in a C function runs no handler of
//! Python's: the process is killed, and its peak, step, phase and line are those of the phantom's journal and of Note [Sight] in
//! `python/oomph/agent/process/sight.py`.

/// SIGSTKFLT, which no kernel sends and no program is known to use: the agent writes its records, and ends the process.
pub const STOP: i32 = 16;

/// SIGURG: the process writes its Python stack into a file of the run directory. A process without a handler ignores the signal.
pub const STACK: i32 = 23;
