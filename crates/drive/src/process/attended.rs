//! A program in the foreground, with the terminal. A signal to oomph goes to the program.

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

pub use nix::sys::signal::Signal;
use nix::sys::signal::{SigSet, SigmaskHow, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use nix::unistd::Pid;
use trace::run::Ended;

use crate::error::{Error, SetupError};

/// The signals for the program. Further signals end or stop both processes, or come from the kernel.
const PASSED: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2];

/// A signal that is for oomph itself: the program does not see it.
pub struct OwnSignal {
    /// The signal.
    pub signal: Signal,
    /// The answer, which must not take long.
    pub answer: Box<dyn Fn() + Send>,
}

/// Runs the program to the end, in the process group of oomph: the keyboard reaches both processes.
pub fn attend(command: &mut Command, own: Option<OwnSignal>) -> Result<Ended, Error> {
    let signals: SigSet = PASSED.into_iter().collect();
    // A signal waits in the descriptor instead of ending oomph.
    let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(std::io::Error::from)?;
    // Made before the program starts: a failure leaves nothing behind.
    let descriptor = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC).map_err(std::io::Error::from)?;
    let started = Instant::now();
    let child = spawn(command, before);
    let mut child = child.map_err(|source| {
        Error::from(SetupError::NoProgram { program: command.get_program().to_string_lossy().into_owned(), source })
    })?;
    let has_ended = Arc::new(AtomicBool::new(false));
    let pid = Pid::from_raw(child.id().cast_signed());
    pass_on(descriptor, pid, Arc::clone(&has_ended), own);
    let status = child.wait()?;
    has_ended.store(true, Ordering::SeqCst);
    let seconds = started.elapsed().as_secs_f64();
    Ok(Ended { exit_code: status.code(), signal: status.signal(), seconds, timed_out: false, in_background: false })
}

/// Starts the program from a thread with the mask of `signals`, because a program inherits the mask of the starting thread.
fn spawn(command: &mut Command, signals: SigSet) -> std::io::Result<Child> {
    let starting = || {
        signals.thread_set_mask()?;
        command.spawn()
    };
    let joined = thread::scope(|scope| scope.spawn(starting).join());
    joined.unwrap_or_else(|_| Err(ErrorKind::Other.into()))
}

/// Starts a thread for signals, which passes each on while the program runs.
fn pass_on(descriptor: SignalFd, program: Pid, has_ended: Arc<AtomicBool>, own: Option<OwnSignal>) {
    thread::spawn(move || {
        while let Ok(Some(info)) = descriptor.read_signal() {
            let signal = i32::try_from(info.ssi_signo).ok().and_then(|number| Signal::try_from(number).ok());
            if let Some(signal) = signal
                && !is_from_keyboard(&info)
                && !has_ended.load(Ordering::SeqCst)
            {
                match own.as_ref().filter(|own| own.signal == signal) {
                    Some(own) => (own.answer)(),
                    // The program may just have ended.
                    None => drop(kill(program, signal)),
                }
            }
        }
    });
}

/// The kernel has sent such a signal to the program as well.
fn is_from_keyboard(info: &siginfo) -> bool {
    const SI_KERNEL: i32 = 0x80;
    info.ssi_code == SI_KERNEL
}
