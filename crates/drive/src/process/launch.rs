//! Starts the program on the phantom, waits for its end, and leaves no process behind.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{self, Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use ::run::Environment;
use base::events::{RunEvent, tell};
use base::{Error, SetupError, interrupt, signal_mask};
use nix::unistd::{Pid, ResGid, getresgid, setgid};
use trace::run::{Ended, StopCause};
use wire::{file, variable};

use crate::cleanup::reap;
use crate::cleanup::watchdog;
use crate::environment as names;
use crate::guard::descriptors;
use crate::guard::world::World;
use crate::process::background::{self, Background};
use crate::process::live_process::LiveProcess;
use crate::process::stop::stop;
use crate::start_error;

/// A program to start.
pub(crate) struct Start<'a> {
    /// The words of the command line.
    pub(crate) command: &'a [OsString],
    /// Changes to the environment of this process.
    pub(crate) environment: &'a Environment,
    /// The run directory.
    pub(crate) folder: &'a Path,
    /// The longest time that the program may take.
    pub(crate) timeout: Duration,
    pub(crate) stdio: Stdio,
    /// The sentence that the user sees during the run.
    pub(crate) sentence: Option<String>,
    /// The world that the program enters.
    pub(crate) world: &'a World,
}

/// The first of the two signals that glibc keeps for itself: 32 and 33.
const FIRST_INTERNAL_SIGNAL: i32 = 32;

/// The streams of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdio {
    /// Those of this process, the terminal included.
    Passed,
    /// No terminal to read from, and standard error for both outputs: standard output is for the answer.
    Shown,
    /// No terminal to read from, and a file of the run directory for both outputs.
    File,
}

/// An event that ends the wait for a program.
enum Happening {
    Exited(std::io::Result<ExitStatus>),
    Interrupted,
}

/// The time between two updates of the progress line.
const TICK: Duration = Duration::from_millis(200);
/// Runs the program to its end, to the time-out, or to a request to end.
pub(crate) fn run(program: &Start) -> Result<Ended, Error> {
    reap::adopt_orphans();
    let started = Instant::now();
    let child = start(program)?;
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    reap::leave_to_waiter(pid);
    let happenings = watch(child);
    let mut progress = ShownRun::start(program.sentence.as_deref(), program.folder);
    let deadline = started + program.timeout;
    let outcome = wait(&happenings, program.folder, deadline, &mut progress).and_then(|(status, stopped)| {
        let goes_on = status.success() && stopped.is_none();
        let after = if goes_on {
            follow(&happenings, program, pid, deadline, &mut progress)?
        } else {
            After { stopped, ..After::default() }
        };
        Ok((status, after))
    });
    drop(progress);
    reap::end_orphans();
    let (status, After { in_background, stopped }) = outcome?;
    let ended = stopped.map_or_else(Instant::now, |stopped| stopped.at);
    let seconds = ended.duration_since(started).as_secs_f64();
    let stopped_by = stopped.map(|stopped| stopped.cause);
    let timed_out = stopped_by == Some(StopCause::Timeout);
    Ok(Ended { exit_code: status.code(), signal: status.signal(), seconds, timed_out, stopped_by, in_background })
}

/// A program whose listener hears of it, until this value is dropped.
struct ShownRun(LiveProcess);

impl ShownRun {
    /// Without a sentence, a search shows the program among others.
    fn start(sentence: Option<&str>, folder: &Path) -> ShownRun {
        tell(RunEvent::Started(sentence));
        ShownRun(LiveProcess::of(folder))
    }

    fn update(&mut self) {
        tell(RunEvent::GoesOn(&self.0.update()));
    }
}

impl Drop for ShownRun {
    fn drop(&mut self) {
        tell(RunEvent::Ended);
    }
}

/// The program after the end of its first process.
#[derive(Clone, Copy, Debug, Default)]
struct After {
    in_background: bool,
    stopped: Option<Halt>,
}

/// The moment at which oomph asked for the end.
#[derive(Clone, Copy, Debug)]
struct Halt {
    cause: StopCause,
    at: Instant,
}

impl Halt {
    /// Ends all processes of the program.
    fn perform(cause: StopCause, folder: &Path) -> Result<Halt, Error> {
        let halt = Halt { cause, at: Instant::now() };
        stop(folder, cause)?;
        Ok(halt)
    }
}

/// Waits for the processes that carry the program on.
fn follow(
    happenings: &Receiver<Happening>,
    program: &Start,
    first: Pid,
    deadline: Instant,
    progress: &mut ShownRun,
) -> Result<After, Error> {
    let ended = Instant::now();
    let mut after = After::default();
    loop {
        let found = background::find(program.folder, first, ended.elapsed());
        match found.map_err(|source| Error::RunFolder { folder: program.folder.to_owned(), source })? {
            Background::Ended => return Ok(after),
            Background::Running => after.in_background = true,
            Background::Starting => {}
        }
        let cause = match happenings.recv_timeout(TICK) {
            Ok(Happening::Interrupted) => cause(),
            _ if Instant::now() >= deadline => StopCause::Timeout,
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(TICK);
                continue;
            }
            _ => {
                progress.update();
                continue;
            }
        };
        return Ok(After { stopped: Some(Halt::perform(cause, program.folder)?), ..after });
    }
}

/// The cause of an end that the user asks for.
fn cause() -> StopCause {
    interrupt::asked().map_or(StopCause::Interrupt, |request| request.cause())
}

fn start(program: &Start) -> Result<Child, Error> {
    let words = program.world.wrap(program.command);
    let mut command = command(&words)?;
    redirect(&mut command, program)?;
    set_environment(&mut command, program.environment);
    if words != program.command {
        program.world.add_guard(&mut command);
    }
    separate(&mut command);
    spawn(&mut command)
}

/// Names the processes outside the run for the phantom (Note `[Other processes]` in `crates/phantom/src/others.rs`).
pub(crate) fn separate(command: &mut Command) {
    command.env(variable::PROCESSES, format!("{} {}", process::id(), reap::spared()));
}

/// Makes a command of these words.
pub fn command(words: &[OsString]) -> Result<Command, Error> {
    let (program, arguments) = words.split_first().ok_or_else(|| {
        Error::from(SetupError::NoProgram { program: String::new(), source: std::io::ErrorKind::InvalidInput.into() })
    })?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

/// Starts a command in a new process group: Ctrl-C reaches oomph alone, which decides on the signals to the program.
pub(crate) fn spawn(command: &mut Command) -> Result<Child, Error> {
    // The watchdog finds the processes to end by this variable.
    command.env(variable::OWNER, watchdog::owner());
    keep_dispositions(command);
    let child = command.process_group(0).spawn();
    child.map_err(|source| start_error::explain(command.get_program(), source))
}

/// Leaves a program the dispositions of all signals. `posix_spawn(3)` of glibc ignores the signals 32 and 33 in the program (2.31 to 2.40,
/// `sysdeps/unix/sysv/linux/spawni.c`), and the standard library forks instead if it has a group to set: the same group as before.
/// If oomph itself was started so, the program is too: a fork would lose the signal 33, which glibc handles in programs with threads.
pub(crate) fn keep_dispositions(command: &mut Command) {
    if signal_mask::ignores(Pid::this(), FIRST_INTERNAL_SIGNAL) {
        return;
    }
    let Ok(ResGid { real, effective, saved }) = getresgid() else { return };
    // A user namespace may have no number for the group.
    if real == effective && effective == saved && setgid(real).is_ok() {
        command.gid(real.as_raw());
    }
}

/// Lets a command end with oomph, also after a SIGKILL. See Note [Watchdog] in `cleanup/watchdog.rs`.
pub fn tie(command: &mut Command) {
    watchdog::start();
    command.env(variable::OWNER, watchdog::owner());
}

/// No terminal: a program in a separate group would be stopped at its first read from a terminal. Never open for writing.
fn input() -> process::Stdio {
    if io::stdin().is_terminal() {
        process::Stdio::null()
    } else {
        descriptors::open_input().map_or_else(process::Stdio::inherit, process::Stdio::from)
    }
}

/// Sets the program's streams.
fn redirect(command: &mut Command, program: &Start) -> Result<(), Error> {
    let failed = |source| Error::RunFolder { folder: program.folder.to_owned(), source };
    match program.stdio {
        Stdio::Passed => return Ok(()),
        Stdio::Shown => {
            command.stdin(input()).stdout(io::stderr()).stderr(process::Stdio::inherit());
            return Ok(());
        }
        Stdio::File => command.stdin(input()),
    };
    // The ranks of a job run in turn and append to the same file.
    let file = File::options().create(true).append(true).open(program.folder.join(file::OUTPUT)).map_err(failed)?;
    command.stderr(file.try_clone().map_err(failed)?).stdout(file);
    Ok(())
}

/// Changes the environment that a command inherits.
pub fn set_environment(command: &mut Command, environment: &Environment) {
    let (set, removed) = environment.resolve(names::get);
    for name in removed {
        command.env_remove(name);
    }
    command.envs(set);
}

/// Starts a thread that waits for the program, and listens for requests to end.
fn watch(mut child: Child) -> Receiver<Happening> {
    let (sender, receiver) = channel();
    let interrupts = sender.clone();
    // The receiver is gone when the program has ended.
    interrupt::listen(Box::new(move || drop(interrupts.send(Happening::Interrupted))));
    if interrupt::has_come() {
        // The request came while the program was being started.
        let _ = sender.send(Happening::Interrupted);
    }
    thread::spawn(move || {
        // The receiver is gone only if the program was killed and collected.
        let _ = sender.send(Happening::Exited(child.wait()));
    });
    receiver
}

/// Waits for the end. A program whose time is up, or whose end the user asks for, is stopped; returns the cause of that.
fn wait(
    happenings: &Receiver<Happening>,
    folder: &Path,
    deadline: Instant,
    progress: &mut ShownRun,
) -> Result<(ExitStatus, Option<Halt>), Error> {
    loop {
        let cause = match happenings.recv_timeout(TICK.min(deadline.saturating_duration_since(Instant::now()))) {
            Ok(Happening::Exited(status)) => return Ok((status?, None)),
            Ok(Happening::Interrupted) | Err(RecvTimeoutError::Disconnected) => cause(),
            Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => StopCause::Timeout,
            Err(RecvTimeoutError::Timeout) => {
                progress.update();
                continue;
            }
        };
        let halt = Halt::perform(cause, folder)?;
        return Ok((await_end(happenings)?, Some(halt)));
    }
}

/// The status of a killed program.
fn await_end(happenings: &Receiver<Happening>) -> Result<ExitStatus, Error> {
    loop {
        match happenings.recv() {
            Ok(Happening::Exited(status)) => return Ok(status?),
            Ok(Happening::Interrupted) => {}
            Err(_) => return Err(Error::Interrupted),
        }
    }
}
