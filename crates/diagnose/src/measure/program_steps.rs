//! The numbers of optimizer steps in the program, where a dry run left some out.
//!
//! # Note [Program steps]
//! Marks and records count the steps that ran. Shortened loops leave steps out, and the agent's marks say how many so far: both together are the
//! number by which the program knows the step. Where loops were shortened and no mark says so, the numbers are unknown: the loops may have had
//! steps or none.

use std::collections::BTreeMap;

use trace::{Mark, Process};

/// The numbers of the steps of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgramSteps {
    /// The steps that were left out before each step that ran, where a mark says so.
    skipped: BTreeMap<u32, u32>,
    /// True if no loop was shortened.
    is_whole: bool,
}

impl ProgramSteps {
    /// Reads the marks of a process.
    pub(crate) fn of(process: &Process) -> ProgramSteps {
        let marks = process.snapshot.iter().flat_map(|snapshot| &snapshot.marks);
        let mut skipped: BTreeMap<u32, u32> = BTreeMap::new();
        for (step, count) in marks.filter_map(|mark| Some((mark.step, mark.skipped?))) {
            let most = skipped.entry(step).or_default();
            *most = count.max(*most);
        }
        ProgramSteps { is_whole: skipped.is_empty() && process.shortened.is_empty(), skipped }
    }

    /// Returns the program's number of the step of a mark; `None` if unknown.
    pub(crate) fn find_marked(&self, mark: &Mark) -> Option<u32> {
        let skipped = mark.skipped.or_else(|| self.count_skipped(mark.step.saturating_sub(1)))?;
        mark.step.checked_add(skipped)
    }

    /// Returns the program's number of a step that ran; `None` if unknown.
    pub(crate) fn find(&self, step: u32) -> Option<u32> {
        step.checked_add(self.count_skipped(step)?)
    }

    /// Returns the number of steps that were left out up to a step that ran.
    fn count_skipped(&self, step: u32) -> Option<u32> {
        let counted = self.skipped.range(..=step).next_back().map(|(_, count)| *count);
        let is_known = self.is_whole || !self.skipped.is_empty();
        counted.or(is_known.then_some(0))
    }
}

#[cfg(test)]
mod tests {
    use trace::Snapshot;
    use trace::run::ShortenedRecord;

    use super::*;

    fn steps(marks: &[(u32, Option<u32>)], is_shortened: bool) -> ProgramSteps {
        let marks = marks.iter().map(|&(step, skipped)| Mark { step, skipped, ..Mark::default() }).collect();
        let snapshot = Some(Snapshot { marks, ..Snapshot::default() });
        let shortened = if is_shortened { vec![ShortenedRecord::default()] } else { Vec::new() };
        ProgramSteps::of(&Process { snapshot, shortened, ..Process::default() })
    }

    #[test]
    fn steps_that_were_left_out_count() {
        let jumped = steps(&[(1, None), (4, None), (4, Some(496)), (5, Some(496))], true);
        let cases = [(1, Some(1)), (3, Some(3)), (4, Some(500)), (5, Some(501)), (9, Some(505))];
        for (step, expected) in cases {
            assert_eq!(jumped.find(step), expected, "{step}");
        }
    }

    #[test]
    fn without_shortened_loops_all_steps_ran_and_with_them_only_marks_tell() {
        let cases = [
            (steps(&[(1, None), (7, None)], false), Some(7)),
            (steps(&[(1, None), (7, None)], true), None),
            (steps(&[(1, Some(0)), (7, Some(0))], true), Some(7)),
        ];
        for (steps, expected) in cases {
            assert_eq!(steps.find(7), expected, "{steps:?}");
        }
    }
}
