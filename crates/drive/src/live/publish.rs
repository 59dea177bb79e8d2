//! The figures of a running program, once a second: to a file, or to whoever asks.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use base::Error;
use base::events::remark;
use diagnose::Meter;
use nix::fcntl::OFlag;

use super::server::Server;
use super::start_thread;
use super::trackers::TrackerPipe;
use super::watch::Watch;

const PAUSE: Duration = Duration::from_secs(1);

/// Turns figures into the text of the outlet.
pub type WriteFigures = Box<dyn Fn(&[&Meter]) -> String + Send>;

/// The place that the figures go to.
pub enum Outlet {
    /// A file, to which the figures of each second are appended.
    File(LogFile),
    /// An address, at which the last figures are read.
    Server(Server),
    /// The helper of a tracker.
    Tracker(TrackerPipe),
}

/// An outlet, and its form of the figures.
pub struct Channel {
    /// The place.
    pub outlet: Outlet,
    /// The form.
    pub write: WriteFigures,
}

impl Outlet {
    /// Opens a file for the figures.
    pub fn open_file(path: &Path) -> Result<Outlet, Error> {
        let failed = |source| Error::MetricsFile { path: path.to_owned(), source };
        // A pipe without a reader is an error, and a full one does not stop oomph.
        let flags = OFlag::O_NONBLOCK.bits();
        let file = OpenOptions::new().append(true).create(true).custom_flags(flags).open(path).map_err(failed)?;
        Ok(Outlet::File(LogFile { file, path: path.to_owned(), is_cut: false, has_failed: false }))
    }

    /// Listens at an address of this machine.
    pub fn listen(address: SocketAddr) -> Result<Outlet, Error> {
        let failed = |source| Error::MetricsAddress { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        Server::start(listener).map(Outlet::Server).map_err(failed)
    }

    /// The address; `None` for a file.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Outlet::File(_) | Outlet::Tracker(_) => None,
            Outlet::Server(server) => Some(server.address()),
        }
    }

    fn publish(&mut self, text: String) {
        match self {
            Outlet::File(file) => file.append(&text),
            Outlet::Server(server) => server.set_text(text),
            Outlet::Tracker(pipe) => pipe.write(&text),
        }
    }
}

/// A file that lines are appended to, for as long as the disk allows.
pub struct LogFile {
    file: File,
    path: PathBuf,
    is_cut: bool,
    has_failed: bool,
}

impl LogFile {
    /// Appends whole lines. The first failure is remarked; a later text may find room again, behind a new end of line.
    fn append(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let start = if self.is_cut { "\n" } else { "" };
        let written = self.file.write_all(format!("{start}{text}").as_bytes());
        self.is_cut = written.is_err();
        if let Err(problem) = written
            && !std::mem::replace(&mut self.has_failed, true)
        {
            remark(&format!("oomph: figures are missing in {}: {problem}; the program goes on", self.path.display()));
        }
    }
}

/// The thread that publishes, while this value lives.
pub struct Publisher {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Publisher {
    /// Publishes the figures of the run in `folder`.
    pub fn start(folder: &Path, channels: Vec<Channel>) -> Result<Publisher, Error> {
        let (stop, stopped) = channel();
        let watch = Watch::new(folder);
        let thread = start_thread(move || publish_until(&stopped, watch, channels))?;
        Ok(Publisher { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Publisher {
    /// Publishes once more, and waits for the end of the thread.
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic has printed its message.
            let _ = thread.join();
        }
    }
}

fn publish_until(stopped: &Receiver<()>, mut watch: Watch, mut channels: Vec<Channel>) {
    loop {
        let is_last = stopped.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout);
        let meters = watch.refresh(is_last);
        for channel in &mut channels {
            channel.outlet.publish((channel.write)(&meters));
        }
        if is_last {
            return;
        }
    }
}
