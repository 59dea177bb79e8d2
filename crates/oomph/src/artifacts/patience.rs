//! Silent standard input: a waiting person learns about the wait.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::output;

/// The silence after which the remark is printed.
const SILENCE: Duration = Duration::from_secs(5);
const REMARK: &str = "waiting for standard input (Ctrl-C ends); to read a file, name it: oomph explain FILE";

/// Standard input. Prints [`REMARK`] once to standard error if the first bytes take long.
pub(super) struct PatientInput<R> {
    inner: R,
    /// Dropped with the first bytes, which ends the waiting.
    waiting: Option<Sender<()>>,
}

impl<R: Read> PatientInput<R> {
    pub(super) fn new(inner: R) -> PatientInput<R> {
        let (waiting, first_bytes) = channel();
        // Without the thread there is no remark; the input is read all the same.
        let _thread = thread::Builder::new().spawn(move || remark_on_silence(&first_bytes, SILENCE, output::say));
        PatientInput { inner, waiting: Some(waiting) }
    }
}

impl<R: Read> Read for PatientInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer);
        self.waiting = None;
        read
    }
}

/// Calls `say` if the other end is not dropped for `silence`.
fn remark_on_silence(first_bytes: &Receiver<()>, silence: Duration, say: impl Fn(&str)) {
    if first_bytes.recv_timeout(silence) == Err(RecvTimeoutError::Timeout) {
        say(REMARK);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn check(is_silent: bool, silence: Duration, expected: &[&str]) {
        let (waiting, first_bytes) = channel();
        let waiting = is_silent.then_some(waiting);
        let said = RefCell::new(Vec::new());
        remark_on_silence(&first_bytes, silence, |text| said.borrow_mut().push(text.to_owned()));
        assert_eq!(said.into_inner(), expected);
        drop(waiting);
    }

    #[test]
    fn a_remark_is_printed_after_silence_alone() {
        check(true, Duration::ZERO, &[REMARK]);
        check(false, SILENCE, &[]);
    }
}
