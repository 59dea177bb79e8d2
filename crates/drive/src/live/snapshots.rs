//! Copies of a running recording, each a folder of a run by itself.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use base::Error;
use base::events::remark;
use base::run_dir::list_files;
use wire::file;

use super::capture::capture;
use super::start_thread;

/// The part of a file that is left out if it is empty.
const PAGE: usize = 64 << 10;

enum SnapshotRequest {
    Take,
    Stop,
}

/// The thread that takes snapshots, while this value lives.
pub struct Snapshots {
    requests: Sender<SnapshotRequest>,
    thread: Option<JoinHandle<()>>,
    is_any_taken: Arc<AtomicBool>,
}

impl Snapshots {
    /// Waits for requests to copy the recording in `folder`.
    pub fn start(folder: &Path) -> Result<Snapshots, Error> {
        let (requests, received) = channel();
        let (folder, is_any_taken) = (folder.to_owned(), Arc::new(AtomicBool::new(false)));
        let taken = Arc::clone(&is_any_taken);
        let thread = start_thread(move || {
            while let Ok(SnapshotRequest::Take) = received.recv() {
                taken.fetch_or(take_and_say(&folder), Ordering::SeqCst);
            }
        })?;
        Ok(Snapshots { requests, thread: Some(thread), is_any_taken })
    }

    /// A function that asks for a snapshot, and does not wait.
    pub fn requester(&self) -> impl Fn() + Send + 'static {
        let requests = self.requests.clone();
        move || {
            // After the end nobody listens.
            let _ = requests.send(SnapshotRequest::Take);
        }
    }

    /// Waits for the requested snapshots; returns true if there are any.
    pub fn finish(mut self) -> bool {
        self.stop();
        self.is_any_taken.load(Ordering::SeqCst)
    }

    fn stop(&mut self) {
        let _ = self.requests.send(SnapshotRequest::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic has printed its message.
            let _ = thread.join();
        }
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Takes a snapshot, and tells the user.
fn take_and_say(folder: &Path) -> bool {
    match take(folder) {
        Ok((number, copy)) => {
            remark(&format!("oomph: snapshot {number} in {0}; `oomph explain {0}` reads it", copy.display()));
            true
        }
        Err(error) => {
            remark(&format!("oomph: no snapshot: {error}; the program goes on"));
            false
        }
    }
}

/// Copies the recording as of now to the next folder of snapshots, whole or not at all.
fn take(folder: &Path) -> Result<(u32, PathBuf), Error> {
    let snapshots = folder.join(file::SNAPSHOTS);
    let failed = |source| Error::RunFolder { folder: snapshots.clone(), source };
    fs::create_dir_all(&snapshots).map_err(failed)?;
    let unfinished = tempfile::Builder::new().prefix(".").tempdir_in(&snapshots).map_err(failed)?;
    copy_run(folder, unfinished.path())?;
    let is_free = |number: &u32| !snapshots.join(number.to_string()).exists();
    let number = (1..u32::MAX).find(is_free).ok_or_else(|| failed(ErrorKind::AlreadyExists.into()))?;
    let copy = snapshots.join(number.to_string());
    fs::rename(unfinished.path(), &copy).map_err(failed)?;
    // The folder has another name now.
    let _ = unfinished.keep();
    Ok((number, copy))
}

fn copy_run(folder: &Path, to: &Path) -> Result<(), Error> {
    for path in list_files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let copy = to.join(&name);
        let failed = |source| Error::RunFolder { folder: to.to_owned(), source };
        if name.ends_with(file::MARKS) {
            // The recording comes behind its records: it may be ahead, never behind.
            copy_lines(&path, &copy).map_err(failed)?;
            let stem = name.trim_end_matches(file::MARKS);
            let recording = format!("{stem}{}", file::RECORDING);
            if let Some(image) = capture(&folder.join(&recording))? {
                write_sparse(&to.join(recording), &image).map_err(failed)?;
            }
        } else if name == file::LAUNCH || name.ends_with(file::SNAPSHOT) {
            fs::copy(&path, &copy).map_err(failed)?;
        }
    }
    Ok(())
}

/// Copies the whole lines of a growing file.
fn copy_lines(path: &Path, to: &Path) -> io::Result<()> {
    let text = fs::read(path)?;
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    fs::write(to, &text[..end])
}

/// Writes a file without its empty pages.
fn write_sparse(path: &Path, content: &[u8]) -> io::Result<()> {
    let file = File::create_new(path)?;
    file.set_len(content.len() as u64)?;
    for (page, at) in content.chunks(PAGE).zip((0..).step_by(PAGE)) {
        if page.iter().any(|byte| *byte != 0) {
            file.write_all_at(page, at)?;
        }
    }
    Ok(())
}
