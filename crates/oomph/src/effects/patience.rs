//! Silent inputs: a waiting person learns the reason of the wait.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::output;
use crate::system::is_pipe;

/// The silence after which the remark is printed.
const SILENCE: Duration = Duration::from_secs(5);

/// A wait. Prints a remark once to standard error if this value lives long.
pub(crate) struct Wait {
    /// Dropped with this value.
    _waiting: Sender<()>,
}

impl Wait {
    /// Begins to wait for standard input.
    pub(crate) fn for_standard_input() -> Wait {
        Wait::start("waiting for standard input (Ctrl-C ends); to read a file, name it: oomph explain FILE".to_owned())
    }

    /// Begins to wait for the writer of a pipe; `None` for a file, which has its content.
    pub(crate) fn for_writer(name: &Path) -> Option<Wait> {
        let is_pipe = fs::metadata(name).is_ok_and(|found| is_pipe(&found));
        is_pipe.then(|| {
            Wait::start(format!("waiting for a program to write to the pipe `{}` (Ctrl-C ends)", name.display()))
        })
    }

    fn start(remark: String) -> Wait {
        let (waiting, end) = channel();
        // Without the thread no remark is printed, and the input is read.
        let _thread = thread::Builder::new().spawn(move || remark_on_silence(&end, SILENCE, || output::say(&remark)));
        Wait { _waiting: waiting }
    }
}

/// An input with a wait that ends with the first bytes.
pub(crate) struct PatientInput<R> {
    inner: R,
    wait: Option<Wait>,
}

impl<R: Read> PatientInput<R> {
    pub(crate) fn new(inner: R, wait: Option<Wait>) -> PatientInput<R> {
        PatientInput { inner, wait }
    }
}

impl<R: Read> Read for PatientInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer);
        self.wait = None;
        read
    }
}

/// Calls `say` if the other end is not dropped for `silence`.
fn remark_on_silence(end: &Receiver<()>, silence: Duration, say: impl FnOnce()) {
    if end.recv_timeout(silence) == Err(RecvTimeoutError::Timeout) {
        say();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is_silent: bool, silence: Duration) {
        let (waiting, end) = channel();
        let waiting = is_silent.then_some(waiting);
        let mut is_said = false;
        remark_on_silence(&end, silence, || is_said = true);
        assert_eq!(is_said, is_silent);
        drop(waiting);
    }

    #[test]
    fn a_remark_is_printed_after_silence_alone() {
        check(true, Duration::ZERO);
        check(false, SILENCE);
    }
}
