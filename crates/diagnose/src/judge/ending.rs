//! The ends of a run's processes: out of memory, with another error, or without a message.
//!
//! # Note [Ended by out of memory]
//!
//! Two questions have different answers:
//! - `ended_by_oom`: an out-of-memory error ended the process. The last error decides, because a program may catch an
//!   out-of-memory error and fail later of another; a process with an error but no end was killed while it ran out. The
//!   verdict asks this question.
//! - [`raised_error`] treats other errors as consequences if any process raised an out-of-memory error, last or not. A
//!   launcher raises an error of its own about a rank that ran out, and a handler may raise a second error. The report
//!   of such a run explains more than the error.

use trace::run::ErrorRecord;
use trace::{Process, Run};

/// An error that ended a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    /// The qualified type.
    pub type_name: String,
    /// The error's text.
    pub message: String,
    /// The innermost line of the user's own code: file and line.
    pub at: Option<(String, u32)>,
}

/// True if an out-of-memory error ended the process, or may have: an error was raised and neither an end nor a stop was recorded.
/// See Note [Ended by out of memory].
pub(super) fn ended_by_oom(process: &Process) -> bool {
    let error = process.errors.last().map(|error| error.oom);
    error.unwrap_or_else(|| process.end.is_none() && process.stop.is_none() && !process.ooms.is_empty())
}

/// Returns the error that ended the program; `None` where an out-of-memory error explains it, see Note [Ended by out of memory].
pub fn raised_error(run: &Run) -> Option<Raised> {
    if list_errors(run).any(|error| error.oom) { None } else { first_error(run) }
}

/// Returns the first error in the chain of causes: an error in the user's code causes the error that a launcher raises
/// about it, and the first rank's error causes the closed connections of all later ranks.
pub(crate) fn first_error(run: &Run) -> Option<Raised> {
    let at = |error: &ErrorRecord| error.file.clone().zip(error.line);
    let first = list_errors(run).min_by_key(|error| (at(error).is_none(), error.monotonic_ns))?;
    Some(Raised { type_name: first.type_name.clone(), message: take_workers_message(&first.message), at: at(first) })
}

fn list_errors(run: &Run) -> impl Iterator<Item = &ErrorRecord> {
    run.processes.iter().flat_map(|process| &process.errors)
}

/// Returns the original message of a worker's or a replica's error, before the wrapped traceback:
/// `bad file 17 (in DataLoader worker process 0)` (`ExceptionWrapper` in `torch/_utils.py`, 2.11.0).
fn take_workers_message(message: &str) -> String {
    let wrapped = message.strip_prefix("Caught ").filter(|_| message.contains("\nOriginal Traceback"));
    let place = wrapped.and_then(|rest| rest.lines().next()?.split_once(" in ")).map(|(_, place)| place);
    let last = message.lines().rfind(|line| !line.trim().is_empty());
    match place.zip(last) {
        Some((place, last)) => {
            let text = last.split_once(": ").map_or(last, |(_, text)| text);
            format!("{text} (in {})", place.trim_end_matches('.'))
        }
        None => message.to_owned(),
    }
}

/// True if the program made a step before it raised its error. A rank that raises before its first step has shown
/// nothing, even if later ranks made steps meanwhile; an error raised only by a launcher says nothing of the ranks.
pub fn raised_after_a_step(run: &Run) -> bool {
    let failed = list_failed(run);
    failed.iter().all(|process| made_a_step(process)) && run.processes.iter().any(made_a_step)
}

/// Lists the processes that an error ended. A launcher is not among them: it makes no step, and its error has no line
/// of the user's code.
pub(crate) fn list_failed(run: &Run) -> Vec<&Process> {
    let has_failed = |process: &&Process| {
        let steps = made_a_step(process);
        process.errors.iter().any(|error| steps || error.file.is_some())
    };
    run.processes.iter().filter(has_failed).collect()
}

fn made_a_step(process: &Process) -> bool {
    !process.steps.is_empty()
}

/// Returns the user's line that was the last to start reading values which no GPU computed.
pub fn last_read(run: &Run) -> Option<(String, u32)> {
    let last = run.processes.iter().flat_map(|process| &process.value_reads).last()?;
    Some((last.file.clone(), last.line))
}

/// True if the process ended after using a GPU and could not write the snapshot of its memory.
pub fn wrote_no_snapshot(process: &Process) -> bool {
    let is_missed = process.end.as_ref().is_some_and(|end| !end.devices.is_empty() && end.snapshot.is_none());
    is_missed && process.unrecorded.is_none()
}

#[cfg(test)]
mod tests {
    use trace::Record;
    use trace::run::{DeviceStats, EndRecord, StepRecord, UnrecordedRecord, ValueReadRecord};

    use super::*;

    fn error(type_name: &str, oom: bool, at: Option<(&str, u32)>) -> ErrorRecord {
        ErrorRecord {
            type_name: type_name.to_owned(),
            message: "text".to_owned(),
            oom,
            file: at.map(|(file, _)| file.to_owned()),
            line: at.map(|(_, line)| line),
            ..ErrorRecord::default()
        }
    }

    fn oom() -> Record {
        Record::Oom(crate::testing::oom(None, None))
    }

    fn raised(errors: Vec<ErrorRecord>) -> Process {
        Process { errors, ..Process::default() }
    }

    fn trained(errors: Vec<ErrorRecord>) -> Process {
        Process { steps: vec![StepRecord::default()], ..raised(errors) }
    }

    fn ended(devices: usize, snapshot: Option<&str>) -> EndRecord {
        let devices = vec![DeviceStats::default(); devices];
        EndRecord { devices, snapshot: snapshot.map(str::to_owned), ..EndRecord::default() }
    }

    fn type_name(processes: Vec<Process>) -> Option<String> {
        raised_error(&Run { processes }).map(|raised| raised.type_name)
    }

    #[test]
    fn the_two_questions_about_out_of_memory_have_different_answers() {
        let error = |type_name: &str, oom: bool| Record::Error(error(type_name, oom, None));
        // Records; whether out of memory ended the process; the error that is shown.
        let cases = [
            (vec![error("OutOfMemoryError", true)], true, None),
            // An error while handling the first: it did not end the run, and the report explains more.
            (vec![error("OutOfMemoryError", true), error("KeyError", false)], false, None),
            // Killed while it ran out: there is no recorded error to show.
            (vec![oom()], true, None),
            // Caught, and ended well.
            (vec![oom(), Record::End(ended(1, Some("a")))], false, None),
            // Caught, and failed later of something else.
            (vec![oom(), error("KeyError", false)], false, Some("KeyError")),
        ];
        for (records, ended, shown) in cases {
            let process: Process = records.into_iter().collect();
            assert_eq!(ended_by_oom(&process), ended, "{process:?}");
            assert_eq!(type_name(vec![process]).as_deref(), shown);
        }
    }

    #[test]
    fn an_error_in_the_users_code_comes_before_the_launchers() {
        let launcher = || raised(vec![error("ChildFailedError", false, None)]);
        let rank = raised(vec![error("KeyError", false, Some(("train.py", 3)))]);
        assert_eq!(type_name(vec![launcher(), rank]).as_deref(), Some("KeyError"));
        let rank = raised(vec![error("OutOfMemoryError", true, Some(("train.py", 3)))]);
        assert_eq!(type_name(vec![launcher(), rank]), None, "the launcher's error follows from the rank's");
        let later = ErrorRecord { monotonic_ns: 1, ..error("DistBackendError", false, Some(("train.py", 2))) };
        let rank = raised(vec![error("KeyError", false, Some(("train.py", 3)))]);
        assert_eq!(type_name(vec![raised(vec![later]), rank]).as_deref(), Some("KeyError"), "a closed connection");
        let killed: Process = [oom()].into_iter().collect();
        assert_eq!(type_name(vec![launcher(), killed]).as_deref(), Some("ChildFailedError"), "no rank raised an error");
    }

    #[test]
    fn an_error_of_a_worker_is_taken_out_of_its_wrapping() {
        let wrapped = "Caught ValueError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n  \
            File \"train.py\", line 6, in __getitem__\nValueError: bad file 17\n";
        let cases = [
            (wrapped, "bad file 17 (in DataLoader worker process 0)"),
            ("Caught in the act", "Caught in the act"),
            ("two\nlines", "two\nlines"),
        ];
        for (message, expected) in cases {
            assert_eq!(take_workers_message(message), expected);
        }
    }

    #[test]
    fn a_rank_that_raised_before_its_first_step_has_shown_nothing() {
        let failed = || vec![error("KeyError", false, Some(("train.py", 3)))];
        let launcher = || raised(vec![error("ChildFailedError", false, None)]);
        let cases = [
            (vec![trained(failed())], true),
            (vec![raised(failed())], false),
            (vec![launcher(), trained(vec![]), raised(failed())], false),
            (vec![launcher(), trained(failed()), trained(failed())], true),
            // The rank was killed.
            (vec![launcher(), trained(vec![])], true),
        ];
        for (processes, after) in cases {
            let run = Run { processes };
            assert_eq!(raised_after_a_step(&run), after, "{run:?}");
        }
    }

    #[test]
    fn the_last_line_that_starts_reading_values_is_found() {
        let read = |line| ValueReadRecord { file: "train.py".to_owned(), line, count: 1, bytes: 4, sizes: 0 };
        let reads = Process { value_reads: vec![read(3), read(7)], ..Process::default() };
        let run = Run { processes: vec![reads, Process::default()] };
        assert_eq!(last_read(&run), Some(("train.py".to_owned(), 7)));
        assert_eq!(last_read(&Run::default()), None);
    }

    #[test]
    fn a_snapshot_is_missed_where_a_gpu_was_used_and_a_history_was_kept() {
        let unrecorded = || Some(UnrecordedRecord { reason: "no history".to_owned() });
        let cases = [
            (None, Some(ended(1, None)), true),
            (None, Some(ended(1, Some("rank0.snapshot.pickle"))), false),
            (None, Some(ended(0, None)), false),
            (unrecorded(), Some(ended(1, None)), false),
            (None, None, false),
        ];
        for (unrecorded, end, expected) in cases {
            let process = Process { unrecorded, end, ..Process::default() };
            assert_eq!(wrote_no_snapshot(&process), expected, "{process:?}");
        }
    }
}
