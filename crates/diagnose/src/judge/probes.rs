//! Programs that search for a size with child processes: a process for each size, because a fresh process has a clean
//! allocator.

use report::{Location, Recovery, SizeSearch};
use trace::run::OomRecord;
use trace::{Process, Run};

use super::caught::own_line;
use super::unserved::{has_final_refusal, has_unserved_request, is_error};

/// Returns the search of a process that ran out. Conditions (they exclude benchmark rows, folds and seeds):
/// - the processes have the same arguments but for a number; from some number on they ran out, and all requests below
///   were served;
/// - the processes that ran out caught the error and made no optimizer step afterwards;
/// - a process with other arguments, the purpose of the probes, made a step after the last error.
pub(super) fn find_probes(process: &Process, run: &Run) -> Option<SizeSearch> {
    let number = run.processes.iter().find_map(|other| find_changed_number(process, other))?;
    let is_probe = |other: &&Process| std::ptr::eq(*other, process) || find_changed_number(process, other).is_some();
    let (probes, others): (Vec<&Process>, Vec<&Process>) = run.processes.iter().partition(is_probe);
    let (failed, served): (Vec<&Process>, Vec<&Process>) =
        probes.into_iter().partition(|probe| has_unserved_request(probe));
    let size = |probe: &&Process| find_changed_number(probe, process).map_or(number.here, |changed| changed.here);
    let is_threshold = served.iter().map(size).max()? < failed.iter().map(size).min()?;

    let errors: Vec<&OomRecord> = failed.iter().flat_map(|probe| &probe.ooms).filter(|oom| is_error(oom)).collect();
    let handlers = errors.iter().map(|oom| oom.caught_at.clone()).collect::<Option<Vec<_>>>()?;
    let (file, line) = handlers.into_iter().next()?;
    let last_error = errors.iter().map(|oom| oom.monotonic_ns).max()?;
    let is_refused = failed.iter().any(|probe| has_final_refusal(probe));
    let went_on = failed.iter().any(|probe| made_step_after_error(probe));
    let trains = others.iter().flat_map(|other| &other.steps).any(|step| step.monotonic_ns > last_error);
    (is_threshold && trains && !went_on && !is_refused).then(|| SizeSearch {
        lowers: Some(number.name),
        tried: Vec::new(),
        settled: None,
        caught_at: Location { file, line, column: None },
        errors: u64::try_from(errors.len()).unwrap_or(u64::MAX),
        recovery: Recovery::Smaller,
        refused_at: errors.first().and_then(|oom| own_line(&oom.frames, &process.identity.script_dir)),
    })
}

/// Checks that a process is a probe that ran out.
pub(crate) fn is_probe(process: &Process, run: &Run) -> bool {
    has_unserved_request(process) && find_probes(process, run).is_some()
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
    let (here, there) = (&here.identity.argv, &there.identity.argv);
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

fn made_step_after_error(process: &Process) -> bool {
    let first = process.ooms.iter().find(|oom| is_error(oom));
    first.is_some_and(|oom| process.steps_after(oom).next().is_some())
}

#[cfg(test)]
mod tests {
    use trace::run::{OomRecord, ProcessRecord, StepRecord};

    use super::*;
    use crate::testing::oom;

    fn process(argv: &str, rest: Process) -> Process {
        let argv = argv.split(' ').map(str::to_owned).collect();
        Process { identity: ProcessRecord { argv, ..ProcessRecord::default() }, ..rest }
    }

    fn ran_out_at(caught_at: Option<u32>) -> Process {
        Process { ooms: vec![OomRecord { monotonic_ns: 5, ..oom(caught_at, None) }], ..Process::default() }
    }

    fn step_at(monotonic_ns: u64) -> Process {
        Process { steps: vec![StepRecord { step: 1, monotonic_ns, ..StepRecord::default() }], ..Process::default() }
    }

    #[test]
    fn a_probe_is_for_a_program_that_trains_with_what_was_found() {
        let caught = || ran_out_at(Some(45));
        let trains = || process("train.py", step_at(9));
        // The number's name; the processes, of which the first ran out.
        let cases = [
            (
                Some("--size"),
                vec![
                    process("train.py --size 8", caught()),
                    process("train.py --size 4", Process::default()),
                    trains(),
                ],
            ),
            (
                Some("--size"),
                vec![
                    process("train.py --size=8", caught()),
                    process("train.py --size=4", Process::default()),
                    trains(),
                ],
            ),
            (
                Some("argument 1"),
                vec![process("train.py 8", caught()), process("train.py 4", Process::default()), trains()],
            ),
            // Nobody catches the error.
            (None, vec![process("p.py 8", ran_out_at(None)), process("p.py 4", Process::default()), trains()]),
            // No smaller size was tried, or the smaller size ran out, too.
            (None, vec![process("p.py 8", caught()), process("p.py 16", Process::default()), trains()]),
            (None, vec![process("p.py 8", caught()), process("p.py 4", caught()), trains()]),
            // Other arguments differ.
            (None, vec![process("p.py a 8", caught()), process("p.py b 4", Process::default()), trains()]),
            (None, vec![process("p.py --a=8", caught()), process("p.py --b=4", Process::default()), trains()]),
            // One of several folds ran out; its process went on.
            (
                None,
                vec![
                    process("p.py --fold 2", caught()),
                    process("p.py --fold 1", Process::default()),
                    process("p.py --fold 3", Process::default()),
                    trains(),
                ],
            ),
            (
                None,
                vec![
                    process("p.py 8", Process { steps: step_at(7).steps, ..caught() }),
                    process("p.py 4", Process::default()),
                    trains(),
                ],
            ),
            // Rows of a benchmark; a training that had ended before.
            (None, vec![process("p.py 8", caught()), process("p.py 4", step_at(9))]),
            (
                None,
                vec![
                    process("p.py 8", caught()),
                    process("p.py 4", Process::default()),
                    process("train.py", step_at(3)),
                ],
            ),
        ];
        for (expected, processes) in cases {
            let run = Run { processes };
            let found = find_probes(&run.processes[0], &run);
            assert_eq!(found.and_then(|search| search.lowers).as_deref(), expected, "{run:?}");
        }
    }
}
