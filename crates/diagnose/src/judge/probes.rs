//! Programs that search for a size with child processes: a process for each size, because a fresh process has a clean
//! allocator.

use report::{Location, SizeSearch};
use trace::{Process, Record, Run};

use super::unserved::{has_unserved_request, is_error, is_final_refusal};

/// Returns the search to which a process that ran out belongs. What must hold, so that rows of a benchmark, folds and seeds are none:
/// - the processes have the same arguments but for one number; those from some number on ran out, and all below got what they asked for;
/// - those that ran out caught the error and made no optimizer step after it;
/// - a process with other arguments made a step after the last error: what the probes were started for.
pub(crate) fn find_probes(process: &Process, run: &Run) -> Option<SizeSearch> {
    let number = run.processes.iter().find_map(|other| find_changed_number(process, other))?;
    let is_probe = |other: &&Process| std::ptr::eq(*other, process) || find_changed_number(process, other).is_some();
    let (probes, others): (Vec<&Process>, Vec<&Process>) = run.processes.iter().partition(is_probe);
    let (failed, served): (Vec<&Process>, Vec<&Process>) =
        probes.into_iter().partition(|probe| has_unserved_request(probe));
    let size = |probe: &&Process| find_changed_number(probe, process).map_or(number.here, |changed| changed.here);
    let is_threshold = served.iter().map(size).max()? < failed.iter().map(size).min()?;

    let errors: Vec<&Record> =
        failed.iter().flat_map(|probe| &probe.records).filter(|record| is_error(record)).collect();
    let (file, line) =
        errors.iter().map(|record| find_handler(record)).collect::<Option<Vec<_>>>()?.into_iter().next()?;
    let last_error = errors.iter().map(|record| time_of_error(record)).max()?;
    let is_refused = failed.iter().any(|probe| probe.phantom.iter().any(|record| is_final_refusal(record, probe)));
    let went_on = failed.iter().any(|probe| made_step_after_error(probe));
    let trains = others.iter().flat_map(|other| &other.records).any(|record| is_step_after(record, last_error));
    (is_threshold && trains && !went_on && !is_refused).then(|| SizeSearch {
        lowers: number.name,
        caught_at: Location { file, line, column: None },
        errors: u64::try_from(errors.len()).unwrap_or(u64::MAX),
    })
}

/// A number in which the arguments of two processes differ.
#[derive(Debug, PartialEq, Eq)]
struct ChangedNumber {
    /// The option, such as `--batch-size`, or `argument 2`.
    name: String,
    here: u64,
    there: u64,
}

/// Returns the only number that differs between the arguments of two processes; `None` for other differences.
fn find_changed_number(here: &Process, there: &Process) -> Option<ChangedNumber> {
    let (here, there) = (arguments(here)?, arguments(there)?);
    if here.len() != there.len() {
        return None;
    }
    let mut differing = here.iter().zip(there).enumerate().filter(|(_, (a, b))| a != b);
    let (at, (a, b)) = differing.next()?;
    let (option, a) = split_number(a)?;
    let (same_option, b) = split_number(b)?;
    let is_one = option == same_option && differing.next().is_none();
    let before = at.checked_sub(1).and_then(|before| here.get(before)).filter(|word| word.starts_with('-'));
    let name = option.or(before.map(String::as_str)).map_or_else(|| format!("argument {at}"), str::to_owned);
    is_one.then_some(ChangedNumber { name, here: a, there: b })
}

/// Splits `--size=8` into option and number; `8` is a number without an option.
fn split_number(word: &str) -> Option<(Option<&str>, u64)> {
    let (option, number) = word.split_once('=').map_or((None, word), |(option, number)| (Some(option), number));
    Some((option, number.parse().ok()?))
}

fn arguments(process: &Process) -> Option<&[String]> {
    process
        .records
        .iter()
        .find_map(|record| if let Record::Process { argv, .. } = record { Some(argv.as_slice()) } else { None })
}

fn find_handler(record: &Record) -> Option<(String, u32)> {
    if let Record::Oom { caught_at, .. } = record { caught_at.clone() } else { None }
}

fn time_of_error(record: &Record) -> u64 {
    if let Record::Oom { monotonic_ns, .. } = record { *monotonic_ns } else { 0 }
}

fn made_step_after_error(process: &Process) -> bool {
    process.records.iter().skip_while(|record| !is_error(record)).any(|record| matches!(record, Record::Step { .. }))
}

fn is_step_after(record: &Record, monotonic_ns: u64) -> bool {
    matches!(record, Record::Step { monotonic_ns: at, .. } if *at > monotonic_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::oom;

    fn process(argv: &str, records: Vec<Record>) -> Process {
        let first = Record::Process {
            pid: 1,
            rank: 0,
            local_rank: 0,
            world_size: 1,
            argv: argv.split(' ').map(str::to_owned).collect(),
            script_dir: String::new(),
            python: String::new(),
            executable: String::new(),
            torch: String::new(),
            cuda: None,
            cudnn: None,
            started_ns: 0,
            ancestors: Vec::new(),
            monotonic_ns: 0,
        };
        Process { records: [vec![first], records].concat(), ..Process::default() }
    }

    fn ran_out_at(caught_at: Option<u32>) -> Vec<Record> {
        let mut record = oom(caught_at, None);
        if let Record::Oom { monotonic_ns, .. } = &mut record {
            *monotonic_ns = 5;
        }
        vec![record]
    }

    fn step_at(monotonic_ns: u64) -> Vec<Record> {
        vec![Record::Step { step: 1, devices: Vec::new(), work: None, monotonic_ns }]
    }

    #[test]
    fn a_probe_is_for_a_program_that_trains_with_what_was_found() {
        let caught = || ran_out_at(Some(45));
        let trains = || process("train.py", step_at(9));
        // The number's name; the processes, of which the first ran out.
        let cases = [
            (
                Some("--size"),
                vec![process("train.py --size 8", caught()), process("train.py --size 4", vec![]), trains()],
            ),
            (
                Some("--size"),
                vec![process("train.py --size=8", caught()), process("train.py --size=4", vec![]), trains()],
            ),
            (Some("argument 1"), vec![process("train.py 8", caught()), process("train.py 4", vec![]), trains()]),
            // Nobody catches the error.
            (None, vec![process("p.py 8", ran_out_at(None)), process("p.py 4", vec![]), trains()]),
            // No smaller one was tried, or it ran out, too.
            (None, vec![process("p.py 8", caught()), process("p.py 16", vec![]), trains()]),
            (None, vec![process("p.py 8", caught()), process("p.py 4", caught()), trains()]),
            // Other arguments differ.
            (None, vec![process("p.py a 8", caught()), process("p.py b 4", vec![]), trains()]),
            (None, vec![process("p.py --a=8", caught()), process("p.py --b=4", vec![]), trains()]),
            // Of folds, one ran out; the one that ran out went on.
            (
                None,
                vec![
                    process("p.py --fold 2", caught()),
                    process("p.py --fold 1", vec![]),
                    process("p.py --fold 3", vec![]),
                    trains(),
                ],
            ),
            (None, vec![process("p.py 8", [caught(), step_at(7)].concat()), process("p.py 4", vec![]), trains()]),
            // Rows of a benchmark; a training that had ended before.
            (None, vec![process("p.py 8", caught()), process("p.py 4", step_at(9))]),
            (None, vec![process("p.py 8", caught()), process("p.py 4", vec![]), process("train.py", step_at(3))]),
        ];
        for (expected, processes) in cases {
            let run = Run { processes };
            let found = find_probes(&run.processes[0], &run);
            assert_eq!(found.map(|search| search.lowers).as_deref(), expected, "{run:?}");
        }
    }
}
