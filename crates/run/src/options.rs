//! What a user may ask of a dry run that changes what it records: an option is a field of [`RunOptions`] and a line of its `variables`.

use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;

use trace::run::Job;
use wire::variable;

/// The most steps after the wanted step, for a program of short steps: a bound on the size of the recording.
const MOST_MORE_STEPS: u32 = 20_000;

/// The options of a dry run. The key of the run cache is a hash of the whole.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct RunOptions {
    /// The event that ends the program before its own end.
    pub stop_at: StopAt,
    /// The share of elements that value-dependent shapes are assumed to select.
    pub fraction: Fraction,
    /// True to make up well-known data sets that are not there.
    pub fakes_data: bool,
    /// The job of which single ranks run; `None` where every rank is a process.
    pub job: Option<Job>,
    /// The number of GPUs of the machine.
    pub devices: u32,
}

impl Default for RunOptions {
    /// One GPU, and the end of the third step: by then an optimizer has its state, and a step repeats another.
    fn default() -> RunOptions {
        RunOptions { stop_at: StopAt::step(3), fraction: Fraction(0.5), fakes_data: false, job: None, devices: 1 }
    }
}

impl RunOptions {
    /// The options of a real run: the program's own end, on all GPUs of the machine.
    pub(crate) fn real() -> RunOptions {
        RunOptions { stop_at: StopAt::End, fraction: Fraction(0.0), fakes_data: false, job: None, devices: 0 }
    }

    /// Returns the number of GPUs per process: all GPUs of one machine of the job.
    pub fn devices(&self) -> u32 {
        self.job.as_ref().map_or(self.devices, |job| job.local_world_size)
    }

    /// Lists the agent's variables of a run with these options; `None` for a variable that is not set.
    pub(crate) fn variables(&self) -> [(&'static str, Option<String>); 7] {
        // The number of devices is part of the device (`environment.rs`).
        let RunOptions { stop_at, fraction, fakes_data, job, devices: _ } = self;
        [
            (variable::STEPS, Some(stop_at.number().to_string())),
            (variable::MORE_STEPS, stop_at.most_more().map(|steps| steps.to_string())),
            (variable::LIFE, stop_at.is_life().then(|| "1".to_owned())),
            (variable::FRACTION, Some(fraction.0.to_string())),
            (variable::FAKE_DATA, fakes_data.then(|| "1".to_owned())),
            (variable::WORLD_SIZE, job.as_ref().map(|job| job.world_size.to_string())),
            (variable::LOCAL_WORLD_SIZE, job.as_ref().map(|job| job.local_world_size.to_string())),
        ]
    }
}

/// A share of elements, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction(pub f64);

impl Hash for Fraction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// The event that ends a program before its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopAt {
    /// The end of this optimizer step.
    Step {
        /// The step, counted from 1.
        step: NonZeroU32,
        /// The most further steps, while there is more to see and a step takes little time (`python/oomph/agent/position/course.py`).
        most_more: u32,
    },
    /// None: the program visits its whole life, with shortened loops.
    Life {
        /// The number of first steps; where no loop can be shortened, the end of this step stops the program.
        step: NonZeroU32,
        /// The most further steps of a program that is stopped.
        most_more: u32,
    },
    /// None: the program runs to its end.
    End,
}

impl StopAt {
    /// An optimizer step; 0 stands for the end of the program.
    pub fn step(step: u32) -> StopAt {
        NonZeroU32::new(step).map_or(StopAt::End, |step| StopAt::Step { step, most_more: 0 })
    }

    /// The same with more steps, while there is more to see.
    #[must_use]
    pub fn with_more(self) -> StopAt {
        match self {
            StopAt::Step { step, .. } => StopAt::Step { step, most_more: MOST_MORE_STEPS },
            StopAt::Life { .. } | StopAt::End => self,
        }
    }

    /// The same number of first steps, and then the rest of the program's life with shortened loops.
    #[must_use]
    pub fn with_life(self) -> StopAt {
        match self {
            StopAt::Step { step, .. } => StopAt::Life { step, most_more: MOST_MORE_STEPS },
            StopAt::Life { .. } | StopAt::End => self,
        }
    }

    /// The same number of first steps alone, with all passes of their loops.
    #[must_use]
    pub fn without_life(self) -> StopAt {
        match self {
            StopAt::Life { step, .. } => StopAt::step(step.get()),
            StopAt::Step { .. } | StopAt::End => self,
        }
    }

    /// True if the loops of the program are shortened.
    pub fn is_life(self) -> bool {
        matches!(self, StopAt::Life { .. })
    }

    /// The number of the optimizer step; 0 for the end of the program.
    pub fn number(self) -> u32 {
        match self {
            StopAt::Step { step, .. } | StopAt::Life { step, .. } => step.get(),
            StopAt::End => 0,
        }
    }

    /// The most further steps; `None` for no further step.
    fn most_more(self) -> Option<u32> {
        match self {
            StopAt::Step { most_more, .. } | StopAt::Life { most_more, .. } => {
                Some(most_more).filter(|steps| *steps > 0)
            }
            StopAt::End => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_a_variable_where_it_says_something() {
        let job = Some(Job { world_size: 8, local_world_size: 4, ranks: vec![5] });
        let all = RunOptions { stop_at: StopAt::step(2).with_more(), fakes_data: true, job, ..RunOptions::default() };
        let set = |options: &RunOptions| {
            let variables = options.variables().into_iter();
            variables.filter_map(|(name, value)| Some(format!("{name}={}", value?))).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(set(&RunOptions::default()), "OOMPH_STEPS=3 OOMPH_FRACTION=0.5");
        assert_eq!(
            set(&all),
            "OOMPH_STEPS=2 OOMPH_MORE_STEPS=20000 OOMPH_FRACTION=0.5 OOMPH_FAKE_DATA=1 OOMPH_WORLD_SIZE=8 OOMPH_LOCAL_WORLD_SIZE=4"
        );
        assert_eq!(set(&RunOptions::real()), "OOMPH_STEPS=0 OOMPH_FRACTION=0");
        let life = RunOptions { stop_at: StopAt::step(3).with_life(), ..RunOptions::default() };
        assert_eq!(set(&life), "OOMPH_STEPS=3 OOMPH_MORE_STEPS=20000 OOMPH_LIFE=1 OOMPH_FRACTION=0.5");
    }

    #[test]
    fn a_program_that_runs_to_its_end_has_its_whole_life() {
        let cases = [(StopAt::step(3), true), (StopAt::step(3).with_more(), true), (StopAt::End, false)];
        for (stop_at, expected) in cases {
            assert_eq!(stop_at.with_life().is_life(), expected, "{stop_at:?}");
        }
    }
}
