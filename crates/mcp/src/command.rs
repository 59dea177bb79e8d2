//! A command of oomph as a child process, in a process group of its own: guards and cleanup are those of the command.
//!
//! A cancelled command gets SIGINT, and after a moment SIGTERM: the second signal ends it at once, with its programs and folders (`interrupt.rs` of
//! `crates/drive`). SIGKILL comes last; the watchdog of the command cleans up then.

use std::path::PathBuf;
use std::process::{self, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, Command};
use tokio::time::timeout;

use crate::answers::end_of;
use crate::error::CallError;
use crate::inputs::CommandWords;
use crate::lines::{LineSplitter, StreamLine};
use crate::progress::{CallProgress, HEARTBEAT, find_news};

/// The most bytes of an answer; a whole report of a large job has some.
const MOST_ANSWER_BYTES: u64 = 64 << 20;
const MOST_LINE_BYTES: usize = 4 << 10;
/// The end of standard error that is kept, for a command that ends without an answer.
const SAID_BYTES: usize = 2 << 10;
/// The signals that end a command, and the time that each has. The command takes two signals within 300 ms for one.
const END: [(Signal, Duration); 3] = [
    (Signal::SIGINT, Duration::from_millis(400)),
    (Signal::SIGTERM, Duration::from_secs(3)),
    (Signal::SIGKILL, Duration::from_secs(3)),
];

/// Starts commands of oomph.
#[derive(Clone, Debug)]
pub(crate) struct Launcher {
    /// The binary.
    pub(crate) program: PathBuf,
    /// The working directory of each command.
    pub(crate) folder: PathBuf,
    /// Ties a command to the life of this process, and sets its variables.
    pub(crate) prepare: fn(&mut process::Command),
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct EndedCommand {
    /// Standard output.
    pub(crate) answer: String,
    /// The end of standard error, without lines of progress.
    pub(crate) said: String,
    /// The exit status.
    pub(crate) status: ExitStatus,
}

impl Launcher {
    /// Runs a command to its end, or until `stop` is ready.
    pub(crate) async fn run(
        &self,
        line: CommandWords,
        progress: &mut CallProgress,
        stop: impl Future<Output = ()>,
    ) -> Result<EndedCommand, CallError> {
        let name = line.words.first().map_or_else(String::new, |word| word.to_string_lossy().into_owned());
        let failed = |source| CallError::NotStarted { command: name.clone(), source };
        let mut child = self.start(&line).map_err(failed)?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let work = async {
            let (input, output, errors) = streams;
            tokio::join!(feed(input, line.input), read_answer(output), read_errors(errors, progress))
        };
        // The streams are closed in either case: a command that still writes does not block.
        let (answer, said) = tokio::select! {
            ((), answer, said) = work => (answer, said),
            () = stop => {
                end(&mut child).await;
                return Err(CallError::Cancelled);
            }
        };
        let status = child.wait().await.map_err(failed)?;
        Ok(EndedCommand { answer, said, status })
    }

    fn start(&self, line: &CommandWords) -> std::io::Result<Child> {
        let mut command = process::Command::new(&self.program);
        command.args(&line.words).current_dir(&self.folder);
        (self.prepare)(&mut command);
        let input = if line.input.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut command = Command::from(command);
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true).spawn()
    }
}

/// Ends the process group of a command.
async fn end(child: &mut Child) {
    for (signal, patience) in END {
        // Without an id the command has ended and was collected.
        let Some(group) = child.id().and_then(|id| i32::try_from(id).ok()) else { return };
        let _: nix::Result<()> = killpg(Pid::from_raw(group), signal);
        if timeout(patience, child.wait()).await.is_ok() {
            return;
        }
    }
}

/// Writes the input. A command that ended early reads no more.
async fn feed(input: Option<ChildStdin>, text: Option<String>) {
    if let (Some(mut input), Some(text)) = (input, text) {
        let _: std::io::Result<()> = input.write_all(text.as_bytes()).await;
        let _: std::io::Result<()> = input.shutdown().await;
    }
}

/// Reads the answer. One that cannot be read, or is too long, is no JSON in the end.
async fn read_answer(output: Option<impl AsyncRead + Unpin>) -> String {
    let mut answer = Vec::new();
    if let Some(output) = output {
        let _: std::io::Result<usize> = output.take(MOST_ANSWER_BYTES).read_to_end(&mut answer).await;
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// Passes progress on, and returns the end of the rest.
async fn read_errors(errors: Option<ChildStderr>, progress: &mut CallProgress) -> String {
    let mut said = String::new();
    let Some(mut errors) = errors else { return said };
    let mut splitter = LineSplitter::new(MOST_LINE_BYTES);
    let mut chunk = vec![0; MOST_LINE_BYTES];
    loop {
        let Ok(read) = timeout(HEARTBEAT, errors.read(&mut chunk)).await else {
            progress.repeat().await;
            continue;
        };
        let Some(bytes) = read.ok().filter(|count| *count > 0).and_then(|count| chunk.get(..count)) else {
            return said;
        };
        for line in splitter.push(bytes) {
            let StreamLine::Whole(line) = line else { continue };
            let line = String::from_utf8_lossy(&line);
            match find_news(&line) {
                Some(news) => progress.tell(news).await,
                None => said = keep_end(&said, &line),
            }
        }
    }
}

fn keep_end(said: &str, line: &str) -> String {
    end_of(&format!("{said}\n{line}"), SAID_BYTES).to_owned()
}
