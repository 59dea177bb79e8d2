//! The process of the fork server: a Python that has imported the program's packages and forks a child for every dry run. Its
//! protocol is Note [Fork server] in `python/oomph/agent/process/server.py`, its states are in `crates/run/src/fork`.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use base::Error;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use run::fork::{Answer, NoAnswer, Request};

use wire::file;

use crate::cleanup::reap;
use crate::dry_run::program::Program;
use crate::process::launch;

/// A running server.
pub(crate) struct ForkServer {
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<Answer>,
}

impl ForkServer {
    /// Starts a server for the program. Import-time output and, if the program's files are noted, those of the imports go to `folder`.
    pub(crate) fn start(program: &Program, folder: &Path, notes_files: bool) -> Result<ForkServer, Error> {
        let log = &folder.join(file::SERVER_LOG);
        let failed = |source| Error::RunFolder { folder: log.to_owned(), source };
        let mut server = launch::command(&program.spec.command)?;
        launch::set_environment(&mut server, &program.server_environment(notes_files, folder));
        launch::separate(&mut server);
        server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(log).map_err(failed)?);
        let mut child = launch::spawn(&mut server)?;
        let requests = child.stdin.take();
        let answers = listen(child.stdout.take());
        Ok(ForkServer { child, requests, answers })
    }

    /// Sends a request for a run. A dead server shows as the end of its answers.
    pub(crate) fn ask(&mut self, request: &Request) {
        if let Some(requests) = &mut self.requests {
            let _: std::io::Result<()> = requests.write_all(&request.to_line()).and_then(|()| requests.flush());
        }
    }

    /// Waits for the next answer.
    pub(crate) fn answer(&self, timeout: Duration) -> Result<Answer, NoAnswer> {
        self.answers.recv_timeout(timeout).map_err(|error| match error {
            RecvTimeoutError::Disconnected => NoAnswer::Gone,
            RecvTimeoutError::Timeout => NoAnswer::Quiet,
        })
    }
}

impl Drop for ForkServer {
    /// Ends the server and its children.
    fn drop(&mut self) {
        self.requests = None;
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(i32::MAX));
        reap::signal_tree(pid, Signal::SIGKILL);
        // The status of a killed process is of no use.
        let _ = self.child.wait();
        reap::end_orphans();
    }
}

/// Starts a thread that reads answers until the server's end.
fn listen(stream: Option<ChildStdout>) -> Receiver<Answer> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let lines = stream.into_iter().flat_map(|stream| BufReader::new(stream).lines().map_while(Result::ok));
        for answer in lines.filter_map(|line| Answer::parse(&line)) {
            if sender.send(answer).is_err() {
                return;
            }
        }
    });
    receiver
}
