//! Programs in the foreground, with the terminal, one after the other. A signal to oomph goes to the running program.

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use base::{Error, signal_mask};
pub use nix::sys::signal::Signal;
use nix::sys::signal::{SigSet, SigmaskHow, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use nix::unistd::Pid;
use trace::run::Ended;

use crate::guard::descriptors;
use crate::process::launch;
use crate::start_error;

/// The signals for the program. Further signals end or stop both processes, or come from the kernel.
const PASSED: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2];
/// Of those, the signals that ask for the end.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP];

/// A signal that is for oomph itself: the program does not see it.
pub struct OwnSignal {
    /// The signal.
    pub signal: Signal,
    /// The answer, which must not take long.
    pub answer: Box<dyn Fn() + Send>,
}

/// Starts programs, and has the signals to oomph from its creation on.
pub struct Attendant {
    /// The mask of signals before, for the programs.
    inherited: SigSet,
    /// Signals that arrive while a thread has that mask: without a handler, each ends oomph.
    caught: CaughtSignals,
    state: Arc<Mutex<Attended>>,
}

/// The running program, and the wish of the user.
#[derive(Default)]
struct Attended {
    running: Option<Pid>,
    own: Option<OwnSignal>,
    /// The first signal that asked for the end.
    asked_to_end: Option<Signal>,
}

impl Attended {
    fn end_program(&mut self) {
        (self.running, self.own) = (None, None);
    }
}

impl Attendant {
    /// Takes over the signals of this process. Made before any program starts: a failure leaves nothing behind.
    pub fn new() -> Result<Attendant, Error> {
        let signals: SigSet = PASSED.into_iter().collect();
        let caught = CaughtSignals::catch()?;
        // A signal waits in the descriptor instead of ending oomph.
        let inherited = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(std::io::Error::from)?;
        let descriptor = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC).map_err(std::io::Error::from)?;
        let state = Arc::default();
        pass_on(descriptor, Arc::clone(&state));
        Ok(Attendant { inherited, caught, state })
    }

    /// Runs a program to the end, in the process group of oomph: the keyboard reaches both processes.
    pub fn attend(&self, command: &mut Command, own: Option<OwnSignal>) -> Result<Ended, Error> {
        let started = Instant::now();
        lock(&self.state).own = own;
        launch::keep_dispositions(command);
        let mut child = self.start(command).map_err(|source| start_error::explain(command.get_program(), source))?;
        descriptors::close_passed();
        let status = child.wait();
        lock(&self.state).end_program();
        let (status, seconds) = (status?, started.elapsed().as_secs_f64());
        Ok(Ended { exit_code: status.code(), signal: status.signal(), seconds, ..Ended::default() })
    }

    /// The number of the signal that asked oomph to end, if one came: no further program is wanted.
    pub fn asked_to_end(&self) -> Option<i32> {
        lock(&self.state).asked_to_end.map(|signal| signal as i32)
    }

    /// Starts a program. A signal that comes meanwhile waits until the program is known.
    fn start(&self, command: &mut Command) -> std::io::Result<Child> {
        let mut state = lock(&self.state);
        let child = spawn(command, self.inherited);
        state.running = child.as_ref().ok().map(|child| Pid::from_raw(child.id().cast_signed()));
        // A signal that came before the program was there.
        if let (Some(program), Some(signal)) = (state.running, state.asked_to_end) {
            let _ = kill(program, signal);
        }
        drop(state);
        // Also one of the keyboard: the kernel may have sent the signal before the program existed.
        self.caught.take_all().for_each(|signal| take(&self.state, signal, false));
        child
    }
}

/// Handlers for the signals of [`PASSED`]; each notes the arrival of its signal. Programs do not inherit handlers.
struct CaughtSignals(Vec<(Signal, Arc<AtomicBool>)>);

impl CaughtSignals {
    /// Sets the handlers. A signal that is ignored (`nohup`) remains so, here and in the programs.
    fn catch() -> std::io::Result<CaughtSignals> {
        let here = Pid::this();
        let of = |signal| {
            let came = Arc::default();
            signal_hook::flag::register(signal as i32, Arc::clone(&came)).map(|_| (signal, came))
        };
        PASSED
            .into_iter()
            .filter(|signal| !signal_mask::ignores(here, *signal as i32))
            .map(of)
            .collect::<Result<_, _>>()
            .map(CaughtSignals)
    }

    /// Takes the signals that came since the last call.
    fn take_all(&self) -> impl Iterator<Item = Signal> {
        self.0.iter().filter(|(_, came)| came.swap(false, Ordering::SeqCst)).map(|(signal, _)| *signal)
    }
}

fn lock(state: &Mutex<Attended>) -> std::sync::MutexGuard<'_, Attended> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Starts a thread for signals, which passes each on while a program runs.
fn pass_on(descriptor: SignalFd, state: Arc<Mutex<Attended>>) {
    thread::spawn(move || {
        while let Ok(Some(info)) = descriptor.read_signal() {
            let signal = i32::try_from(info.ssi_signo).ok().and_then(|number| Signal::try_from(number).ok());
            if let Some(signal) = signal {
                take(&state, signal, is_from_keyboard(&info));
            }
        }
    });
}

/// Remembers a signal, and passes it on if the kernel has not sent it to the program as well.
fn take(state: &Mutex<Attended>, signal: Signal, is_from_keyboard: bool) {
    let mut state = lock(state);
    if let Some(own) = state.own.as_ref().filter(|own| own.signal == signal) {
        (own.answer)();
        return;
    }
    if ENDING.contains(&signal) {
        state.asked_to_end.get_or_insert(signal);
    }
    if let Some(program) = state.running.filter(|_| !is_from_keyboard) {
        // The program may just have ended.
        let _ = kill(program, signal);
    }
}

/// The kernel sends such a signal to the program as well.
fn is_from_keyboard(info: &siginfo) -> bool {
    const SI_KERNEL: i32 = 0x80;
    info.ssi_code == SI_KERNEL
}
