//! `--log-to`: the trackers of a run, and the sentences about them.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use drive::live::trackers::{Readiness, TrackerEnd, TrackerHelper, TrackerPipe};
use report::words::count;

use crate::args::Run;
use crate::output;

/// The helpers of the trackers of a run.
#[derive(Default)]
pub(super) struct Trackers {
    helpers: Vec<TrackerHelper>,
    /// The places for lines, of the same helpers.
    pub(super) pipes: Vec<TrackerPipe>,
}

impl Trackers {
    /// Starts a helper for each tracker, with the Python of the command. A tracker that cannot be used is a sentence; the program comes first.
    pub(super) fn start(arguments: &Run, command: &[OsString]) -> Trackers {
        let patience = Duration::from_secs(arguments.log_wait.into());
        let targets = arguments.log_to.iter().map(|target| {
            let started = TrackerHelper::start(target.clone(), command, arguments.python.as_deref(), patience);
            (target.name.clone(), started)
        });
        // All helpers start before the first answer is waited for.
        let started: Vec<_> = targets.collect();
        let mut trackers = Trackers::default();
        for (name, started) in started {
            match started {
                Ok((helper, pipe)) => trackers.add(helper, pipe),
                Err(problem) => output::say(&format!("oomph: nothing is logged to {name}: {problem}")),
            }
        }
        trackers
    }

    fn add(&mut self, mut helper: TrackerHelper, pipe: TrackerPipe) {
        let name = helper.target.name.clone();
        match helper.wait_until_ready() {
            Readiness::Ready => {
                self.helpers.push(helper);
                self.pipes.push(pipe);
            }
            Readiness::Missing { package, python } => {
                let next = format!("`{python} -m pip install {package}` installs it");
                output::say(&format!(
                    "oomph: nothing is logged to {name}: {python} has no package `{package}`; {next}"
                ));
            }
            Readiness::Failed(problem) => output::say(&format!("oomph: nothing is logged to {name}: {problem}")),
        }
    }

    /// Waits for the helpers, for the time of one in all, and says where the figures are. The pipes must be closed.
    pub(super) fn finish(self) {
        let since = Instant::now();
        for helper in self.helpers {
            let name = helper.target.name.clone();
            output::say(&match helper.finish(since) {
                Ok(end) => describe_end(&name, &end),
                Err(problem) => format!("oomph: figures are missing in {name}: {problem}"),
            });
        }
    }
}

/// The sentence about the figures in a tracker.
fn describe_end(name: &str, end: &TrackerEnd) -> String {
    let why = end.why.as_ref().map(|why| format!("; {name} said: {why}")).unwrap_or_default();
    let dropped = count(usize::try_from(end.dropped).unwrap_or(usize::MAX), "line", "lines");
    match &end.place {
        None if end.dropped == 0 => format!("oomph: nothing was logged to {name}: no figures of a GPU came"),
        None => {
            format!("oomph: nothing was logged to {name}, which did not answer: {dropped} of figures are lost{why}")
        }
        Some(place) if end.dropped == 0 => format!("oomph: the figures are in {place}{why}"),
        Some(place) => {
            format!("oomph: the figures are in {place}, but for {dropped} that {name} did not take in time{why}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_says_where_the_figures_are_and_what_is_lost() {
        let end = |place: Option<&str>, dropped, why: Option<&str>| TrackerEnd {
            place: place.map(str::to_owned),
            logged: 9,
            dropped,
            why: why.map(str::to_owned),
        };
        let cases = [
            (end(Some("mlflow run 7"), 0, None), "oomph: the figures are in mlflow run 7"),
            (end(None, 0, None), "oomph: nothing was logged to mlflow: no figures of a GPU came"),
            (
                end(None, 2, None),
                "oomph: nothing was logged to mlflow, which did not answer: 2 lines of figures are lost",
            ),
            (
                end(Some("mlflow run 7"), 1, Some("OSError: full")),
                "oomph: the figures are in mlflow run 7, but for 1 line that mlflow did not take in time; mlflow said: OSError: full",
            ),
        ];
        for (end, expected) in cases {
            assert_eq!(describe_end("mlflow", &end), expected);
        }
    }
}
