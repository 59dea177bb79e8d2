//! Performs the runs of a search, and shows the progress.

use diagnose::{Runner, Trial, Variant};
use drive::dry_run::run_cache::RunCache;
use drive::dry_run::trial_runner::TrialRunner;
use gpus::Rates;
use trace::run::GpuWork;

use crate::effects::search_progress::SearchProgress;

/// A runner whose results are shown.
pub(super) struct ShownRunner<'a> {
    pub(super) runner: TrialRunner<'a>,
    pub(super) display: &'a SearchProgress,
    /// The speed of the GPU.
    pub(super) rates: Rates,
}

impl Runner for ShownRunner<'_> {
    type Error = base::Error;

    fn run(&mut self, variants: &[Variant], done: &mut dyn FnMut(usize, Trial)) -> Result<bool, base::Error> {
        let display = self.display;
        self.runner.run(variants, &mut |index, trial| {
            display.show(&variants[index], &trial);
            done(index, trial);
        })
    }

    fn run_alone(&mut self, variant: &Variant) -> Result<Option<Trial>, base::Error> {
        self.runner.run_alone(variant)
    }

    fn forget(&mut self) {
        self.runner.cache().into_iter().for_each(RunCache::forget);
    }

    fn seconds(&self, work: &GpuWork) -> f64 {
        self.rates.seconds(work)
    }
}
