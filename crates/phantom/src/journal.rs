//! The phantom's part of the run directory: `phantom-<pid>.jsonl`, one record a line, appended as things happen.
//!
//! The records are those of Note [Run directory] in `crates/trace/src/run.rs`; the formats meet in the file alone. A
//! line is written with one `write(2)` in append mode, so a process that is killed leaves a valid prefix, and a forked
//! child writes a file of its own.

use std::collections::HashMap;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The file of this process, and what was already said in it.
#[derive(Default)]
struct Journal {
    pid: u32,
    file: Option<File>,
    missing: HashSet<&'static str>,
    assumptions: HashMap<&'static str, u64>,
    workspaces: HashSet<(&'static str, u64, u64)>,
}

static JOURNAL: Mutex<Option<Journal>> = Mutex::new(None);

/// Notes that device memory was taken (`delta` > 0) or given back, and what is in use on the device afterwards.
pub fn memory(device: u32, owner: &str, delta: i64, used_bytes: u64) {
    let owner = quoted(owner);
    append(&format!(
        r#"{{"kind":"memory","device":{device},"owner":{owner},"delta":{delta},"used_bytes":{used_bytes}}}"#
    ));
}

/// Notes that a request was refused for want of memory.
pub fn refused(device: u32, owner: &str, bytes: u64) {
    let owner = quoted(owner);
    append(&format!(r#"{{"kind":"refused","device":{device},"owner":{owner},"bytes":{bytes}}}"#));
}

/// Notes, once each, which memory a library was given as its workspace.
pub fn workspace(library: &'static str, address: u64, bytes: u64) {
    if bytes > 0 && with(|journal| journal.workspaces.insert((library, address, bytes))) {
        append(&format!(r#"{{"kind":"workspace","library":"{library}","address":{address},"bytes":{bytes}}}"#));
    }
}

/// Notes that a modelled figure was used. Said again only when more memory rests on it than before.
pub fn assumption(id: &'static str, text: &str, bytes: u64) {
    let news = with(|journal| match journal.assumptions.get_mut(id) {
        Some(known) if *known >= bytes => false,
        Some(known) => {
            *known = bytes;
            true
        }
        None => {
            journal.assumptions.insert(id, bytes);
            true
        }
    });
    if news {
        let text = quoted(text);
        append(&format!(r#"{{"kind":"assumption","id":"{id}","text":{text},"bytes":{bytes}}}"#));
    }
}

/// Notes, once, that the program called an entry point that the phantom lacks, and says so on standard error.
pub fn missing(symbol: &'static str) {
    if with(|journal| journal.missing.insert(symbol)) {
        complain(&format!("the program called {symbol}, which the phantom GPU does not have"));
        append(&format!(r#"{{"kind":"missing","symbol":"{symbol}"}}"#));
    }
}

/// Says something on standard error, with our name before it.
pub fn complain(text: &str) {
    // The program may have closed its standard error; there is nobody left to tell then.
    let _ = writeln!(std::io::stderr(), "oomph phantom: {text}");
}

fn with<R>(body: impl FnOnce(&mut Journal) -> R) -> R {
    let mut guard = JOURNAL.lock().unwrap_or_else(PoisonError::into_inner);
    let pid = std::process::id();
    let journal = guard.get_or_insert_with(Journal::default);
    if journal.pid != pid {
        *journal = Journal { pid, file: open(pid), ..Journal::default() };
    }
    body(journal)
}

fn open(pid: u32) -> Option<File> {
    let folder = PathBuf::from(std::env::var_os("OOMPH_RUN_DIR")?);
    let path = folder.join(format!("phantom-{pid}.jsonl"));
    let opened = OpenOptions::new().create(true).append(true).open(&path).and_then(above_standard_streams);
    let devices = crate::device::count();
    let total_bytes = crate::device::profile().total_bytes;
    let line = format!("{{\"kind\":\"phantom\",\"pid\":{pid},\"devices\":{devices},\"total_bytes\":{total_bytes}}}\n");
    match opened.and_then(|mut file| file.write_all(line.as_bytes()).map(|()| file)) {
        Ok(file) => Some(file),
        Err(error) => {
            complain(&format!("cannot write {}, nothing is recorded: {error}", path.display()));
            None
        }
    }
}

/// A program that closed a standard stream frees its number: our file must not take it, or what the program says there
/// would land in the journal.
fn above_standard_streams(file: File) -> std::io::Result<File> {
    // Rust duplicates to the lowest free number above the standard streams.
    if file.as_raw_fd() <= libc::STDERR_FILENO { file.try_clone() } else { Ok(file) }
}

fn append(line: &str) {
    with(|journal| {
        if let Some(file) = &mut journal.file
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            complain(&format!("cannot write the run directory, nothing more is recorded: {error}"));
            // What was written so far stays a valid prefix; more lines after a torn one would not be.
            journal.file = None;
        }
    });
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                json.push('\\');
                json.push(c);
            }
            c if u32::from(c) < 0x20 => {
                // Writing to a `String` cannot fail.
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn strings_are_quoted_as_json_wants_them() {
        let cases = [("plain", r#""plain""#), ("a\"b\\c", r#""a\"b\\c""#), ("line\nbreak", r#""line\u000abreak""#)];
        for (text, json) in cases {
            assert_eq!(quoted(text), json);
        }
    }
}
