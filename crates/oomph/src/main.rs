//! The `oomph` command.

use std::process::ExitCode;

#[cfg(not(windows))]
fn main() -> ExitCode {
    oomph::run(std::env::args_os())
}

/// Runs in a thread: the main thread of Windows has a stack of 1 MiB, too small for the parser of Python at its limits of depth.
#[cfg(windows)]
fn main() -> ExitCode {
    const STACK_BYTES: usize = 16 << 20;
    let command = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| oomph::run(std::env::args_os()));
    // A panic has printed its message.
    command.map_or(ExitCode::FAILURE, |command| command.join().unwrap_or(ExitCode::FAILURE))
}
