//! The helper processes that log the figures of a running program to trackers: `python -m oomph.trackers` (Note [Trackers] in
//! `python/oomph/trackers/__init__.py`). No tracker is known here: lines go in, events come out.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use base::TrackerTarget;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Deserialize;

use super::start_thread;
use crate::{entry_point, environment, unpack};

/// The time for a helper to say that its library is there: the start of a Python on a slow disk.
const START: Duration = Duration::from_secs(5);
/// The time for a helper to end by itself, after its own patience.
const END: Duration = Duration::from_secs(1);

/// The answer of a helper before the program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The library is there.
    Ready,
    /// The library is missing: the package to install, and the Python for it.
    Missing {
        /// The package.
        package: String,
        /// The Python.
        python: String,
    },
    /// There is no helper: the reason.
    Failed(String),
}

/// The account of a helper at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct TrackerEnd {
    /// The run, in words; `None` if no figure came.
    #[serde(rename = "where")]
    pub place: Option<String>,
    /// The logged lines.
    pub logged: u64,
    /// The lines that did not reach the tracker.
    pub dropped: u64,
    /// The first error of the library.
    pub why: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum HelperEvent {
    Ready,
    Missing { package: String },
    Closed(TrackerEnd),
}

/// A running helper.
pub struct TrackerHelper {
    /// The tracker.
    pub target: TrackerTarget,
    child: Child,
    events: Receiver<HelperEvent>,
    errors: Receiver<String>,
    python: OsString,
    patience: Duration,
}

/// The lines for a helper. A helper that does not read loses lines, and the program waits for nobody.
pub struct TrackerPipe {
    pipe: File,
    is_cut: bool,
}

impl TrackerHelper {
    /// Starts a helper with the Python of `command`. After the program's end it has some time, `patience`, for the rest of the lines.
    pub fn start(
        target: TrackerTarget,
        command: &[OsString],
        named: Option<&Path>,
        patience: Duration,
    ) -> Result<(TrackerHelper, TrackerPipe), String> {
        let python = entry_point::find_python(command, named);
        let mut child =
            spawn(&target, &python, patience).map_err(|problem| format!("{}: {problem}", python.display()))?;
        let missing = || "the helper has no pipe".to_owned();
        let pipe = TrackerPipe::new(child.stdin.take().ok_or_else(missing)?).map_err(|problem| problem.to_string())?;
        let (send_event, events) = channel();
        let (send_error, errors) = channel();
        let output = child.stdout.take().ok_or_else(missing)?;
        let messages = child.stderr.take().ok_or_else(missing)?;
        let started = start_thread(move || pass_events(output, &send_event))
            .and_then(|_| start_thread(move || pass_lines(messages, &send_error)));
        started.map_err(|problem| problem.to_string())?;
        Ok((TrackerHelper { target, child, events, errors, python: python.into(), patience }, pipe))
    }

    /// Waits for the helper's first word, for some seconds at most.
    pub fn wait_until_ready(&mut self) -> Readiness {
        match self.events.recv_timeout(START) {
            Ok(HelperEvent::Ready | HelperEvent::Closed(_)) => Readiness::Ready,
            Ok(HelperEvent::Missing { package }) => {
                Readiness::Missing { package, python: self.python.to_string_lossy().into_owned() }
            }
            Err(_) => Readiness::Failed(self.describe_silence()),
        }
    }

    /// Waits for the end of the helper, whose lines ended at `since`, as long as its patience allows. An error is the reason why there is no account.
    pub fn finish(mut self, since: Instant) -> Result<TrackerEnd, String> {
        let left = (self.patience + END).saturating_sub(since.elapsed());
        let found = match self.events.recv_timeout(left) {
            Ok(HelperEvent::Closed(end)) => Ok(end),
            Ok(HelperEvent::Ready | HelperEvent::Missing { .. }) => Ok(TrackerEnd::default()),
            Err(_) => Err(self.describe_silence()),
        };
        self.kill();
        found
    }

    /// Ends the helper and its own helpers; one that has ended needs no signal.
    fn kill(&mut self) {
        let group = Pid::from_raw(self.child.id().cast_signed());
        let _: nix::Result<()> = killpg(group, Signal::SIGKILL);
        let _: io::Result<_> = self.child.wait();
    }

    /// The last line of a helper that has failed, or the words for one that hangs.
    fn describe_silence(&mut self) -> String {
        match self.child.try_wait() {
            Ok(Some(status)) => self.last_error().unwrap_or_else(|| format!("its helper ended with {status}")),
            Ok(None) | Err(_) => "it did not answer in time".to_owned(),
        }
    }

    /// The last line of standard error: of a traceback the error. A process that the library left behind may hold the pipe open.
    fn last_error(&self) -> Option<String> {
        const PAUSE: Duration = Duration::from_millis(200);
        std::iter::from_fn(|| self.errors.recv_timeout(PAUSE).ok()).filter(|line| !line.trim().is_empty()).last()
    }
}

impl TrackerPipe {
    fn new(pipe: ChildStdin) -> io::Result<TrackerPipe> {
        let pipe = File::from(OwnedFd::from(pipe));
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(TrackerPipe { pipe, is_cut: false })
    }

    /// Writes whole lines, unless the pipe is full or closed. A cut line is ended by the next text.
    pub(super) fn write(&mut self, text: &str) {
        let start = if self.is_cut { "\n" } else { "" };
        self.is_cut = self.pipe.write_all(format!("{start}{text}").as_bytes()).is_err();
    }
}

fn spawn(target: &TrackerTarget, python: &Path, patience: Duration) -> Result<Child, Box<dyn std::error::Error>> {
    let unpacked = unpack::unpack()?;
    let root = unpacked.inject_dir.ancestors().nth(3).unwrap_or(&unpacked.inject_dir).to_owned();
    let folder = std::env::current_dir()?;
    let mut paths = vec![root.clone()];
    paths.extend(environment::get("PYTHONPATH").iter().flat_map(std::env::split_paths));
    let child = Command::new(python)
        .args(["-m", "oomph.trackers", &target.name, &target.place])
        .arg(folder)
        .arg(patience.as_secs().to_string())
        .env("PYTHONPATH", std::env::join_paths(paths)?)
        // `python -m` puts the current folder on the import path: a user's folder `wandb` must not take the library's place.
        .current_dir(root)
        // The keyboard's signals are the program's.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    Ok(child)
}

fn pass_events(output: impl io::Read, events: &Sender<HelperEvent>) {
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    // A line that is no event comes from a library's child.
    for event in lines.filter_map(|line| serde_json::from_str(&line).ok()) {
        // Nobody waits for an event after the end.
        let _: Result<(), _> = events.send(event);
    }
}

fn pass_lines(messages: impl io::Read, lines: &Sender<String>) {
    for line in BufReader::new(messages).lines().map_while(Result::ok) {
        let _: Result<(), _> = lines.send(line);
    }
}
