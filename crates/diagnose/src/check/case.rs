//! The input of `check`: the recorded runs, and the rest of the binary's knowledge.

use std::rc::Rc;

use report::Assumption;
use report::words::relative;
use trace::{Bytes, Launch, Run};

use crate::judge::ending::raised_error;
use crate::judge::outcome::Outcome;
use crate::judge::recorded::{RecordedRun, Runs};
use crate::judge::sharing::{Shared, find_shared};
use crate::judge::surroundings::Surroundings;
use crate::measure::usage::fullest_of;
use crate::measure::view::View;
use crate::measure::views::Views;

/// A program that was run on a phantom GPU, and run again where the report needs a second run.
#[derive(Clone, Debug)]
pub struct CheckCase {
    /// The recorded runs.
    pub runs: Runs,
    /// True if oomph chose the GPU because the user named no GPU.
    pub gpu_assumed: bool,
    /// The figures of the GPU that are estimates.
    pub assumptions: Vec<Assumption>,
    /// Advice on the error that ended the program, or the program's last line of output; shown if the program ended early.
    pub hint: Option<String>,
    /// The words of the next command, if the program does not fit.
    pub next: Option<Vec<String>>,
    /// The words of the command that looks for the largest batch, if the program fits with room.
    pub larger: Option<Vec<String>>,
    /// The reader's working directory; paths are shown relative to it.
    pub folder: String,
    /// What the launcher knows of the runs' surroundings.
    pub surroundings: Surroundings,
    /// The duration of all runs.
    pub seconds: f64,
}

/// A case reduced to the decisive run, with the views of the devices.
#[derive(Debug)]
pub(super) struct Case<'a> {
    /// The start and the end of the run within the limit.
    pub(super) launch: &'a Launch,
    /// The decisive run within the limit.
    pub(super) limited: &'a Run,
    /// The run without a limit.
    pub(super) unlimited: Option<&'a RecordedRun>,
    /// The run within the limit with another share of selected elements.
    other_share: Option<&'a RecordedRun>,
    /// The reader's working directory.
    pub(super) folder: &'a str,
    /// The views of the devices.
    pub(super) views: Views<'a>,
}

impl<'a> Case<'a> {
    pub(super) fn of(asked: &'a CheckCase) -> Case<'a> {
        let RecordedRun { launch, run } = asked.runs.counted();
        let unlimited = asked.runs.unlimited.as_ref();
        let other_share = asked.runs.other_share.as_ref();
        Case { launch, limited: run, unlimited, other_share, folder: &asked.folder, views: Views::default() }
    }

    /// The device's memory.
    pub(super) fn total(&self) -> Bytes {
        Bytes(self.launch.device_total_bytes)
    }

    /// The device's memory less what other processes use.
    pub(super) fn available(&self) -> Bytes {
        self.launch.available_bytes()
    }

    /// The available memory less a CUDA context.
    pub(super) fn usable(&self) -> Bytes {
        self.available() - self.context()
    }

    /// The size of a CUDA context.
    pub(super) fn context(&self) -> Bytes {
        Bytes(self.launch.device_context_bytes)
    }

    /// True if the verdict is another with another share of selected elements, or may be: that run did not come to its end.
    pub(super) fn depends_on_share(&self) -> bool {
        let Some(other) = self.other_share else { return true };
        let ran_out = |run| Outcome::of(run).ran_out();
        ran_out(&other.run) != ran_out(self.limited) || raised_error(&other.run).is_some()
    }

    /// Returns the fullest of the devices that several processes used.
    pub(super) fn shared(&self) -> Option<Shared> {
        self.shared_in(self.limited)
    }

    /// Returns the fullest shared device of another run of the program.
    pub(super) fn shared_in(&self, run: &'a Run) -> Option<Shared> {
        find_shared(self.launch, run, &self.views)
    }

    /// The run without a limit, which trains parameters that the run within the limit does not come to; else the latter.
    pub(super) fn longest(&self) -> &'a Run {
        self.unlimited.map_or(self.limited, |unlimited| &unlimited.run)
    }

    /// Returns the view of the same rank's device in the run without a limit.
    pub(super) fn find_later(&self, view: &View) -> Option<Rc<View<'a>>> {
        let rank = view.trace.process.identity.rank;
        let processes = self.unlimited?.run.processes.iter().filter(|process| process.identity.rank == rank);
        let (process, device, _) = fullest_of(processes, self.context())?;
        Some(self.views.find(process, device))
    }

    /// Returns `file` relative to the reader's directory if the directory contains it.
    pub(super) fn show<'f>(&self, file: &'f str) -> &'f str {
        relative(file, self.folder)
    }
}
