//! Starts the program on the phantom, waits for it, and leaves nothing of it behind.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::IsTerminal;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use report::Change;
use trace::Bytes;
use trace::run::{Ended, Job};

use crate::cache::{LIBRARY, Unpacked};
use crate::environment as names;
use crate::error::Error;
use crate::progress::Progress;
use crate::{interrupt, reap, rundir};

/// What is started, and on what.
pub(crate) struct Launch<'a> {
    /// The program and its arguments.
    pub(crate) command: &'a [OsString],
    /// The phantom and the agent.
    pub(crate) unpacked: &'a Unpacked,
    /// The run directory.
    pub(crate) folder: &'a Path,
    /// The profile, as the phantom reads it.
    pub(crate) device: &'a str,
    /// How many devices.
    pub(crate) devices: u32,
    /// Whether requests never fail for want of memory.
    pub(crate) unlimited: bool,
    /// Optimizer steps after which the agent stops the program.
    pub(crate) steps: u32,
    /// What value-dependent shapes are assumed to select.
    pub(crate) fraction: f64,
    /// What is changed of the program while it runs.
    pub(crate) changes: &'a [Change],
    /// The one rank that runs, and its job; `None` where a launcher's ranks are all there.
    pub(crate) rank: Option<(u32, &'a Job)>,
    /// What others are said to hold of each device.
    pub(crate) others: Bytes,
    /// When to stop waiting.
    pub(crate) timeout: Duration,
    /// The allocator's settings in place of those of the environment; an empty text is the defaults.
    pub(crate) conf: Option<&'a str>,
    /// What is shown of it meanwhile.
    pub(crate) shown: Shown,
    /// Whether it is noted which files the program looks at.
    pub(crate) notes_files: bool,
}

/// What is shown of a program while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// What it prints.
    Output,
    /// How far it has come.
    Progress,
    /// Nothing: whoever runs it shows something else.
    Nothing,
}

/// What the waiting thread hears.
enum Happening {
    Exited(std::io::Result<ExitStatus>),
    Interrupted,
}

/// How often progress is looked at.
const TICK: Duration = Duration::from_millis(200);
/// How long a program may take to write down what it knows before it is killed, where somebody waits at the keyboard.
const GRACE_AT_INTERRUPT: Duration = Duration::from_secs(10);
/// The same where its time was up: a loop of millions of allocations makes a large snapshot.
const GRACE_AT_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs the program to its end, to the time-out, or to Ctrl-C.
pub(crate) fn run(launch: &Launch, what: &str) -> Result<Ended, Error> {
    reap::adopt_orphans();
    let interrupts = interrupts()?;
    let started = Instant::now();
    let child = start(launch)?;
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    let happenings = watch(child, interrupts);
    let progress = (launch.shown == Shown::Progress).then(|| Progress::start(what, launch.folder));
    let outcome = wait(&happenings, pid, launch.timeout, progress.as_ref());
    reap::end_orphans();
    let (status, timed_out) = outcome?;
    Ok(Ended { exit_code: status.code(), signal: status.signal(), seconds: started.elapsed().as_secs_f64(), timed_out })
}

/// Ctrl-C is noted from now on.
pub(crate) fn watch_for_interrupts() -> Result<(), Error> {
    interrupts().map(|_| ())
}

/// The channel on which Ctrl-C arrives; its handler can be set only once in a process.
fn interrupts() -> Result<&'static std::sync::Mutex<Option<Sender<Happening>>>, Error> {
    static LISTENER: OnceLock<std::sync::Mutex<Option<Sender<Happening>>>> = OnceLock::new();
    if let Some(listener) = LISTENER.get() {
        return Ok(listener);
    }
    let listener = LISTENER.get_or_init(Default::default);
    ctrlc::set_handler(move || {
        interrupt::note();
        if let Ok(listener) = listener.lock()
            && let Some(sender) = listener.as_ref()
        {
            // The receiver is gone only when the program has ended already.
            let _ = sender.send(Happening::Interrupted);
        }
    })?;
    Ok(listener)
}

fn start(launch: &Launch) -> Result<Child, Error> {
    let (program, arguments) = launch
        .command
        .split_first()
        .ok_or_else(|| Error::NoProgram { program: String::new(), source: std::io::ErrorKind::InvalidInput.into() })?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(input());
    redirect(&mut command, launch)?;
    set_environment(&mut command, launch);
    set_group(&mut command);
    command.spawn().map_err(|source| Error::NoProgram { program: program.to_string_lossy().into_owned(), source })
}

/// A group of its own: Ctrl-C reaches us, and we decide what the program hears.
pub(crate) fn set_group(command: &mut Command) {
    command.process_group(0);
}

/// A program in a group of its own would be stopped when it reads from the terminal.
fn input() -> Stdio {
    if std::io::stdin().is_terminal() { Stdio::null() } else { Stdio::inherit() }
}

/// The program's output goes to a file, or to our standard error: standard output is for the answer.
fn redirect(command: &mut Command, launch: &Launch) -> Result<(), Error> {
    let failed = |source| Error::RunFolder { folder: launch.folder.to_owned(), source };
    if launch.shown == Shown::Output {
        command.stdout(std::io::stderr()).stderr(Stdio::inherit());
        return Ok(());
    }
    // The ranks of a job that run one after the other write behind each other.
    let file = File::options().create(true).append(true).open(launch.folder.join(rundir::OUTPUT)).map_err(failed)?;
    command.stderr(file.try_clone().map_err(failed)?).stdout(file);
    Ok(())
}

/// Everything a recorded program is told.
fn set_environment(command: &mut Command, launch: &Launch) {
    set_phantom(command, launch.unpacked, launch.device, launch.devices);
    command
        .env(names::RUN_DIR, launch.folder)
        .env(names::STEPS, launch.steps.to_string())
        .env(names::FRACTION, launch.fraction.to_string())
        .env(names::PYTHONPATH, before(names::PYTHONPATH, launch.unpacked.inject_dir.as_os_str()));
    if launch.unlimited {
        command.env(names::UNLIMITED, "1");
    }
    if launch.others > Bytes::ZERO {
        command.env(names::OTHERS, launch.others.0.to_string());
    }
    if launch.notes_files {
        command.env(names::FILES, launch.folder.join(rundir::FILES));
    }
    let changes = Changes::of(launch.changes);
    if let Some(json) = &changes.json {
        command.env(names::REMEDIES, json);
    }
    set_place(command, launch.rank);
    if let Some(conf) = launch.conf.or(changes.conf) {
        command.env_remove(names::ALLOC_CONF).env(names::CUDA_ALLOC_CONF, conf);
    }
}

/// The change that is none of the program's but of PyTorch's environment.
const SETTINGS: &str = "allocator-settings";

/// Changes as the program's process is told of them.
pub(crate) struct Changes<'a> {
    /// The allocator's settings.
    pub(crate) conf: Option<&'a str>,
    /// Those that the agent makes, as it reads them; `None` where there are none.
    pub(crate) json: Option<String>,
}

impl Changes<'_> {
    /// Takes apart what the environment and what the agent is for.
    pub(crate) fn of(changes: &[Change]) -> Changes<'_> {
        let (settings, agents): (Vec<&Change>, Vec<&Change>) =
            changes.iter().partition(|change| change.remedy == SETTINGS);
        let conf = settings.iter().find_map(|change| change.settings.get("conf")?.as_str());
        // Names and JSON values cannot fail to be written.
        let json = (!agents.is_empty()).then(|| serde_json::to_string(&agents).unwrap_or_default());
        Changes { conf, json }
    }
}

/// Tells the agent which rank to be, and nobody of a place that oomph itself has.
fn set_place(command: &mut Command, rank: Option<(u32, &Job)>) {
    for name in [names::RANK, names::WORLD_SIZE, names::LOCAL_WORLD_SIZE] {
        command.env_remove(name);
    }
    let Some((rank, job)) = rank else { return };
    for name in names::LAUNCHERS {
        command.env_remove(name);
    }
    command
        .env(names::RANK, rank.to_string())
        .env(names::WORLD_SIZE, job.world_size.to_string())
        .env(names::LOCAL_WORLD_SIZE, job.local_world_size.to_string());
}

/// Puts the phantom in front of a command.
pub(crate) fn set_phantom(command: &mut Command, unpacked: &Unpacked, device: &str, devices: u32) {
    let library_dir = &unpacked.library_dir;
    command
        .env(names::DEVICE, device)
        .env(names::DEVICES, devices.to_string())
        .env(names::TRITON_LIBCUDA_PATH, library_dir)
        .env(names::LD_PRELOAD, before(names::LD_PRELOAD, OsStr::new(LIBRARY)))
        .env(names::LD_LIBRARY_PATH, before(names::LD_LIBRARY_PATH, library_dir.as_os_str()))
        .env_remove(names::UNLIMITED)
        .env_remove(names::OTHERS)
        .env_remove(names::RUN_DIR)
        .env_remove(names::REMEDIES)
        .env_remove(names::HISTORY)
        .env_remove(names::WORK)
        .env_remove(names::SERVE)
        .env_remove(names::FILES)
        .env_remove(names::CUDA_VISIBLE_DEVICES);
}

/// `first`, and after a colon what the variable holds already.
pub(crate) fn before(variable: &str, first: &OsStr) -> OsString {
    let mut list = first.to_owned();
    if let Some(rest) = names::get(variable) {
        list.push(":");
        list.push(rest);
    }
    list
}

fn watch(mut child: Child, interrupts: &std::sync::Mutex<Option<Sender<Happening>>>) -> Receiver<Happening> {
    let (sender, receiver) = channel();
    if let Ok(mut listener) = interrupts.lock() {
        *listener = Some(sender.clone());
    }
    thread::spawn(move || {
        // Nobody listens any more only when the program was killed and collected.
        let _ = sender.send(Happening::Exited(child.wait()));
    });
    receiver
}

/// Waits for the end; a program whose time is up, or that is interrupted, is asked to end, and then made to.
fn wait(
    happenings: &Receiver<Happening>,
    pid: Pid,
    timeout: Duration,
    progress: Option<&Progress>,
) -> Result<(ExitStatus, bool), Error> {
    let deadline = Instant::now() + timeout;
    loop {
        match happenings.recv_timeout(TICK.min(deadline.saturating_duration_since(Instant::now()))) {
            Ok(Happening::Exited(status)) => return Ok((status?, false)),
            Ok(Happening::Interrupted) | Err(RecvTimeoutError::Disconnected) => {
                stop(happenings, pid, Signal::SIGINT, GRACE_AT_INTERRUPT)?;
                return Err(Error::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                return Ok((stop(happenings, pid, Signal::SIGTERM, GRACE_AT_TIMEOUT)?, true));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some(progress) = progress {
                    progress.update();
                }
            }
        }
    }
}

/// Asks the program to end; a second Ctrl-C, or no answer in `grace`, kills it.
fn stop(happenings: &Receiver<Happening>, pid: Pid, request: Signal, grace: Duration) -> Result<ExitStatus, Error> {
    reap::signal_tree(pid, request);
    match happenings.recv_timeout(grace) {
        Ok(Happening::Exited(status)) => return Ok(status?),
        Ok(Happening::Interrupted) | Err(_) => reap::signal_tree(pid, Signal::SIGKILL),
    }
    loop {
        match happenings.recv() {
            Ok(Happening::Exited(status)) => return Ok(status?),
            Ok(Happening::Interrupted) => {}
            Err(_) => return Err(Error::Interrupted),
        }
    }
}
