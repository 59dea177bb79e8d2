//! Asks Slurm about a job: `scontrol` for a job that the controller still knows, `sacct` for its accounts.

use std::io;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use base::SlurmError;
use trace::slurm::{ACCOUNT_FIELDS, SlurmJob};

use crate::python::on_path;

/// The time for an answer of the controller, which all users share.
const PATIENCE: Duration = Duration::from_secs(20);

/// Reads the facts of a job, such as `123`, `123_4` of an array, or `123+0` of a heterogeneous job.
pub fn read_job(id: &str) -> Result<SlurmJob, SlurmError> {
    if on_path("scontrol").is_none() && on_path("sacct").is_none() {
        return Err(SlurmError::NoCommands);
    }
    let control = ask("scontrol", &["show", "job", id]);
    let accounts = ask("sacct", &["-j", id, "-P", "-n", "--format", ACCOUNT_FIELDS]);
    let known = accounts.as_ref().ok().and_then(|text| SlurmJob::read_accounts(text));
    match control.as_ref().ok().and_then(|text| SlurmJob::read_control(text)) {
        Some(job) => Ok(with_logs_of_leader(job.with_accounts(known), id)),
        None => known.ok_or_else(|| {
            let answers = [control, accounts].into_iter().filter_map(Result::err).filter(|answer| !answer.is_empty());
            let answer = answers.collect::<Vec<_>>().join("; ");
            let answer = if answer.is_empty() { "`sacct` has no row of it".to_owned() } else { answer };
            SlurmError::UnknownJob { id: id.to_owned(), answer }
        }),
    }
}

/// The batch script of a heterogeneous job runs in its first part, which alone has logs.
fn with_logs_of_leader(mut job: SlurmJob, id: &str) -> SlurmJob {
    let leader = id.split_once('+').filter(|(_, part)| *part != "0").map(|(leader, _)| format!("{leader}+0"));
    let asked = leader.and_then(|leader| ask("scontrol", &["show", "job", &leader]).ok());
    if let Some(leader) = asked.and_then(|text| SlurmJob::read_control(&text)) {
        job.logs = leader.logs;
    }
    job
}

/// The output of a command, or as an error the last line of the command's messages.
fn ask(program: &str, words: &[&str]) -> Result<String, String> {
    let command = Command::new(program)
        .args(words)
        // Other formats of sizes and times would not be read.
        .env_remove("SLURM_TIME_FORMAT")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = command.map_err(|problem| format!("{program}: {problem}"))?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let (send, receive) = channel();
    thread::spawn(move || {
        // Nobody waits for an answer that comes too late.
        let _: Result<(), _> = send.send((read_all(output), read_all(errors)));
    });
    let answer = receive.recv_timeout(PATIENCE);
    if answer == Err(RecvTimeoutError::Timeout) {
        // A command that has just ended needs no signal.
        let _: io::Result<()> = child.kill();
    }
    let status = child.wait().map_err(|problem| format!("{program}: {problem}"))?;
    match answer {
        Ok((output, _)) if status.success() => Ok(output),
        Ok((_, errors)) => Err(format!("{program}: {}", errors.lines().last().unwrap_or("no message"))),
        Err(_) => Err(format!("{program} did not answer within {} s", PATIENCE.as_secs())),
    }
}

fn read_all(stream: Option<impl io::Read>) -> String {
    let mut bytes = Vec::new();
    // What was read before an error counts.
    let _: io::Result<usize> = stream.map_or(Ok(0), |mut stream| stream.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
