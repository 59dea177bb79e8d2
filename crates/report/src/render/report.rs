//! The head of every report: its first sentence, its verdict, the spare memory and the next command.

use trace::Bytes;

use super::{Rendered, Renderer, against, answer, fit, lint, now, real_run, sweep, tune, verdict};
use crate::against::AgainstReport;
use crate::check::{CheckReport, Verdict};
use crate::explain::ExplainReport;
use crate::fit::{FitReport, FitVerdict};
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::{End, RunReport};
use crate::sweep::SweepReport;
use crate::top::{self, TopReport};
use crate::tune::TuneReport;

/// The report of a command.
pub trait Report {
    /// Writes the report with the renderer's method for its command.
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered;

    /// Returns the answer as the first paragraph of every format has it. Foreign names in it are not yet clean (Note [Foreign text]).
    fn headline(&self) -> String;

    /// Returns the answer in one word, one of [`VERDICTS`](crate::document::JsonReport::VERDICTS).
    fn verdict(&self) -> &'static str;

    /// Returns the device's memory less the need, negative for a need that is larger; `None` for a command without a device.
    fn spare_bytes(&self) -> Option<i64> {
        None
    }

    /// Returns the words of the next command, unquoted; `None` without one.
    fn next(&self) -> Option<Vec<String>> {
        None
    }
}

impl Report for AgainstReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.against(self)
    }

    fn headline(&self) -> String {
        against::headline(self)
    }

    fn verdict(&self) -> &'static str {
        if self.is_equal() { "equal" } else { "different" }
    }
}

impl Report for CheckReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.check(self)
    }

    fn headline(&self) -> String {
        verdict::sentence(self)
    }

    fn verdict(&self) -> &'static str {
        match self.verdict {
            Verdict::Fits { .. } => "fits",
            Verdict::FitsSoFar { .. } => "fits_so_far",
            Verdict::Oom { .. } => "oom",
            Verdict::Incomplete { .. } => "incomplete",
        }
    }

    fn spare_bytes(&self) -> Option<i64> {
        Some(match self.verdict {
            Verdict::Fits { spare_bytes, .. } | Verdict::FitsSoFar { spare_bytes, .. } => signed(spare_bytes),
            Verdict::Oom { spare_bytes, .. } | Verdict::Incomplete { spare_bytes, .. } => spare_bytes,
        })
    }

    fn next(&self) -> Option<Vec<String>> {
        self.next.clone()
    }
}

impl Report for ExplainReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.explain(self)
    }

    fn headline(&self) -> String {
        answer::answer(self)
    }

    fn verdict(&self) -> &'static str {
        ExplainReport::verdict(self).word()
    }
}

impl Report for FitReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.fit(self)
    }

    fn headline(&self) -> String {
        fit::headline(self)
    }

    fn verdict(&self) -> &'static str {
        match self.verdict {
            FitVerdict::Fits => "fits",
            FitVerdict::FitsWithPlan => "fits-with-plan",
            FitVerdict::DoesNotFit => "does-not-fit",
            FitVerdict::Unknown => "unknown",
        }
    }

    /// The target less the need of the program, unchanged or with the first plan. A search for a batch size has no single need.
    fn spare_bytes(&self) -> Option<i64> {
        let is_known = self.verdict != FitVerdict::Unknown && self.max_batch.is_none();
        let need = self.plans.first().map_or(self.before, |plan| plan.peak).device_bytes;
        is_known.then(|| signed(self.gpu.target_bytes).saturating_sub(signed(need)))
    }

    fn next(&self) -> Option<Vec<String>> {
        self.next.clone()
    }
}

impl Report for LintReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.lint(self)
    }

    fn headline(&self) -> String {
        lint::headline(self)
    }

    fn verdict(&self) -> &'static str {
        match (self.findings.is_empty(), self.unreadable.is_empty()) {
            (false, _) => "found",
            (true, false) => "incomplete",
            (true, true) => "clean",
        }
    }
}

impl Report for NowReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.now(self)
    }

    fn headline(&self) -> String {
        now::headline(self)
    }

    fn verdict(&self) -> &'static str {
        match (self.devices.is_empty(), self.is_growing()) {
            (true, _) => "unused",
            (false, true) => "growing",
            (false, false) => "steady",
        }
    }
}

impl Report for RunReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.run(self)
    }

    fn headline(&self) -> String {
        real_run::headline(self)
    }

    fn verdict(&self) -> &'static str {
        match self.end {
            _ if self.out_of_memory.is_some() => "oom",
            End::Good if self.is_good() => "good",
            End::Good => "caught",
            End::Status { .. } | End::Signal { .. } => "failed",
            End::Open => "open",
        }
    }

    fn spare_bytes(&self) -> Option<i64> {
        let spare = || i64::try_from(self.memory.as_ref()?.spare_bytes?.0).ok();
        self.out_of_memory.as_ref().map_or_else(spare, Report::spare_bytes)
    }

    fn next(&self) -> Option<Vec<String>> {
        self.out_of_memory.as_ref()?.next()
    }
}

impl Report for SweepReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.sweep(self)
    }

    fn headline(&self) -> String {
        sweep::headline(self)
    }

    fn verdict(&self) -> &'static str {
        let fits = |point: &crate::sweep::SweepPoint| point.verdict.is_good();
        match (self.points.iter().any(fits), self.points.iter().all(fits)) {
            _ if self.is_partial => "partial",
            (true, true) => "all_fit",
            (true, false) => "some_fit",
            (false, _) => "none_fits",
        }
    }
}

impl Report for TopReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.top(self)
    }

    fn headline(&self) -> String {
        top::headline(self)
    }

    fn verdict(&self) -> &'static str {
        if self.remarks.is_empty() { "calm" } else { "alert" }
    }
}

impl Report for TuneReport {
    fn render_with(&self, renderer: &dyn Renderer) -> Rendered {
        renderer.tune(self)
    }

    fn headline(&self) -> String {
        tune::headline(self)
    }

    fn verdict(&self) -> &'static str {
        match (&self.recommended, self.current.oom) {
            (Some(_), _) => "recommended",
            (None, true) => "oom",
            (None, false) => "nothing_better",
        }
    }
}

/// Sizes of devices are far below the largest number with a sign.
fn signed(bytes: Bytes) -> i64 {
    i64::try_from(bytes.0).unwrap_or(i64::MAX)
}
