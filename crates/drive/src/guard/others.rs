//! Reads the refused acts of a run on other processes, and removes the objects that the run left in memory (Note `[Other processes]` in
//! `crates/phantom/src/others.rs`).

use std::path::Path;
use std::process::{Command, Stdio};

use nix::mqueue::mq_unlink;
use trace::run::{Refusal, read_refusals};
use wire::file;

/// The refusals; empty if nothing was noted.
pub(crate) fn read(folder: &Path) -> Vec<Refusal> {
    read_refusals(&std::fs::read(folder.join(file::OTHERS)).unwrap_or_default())
}

/// Removes the System V objects and message queues of a run without a namespace for them. Many are gone by now.
pub(crate) fn remove_objects(folder: &Path) {
    let notes = std::fs::read(folder.join(file::OBJECTS)).unwrap_or_default();
    let notes = String::from_utf8_lossy(&notes).into_owned();
    let words: Vec<Vec<&str>> = notes.split('\0').map(|note| note.splitn(2, ' ').collect()).collect();
    let mut options = Vec::new();
    for note in &words {
        let id = |rest: &str| rest.rsplit(' ').next().unwrap_or_default().to_owned();
        match note.as_slice() {
            ["shm", rest] => options.extend(["-m".to_owned(), id(rest)]),
            ["sem", rest] => options.extend(["-s".to_owned(), id(rest)]),
            ["msg", rest] => options.extend(["-q".to_owned(), id(rest)]),
            ["mq", name] => {
                let _: nix::Result<()> = mq_unlink(*name);
            }
            _ => {}
        }
    }
    if !options.is_empty() {
        // The command of util-linux: the functions need code that this crate does not have.
        let mut command = Command::new("ipcrm");
        command.args(options).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _: std::io::Result<std::process::ExitStatus> = command.status();
    }
}
