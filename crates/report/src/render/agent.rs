//! `--format agent`, for coding agents: one JSON object with a line for each part of the answer, and nothing to scroll through.
//!
//! Every object has `headline`, `verdict`, `spare_bytes`, `cause`, `changes` and `next`; further keys stand only where they say something. Numbers
//! are bytes. Times are left out: the same input has the same output.

mod check;
mod explain;
mod fit;
mod lint;
mod object;

use self::object::{Object, lines_after_headline};
use super::concise::Concise;
use super::{Rendered, Renderer};
use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::RunReport;
use crate::sweep::SweepReport;
use crate::top::TopReport;
use crate::tune::TuneReport;

pub use self::object::write_error;

/// One compact object.
pub(super) struct Agent;

impl Renderer for Agent {
    fn against(&self, report: &AgainstReport) -> Rendered {
        Object::of(report).without_changes().notes(&lines_after_headline(&Concise.against(report)?)).write()
    }

    fn check(&self, report: &CheckReport) -> Rendered {
        check::describe(report).write()
    }

    fn explain(&self, report: &ExplainReport) -> Rendered {
        explain::describe(report).write()
    }

    fn fit(&self, report: &FitReport) -> Rendered {
        fit::describe(report).write()
    }

    fn lint(&self, report: &LintReport) -> Rendered {
        lint::describe(report).write()
    }

    fn now(&self, report: &NowReport) -> Rendered {
        let focused = report.focused().map(|device| super::now::list_holders(device, &report.folder));
        Object::of(report).without_changes().notes(&focused.unwrap_or_default()).write()
    }

    // An out-of-memory error is described as by `check`.
    fn run(&self, report: &RunReport) -> Rendered {
        let remarks = super::real_run::list_remarks(report);
        let object = match &report.out_of_memory {
            Some(error) => check::describe_error(report, error),
            None => Object::of(report).without_changes(),
        };
        object.notes(&remarks).write()
    }

    fn sweep(&self, report: &SweepReport) -> Rendered {
        let points = report.points.iter().map(|point| {
            serde_json::json!({
                "params": point.params, "gpu": point.gpu, "verdict": point.verdict, "spare_bytes": point.spare_bytes,
            })
        });
        let remarks = super::sweep::list_remarks(report);
        Object::of(report).without_changes().list("points", points).notes(&remarks).write()
    }

    fn top(&self, report: &TopReport) -> Rendered {
        Object::of(report).without_changes().notes(&lines_after_headline(&Concise.top(report)?)).write()
    }

    fn tune(&self, report: &TuneReport) -> Rendered {
        let setting = report.recommended.as_ref().map(|recommended| {
            serde_json::json!({"change": recommended.lines.bash, "before_bytes": report.current.reserved_bytes})
        });
        Object::of(report).row([("cause", None)]).list("changes", setting).write()
    }
}
