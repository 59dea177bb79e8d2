//! Engines that do pieces of work on other machines: `python -m oomph.engines.NAME`, which knows Ray or Slurm (Note [Engines] in
//! `python/oomph/engines/__init__.py`). No scheduler is here: a request goes in, events come out.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use base::{Error, interrupt};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::{environment, python, unpack};

/// The work for an engine.
#[derive(Debug, Serialize)]
pub struct EngineRequest {
    /// The command that does a piece: the piece is its standard input, its answer lines are its standard output.
    pub argv: Vec<String>,
    /// The folder to do it in.
    pub cwd: PathBuf,
    /// Variables to set.
    pub env: BTreeMap<String, String>,
    /// The pieces.
    pub tasks: Vec<String>,
    /// The folder for the engine's own files.
    pub folder: PathBuf,
    /// The address of the cluster; empty for Slurm.
    pub address: String,
    /// The host memory of a piece.
    pub host_bytes: u64,
    /// The cores of a piece.
    pub cpus: u32,
    /// Options for the engine's own command.
    pub options: Vec<String>,
}

/// An event of an engine.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum EngineEvent {
    /// The pieces were accepted.
    Started {
        /// The cluster, in words.
        #[serde(rename = "where")]
        place: String,
    },
    /// A piece is done.
    Done {
        /// The index.
        task: usize,
        /// The lines of its answer.
        lines: Vec<String>,
    },
    /// A piece has no answer.
    Lost {
        /// The index.
        task: usize,
        /// The reason.
        why: String,
    },
    /// All pieces are done or lost.
    End,
}

/// Does the work by an engine; `named` is the Python to take. Returns the engine's last message if it failed.
pub fn run(
    name: &str,
    named: Option<&Path>,
    mut request: EngineRequest,
    hear: &mut dyn FnMut(EngineEvent),
) -> Result<Option<String>, Error> {
    let unpacked = unpack::unpack()?;
    let root = unpacked.inject_dir.ancestors().nth(3).unwrap_or(&unpacked.inject_dir).to_owned();
    let interpreter = python::choose(named);
    let folder = request.folder.clone();
    let failed = |source| Error::RunFolder { folder: folder.clone(), source };
    let mut paths = vec![root];
    paths.extend(environment::get("PYTHONPATH").iter().flat_map(std::env::split_paths));
    let paths: OsString = std::env::join_paths(paths).unwrap_or_default();
    // A worker of Slurm starts as a module of this package, too.
    request.env.insert("PYTHONPATH".to_owned(), paths.to_string_lossy().into_owned());
    let mut child = Command::new(interpreter)
        .args(["-m", &format!("oomph.engines.{name}")])
        .env("PYTHONPATH", &paths)
        // `python -m` puts the current folder on the import path: a user's `json.py` must not take a module's place.
        .current_dir(&folder)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    // In a group of its own the engine hears of Ctrl-C once, from here.
    interrupt::listen(Box::new(move || {
        // An engine that has ended needs no signal.
        let _: nix::Result<()> = kill(pid, Signal::SIGINT);
    }));
    let is_started = Arc::new(AtomicBool::new(false));
    let errors = child.stderr.take().map(|stream| {
        let is_started = Arc::clone(&is_started);
        thread::spawn(move || pass_messages(stream, &is_started))
    });
    if let Some(mut input) = child.stdin.take() {
        // An engine that has ended already says why on standard error.
        let _: io::Result<()> = input.write_all(&serde_json::to_vec(&request).unwrap_or_default());
    }
    let lines = child.stdout.take().into_iter().flat_map(|stream| BufReader::new(stream).lines().map_while(Result::ok));
    for line in lines {
        match serde_json::from_str(&line) {
            Ok(event) => {
                is_started.store(true, Ordering::SeqCst);
                hear(event);
            }
            Err(error) => base::events::remark(&format!("the engine wrote `{line}`, expected an event: {error}")),
        }
    }
    let status = child.wait().map_err(failed)?;
    let last = errors.and_then(|thread| thread.join().ok()).flatten();
    Ok((!status.success()).then(|| last.unwrap_or_else(|| format!("the engine ended with {status}"))))
}

/// Passes on the messages of an engine that has started, such as that a task waits for a machine. Returns the last line.
fn pass_messages(stream: impl io::Read, is_started: &AtomicBool) -> Option<String> {
    let mut last = None;
    for line in BufReader::new(stream).lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
        if is_started.load(Ordering::SeqCst) {
            base::events::remark(&line);
        }
        last = Some(line);
    }
    last
}
