//! The thread that reads the machine: the driver may take its time, and the keys must not wait for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use base::MachineError;
use diagnose::top::Top;
use drive::machine::Monitor;
use report::top::TopReport;

use super::details::{Details, read_details};

/// The figures of one moment.
pub(super) struct Look {
    pub(super) report: Result<TopReport, MachineError>,
    pub(super) details: Option<Details>,
}

/// The thread, while this value lives.
pub(super) struct Sampler {
    /// The process whose contents each answer has from now on.
    questions: Sender<Option<u32>>,
    samples: Receiver<Look>,
}

impl Sampler {
    pub(super) fn start(mut monitor: Monitor, interval: Duration) -> Sampler {
        let (questions, asked) = channel();
        let (answers, samples) = channel();
        thread::spawn(move || {
            let mut top = Top::new(env!("CARGO_PKG_VERSION"));
            let mut opened = None;
            loop {
                let report = monitor.read().map(|view| top.report(&view));
                let sample = Look { report, details: opened.map(read_details) };
                if answers.send(sample).is_err() {
                    return;
                }
                match asked.recv_timeout(interval) {
                    Ok(pid) => opened = pid,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Sampler { questions, samples }
    }

    /// Asks for the contents of a process, or for none.
    pub(super) fn open(&self, pid: Option<u32>) {
        // The thread ends only with this value.
        let _ = self.questions.send(pid);
    }

    /// The last sample since the last call.
    pub(super) fn take(&self) -> Option<Look> {
        self.samples.try_iter().last()
    }
}
