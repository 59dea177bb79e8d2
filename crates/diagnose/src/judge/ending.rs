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

use trace::{Process, Record, Run};

use crate::measure::run_records::{end, last_oom, records};

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

/// True if an out-of-memory error ended the process, or may have: an error was raised and no end was recorded.
/// See Note [Ended by out of memory].
pub(crate) fn ended_by_oom(process: &Process) -> bool {
    let error = process.records.iter().rev().find_map(|record| match record {
        Record::Error { oom, .. } => Some(*oom),
        _ => None,
    });
    error.unwrap_or_else(|| end(process).is_none() && last_oom(process).is_some())
}

/// Returns the error that ended the program; `None` where an out-of-memory error explains it, see Note [Ended by out of memory].
pub fn raised_error(run: &Run) -> Option<Raised> {
    let is_oom = |record: &Record| matches!(record, Record::Error { oom: true, .. });
    if records(run).any(is_oom) { None } else { first_error(run) }
}

/// Returns the first error in the chain of causes: an error in the user's code causes the error that a launcher raises
/// about it, and the first rank's error causes the closed connections of all later ranks.
pub(crate) fn first_error(run: &Run) -> Option<Raised> {
    let errors = records(run).filter_map(|record| match record {
        Record::Error { type_name, message, file, line, monotonic_ns, .. } => {
            let at = file.clone().zip(*line);
            Some((
                at.is_none(),
                *monotonic_ns,
                Raised { type_name: type_name.clone(), message: take_workers_message(message), at },
            ))
        }
        _ => None,
    });
    let first = errors.min_by_key(|(is_elsewhere, monotonic_ns, _)| (*is_elsewhere, *monotonic_ns));
    first.map(|(_, _, raised)| raised)
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
        process.records.iter().any(|record| matches!(record, Record::Error { file, .. } if steps || file.is_some()))
    };
    run.processes.iter().filter(has_failed).collect()
}

fn made_a_step(process: &Process) -> bool {
    process.records.iter().any(|record| matches!(record, Record::Step { .. }))
}

/// Returns the user's line that was the last to start reading values which no GPU computed.
pub fn last_read(run: &Run) -> Option<(String, u32)> {
    let reads = records(run).filter_map(|record| match record {
        Record::ValueRead { file, line, .. } => Some((file.clone(), *line)),
        _ => None,
    });
    reads.last()
}

/// True if the process ended after using a GPU and could not write the snapshot of its memory.
pub fn wrote_no_snapshot(process: &Process) -> bool {
    let has = |is: fn(&Record) -> bool| process.records.iter().any(is);
    has(|record| matches!(record, Record::End { devices, snapshot: None, .. } if !devices.is_empty()))
        && !has(|record| matches!(record, Record::Unrecorded { .. }))
}

#[cfg(test)]
mod tests {
    use trace::run::{DeviceStats, EndReason};

    use super::*;

    fn error(type_name: &str, oom: bool, at: Option<(&str, u32)>) -> Record {
        Record::Error {
            type_name: type_name.to_owned(),
            message: "text".to_owned(),
            oom,
            file: at.map(|(file, _)| file.to_owned()),
            line: at.map(|(_, line)| line),
            traceback: String::new(),
            monotonic_ns: 0,
        }
    }

    fn oom() -> Record {
        crate::testing::oom(None, None)
    }

    fn end_with(devices: usize, snapshot: Option<&str>) -> Record {
        let devices = vec![DeviceStats::default(); devices];
        Record::End {
            reason: EndReason::Exit,
            steps: 1,
            devices,
            snapshot: snapshot.map(str::to_owned),
            monotonic_ns: 0,
        }
    }

    fn process(records: Vec<Record>) -> Process {
        Process { records, ..Process::default() }
    }

    fn type_name(processes: Vec<Process>) -> Option<String> {
        raised_error(&Run { processes }).map(|raised| raised.type_name)
    }

    #[test]
    fn the_two_questions_about_out_of_memory_have_different_answers() {
        // Records; whether out of memory ended the process; the error that is shown.
        let cases = [
            (vec![error("OutOfMemoryError", true, None)], true, None),
            // An error while the first one is handled: the run did not end by it, and its report says more.
            (vec![error("OutOfMemoryError", true, None), error("KeyError", false, None)], false, None),
            // Killed while it ran out: no error was recorded that could be shown.
            (vec![oom()], true, None),
            // Caught, and ended well.
            (vec![oom(), end_with(1, Some("a"))], false, None),
            // Caught, and failed later of something else.
            (vec![oom(), error("KeyError", false, None)], false, Some("KeyError")),
        ];
        for (records, ended, shown) in cases {
            assert_eq!(ended_by_oom(&process(records.clone())), ended, "{records:?}");
            assert_eq!(type_name(vec![process(records.clone())]).as_deref(), shown, "{records:?}");
        }
    }

    #[test]
    fn an_error_in_the_users_code_comes_before_the_launchers() {
        let launcher = || process(vec![error("ChildFailedError", false, None)]);
        let rank = process(vec![error("KeyError", false, Some(("train.py", 3)))]);
        assert_eq!(type_name(vec![launcher(), rank]).as_deref(), Some("KeyError"));
        let rank = process(vec![error("OutOfMemoryError", true, Some(("train.py", 3)))]);
        assert_eq!(type_name(vec![launcher(), rank]), None, "the launcher's error follows from the rank's");
        let mut later = error("DistBackendError", false, Some(("train.py", 2)));
        if let Record::Error { monotonic_ns, .. } = &mut later {
            *monotonic_ns = 1;
        }
        let rank = process(vec![error("KeyError", false, Some(("train.py", 3)))]);
        assert_eq!(type_name(vec![process(vec![later]), rank]).as_deref(), Some("KeyError"), "a closed connection");
        let killed = process(vec![oom()]);
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
        let step = || Record::Step { step: 1, devices: Vec::new(), work: None, monotonic_ns: 0 };
        let raised = || error("KeyError", false, Some(("train.py", 3)));
        let launcher = || process(vec![error("ChildFailedError", false, None)]);
        let cases = [
            (vec![process(vec![step(), raised()])], true),
            (vec![process(vec![raised()])], false),
            (vec![launcher(), process(vec![step()]), process(vec![raised()])], false),
            (vec![launcher(), process(vec![step(), raised()]), process(vec![step(), raised()])], true),
            // The rank was killed.
            (vec![launcher(), process(vec![step()])], true),
        ];
        for (processes, after) in cases {
            let run = Run { processes };
            assert_eq!(raised_after_a_step(&run), after, "{run:?}");
        }
    }

    #[test]
    fn the_last_line_that_starts_reading_values_is_found() {
        let read = |line| Record::ValueRead { file: "train.py".to_owned(), line, count: 1, bytes: 4 };
        let run = Run { processes: vec![process(vec![read(3), oom(), read(7)]), process(Vec::new())] };
        assert_eq!(last_read(&run), Some(("train.py".to_owned(), 7)));
        assert_eq!(last_read(&Run::default()), None);
    }

    #[test]
    fn a_snapshot_is_missed_where_a_gpu_was_used_and_a_history_was_kept() {
        let unrecorded = || Record::Unrecorded { reason: "no history".to_owned() };
        let cases = [
            (vec![end_with(1, None)], true),
            (vec![end_with(1, Some("rank0.snapshot.pickle"))], false),
            (vec![end_with(0, None)], false),
            (vec![unrecorded(), end_with(1, None)], false),
            (Vec::new(), false),
        ];
        for (records, expected) in cases {
            assert_eq!(wrote_no_snapshot(&process(records.clone())), expected, "{records:?}");
        }
    }
}
