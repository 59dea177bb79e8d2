//! The fork server: a Python that has imported what the program imports, and a child of it for every dry run. Its protocol is
//! Note [Fork server] in `python/oomph/agent/server.py`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::cache::Unpacked;
use crate::environment as names;
use crate::error::Error;
use crate::{launch, reap, rundir};

pub(crate) use wire::exit::CANNOT;

/// What the server says.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    /// Everything is imported.
    Ready {
        #[expect(dead_code, reason = "its presence is what tells this answer from the others")]
        ready: bool,
        /// Packages that could not be imported, and why; the program will say it better.
        #[expect(dead_code, reason = "read by people who debug the server")]
        failed: BTreeMap<String, String>,
    },
    /// A child was started.
    Started { id: u64, pid: i32 },
    /// A child has ended: its exit status, or less than 0 for a signal.
    Ended { id: u64, status: i32 },
}

/// A request for one run of the program.
#[derive(Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) id: u64,
    /// Set in the child, above what the server was started with.
    pub(crate) env: BTreeMap<&'static str, String>,
    /// The file that takes what the program prints.
    pub(crate) output: &'a Path,
}

/// The server, while it lives.
pub(crate) struct ForkServer {
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<Answer>,
}

impl ForkServer {
    /// Starts a server for the program. In `folder` come to lie what its imports print and, where that is noted, which
    /// files they look at.
    pub(crate) fn start(
        command: &[OsString],
        unpacked: &Unpacked,
        device: &str,
        devices: u32,
        folder: &Path,
        notes_files: bool,
    ) -> Result<ForkServer, Error> {
        let log = &folder.join("server.log");
        let failed = |source| Error::RunFolder { folder: log.to_owned(), source };
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::NoProgram { program: String::new(), source: std::io::ErrorKind::InvalidInput.into() });
        };
        let mut server = Command::new(program);
        launch::set_phantom(&mut server, unpacked, device, devices);
        server
            .args(arguments)
            .env(names::SERVE, "1")
            .env(names::PYTHONPATH, launch::before(names::PYTHONPATH, unpacked.inject_dir.as_os_str()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(log).map_err(failed)?);
        if notes_files {
            server.env(names::FILES, folder.join(rundir::FILES));
        }
        launch::set_group(&mut server);
        let name = program.to_string_lossy().into_owned();
        let mut child = server.spawn().map_err(|source| Error::NoProgram { program: name, source })?;
        let requests = child.stdin.take();
        let answers = listen(child.stdout.take());
        Ok(ForkServer { child, requests, answers })
    }

    /// Asks for a run. Whether it could be asked: a server that is gone cannot.
    pub(crate) fn ask(&mut self, request: &Request) -> bool {
        let Ok(mut line) = serde_json::to_vec(request) else { return false };
        line.push(b'\n');
        self.requests.as_mut().is_some_and(|requests| requests.write_all(&line).and_then(|()| requests.flush()).is_ok())
    }

    /// The next answer within `timeout`; `Err(true)` where the server is gone.
    pub(crate) fn answer(&self, timeout: Duration) -> Result<Answer, bool> {
        self.answers.recv_timeout(timeout).map_err(|error| error == RecvTimeoutError::Disconnected)
    }
}

impl Drop for ForkServer {
    /// Nothing of it is left, its children among them.
    fn drop(&mut self) {
        self.requests = None;
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(i32::MAX));
        reap::signal_tree(pid, Signal::SIGKILL);
        // It was killed: there is nothing else to learn of it.
        let _ = self.child.wait();
        reap::end_orphans();
    }
}

/// A thread that reads answers until the server's end.
fn listen(stream: Option<ChildStdout>) -> Receiver<Answer> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let lines = stream.into_iter().flat_map(|stream| BufReader::new(stream).lines().map_while(Result::ok));
        for answer in lines.filter_map(|line| serde_json::from_str(&line).ok()) {
            if sender.send(answer).is_err() {
                return;
            }
        }
    });
    receiver
}
