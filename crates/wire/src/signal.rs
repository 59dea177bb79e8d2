//! Signals from oomph to the processes of a dry run. Their numbers are those of Linux on every architecture with CUDA.

// Note [Stop]
// ~~~~~~~~~~~
// The request to end a program under a dry run is neither SIGINT nor SIGTERM: programs catch both, to save a
// checkpoint, to finish an epoch, or in a bare `except`. The agent answers with the records of that moment (`process/finish.py`) and
// ends the process. A process without the agent's handler gets SIGTERM.
//
// One signal is sent at a time, and the request repeatedly until the answer: the kernel passes the second of two pending signals to any thread
// (`complete_signal` in kernel/signal.c), CPython before 3.12 handles late a signal in another thread than the main one (bpo-42296), and
// `faulthandler` writes the stack of the receiving thread.
//
// An interpreter in a C function runs no handler of Python's: the process is killed, and its peak, step, phase and line are those of the phantom's
// journal and of Note [Sight] in `python/oomph/agent/process/sight.py`.

/// SIGSTKFLT, unused by kernels and by known programs: the agent writes its records, and ends the process.
pub const STOP: i32 = 16;

/// SIGURG: the process writes its Python stack into a file of the run directory. A process without a handler ignores the signal.
pub const STACK: i32 = 23;
