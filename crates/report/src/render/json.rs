//! `--json`: one object per report, with the version of its schema and the serialised fields of its type; sizes are plain integers in bytes.

use super::{Rendered, Renderer};
use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::document::write;
use crate::explain::ExplainReport;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::RunReport;
use crate::top::TopReport;
use crate::tune::TuneReport;

/// The JSON form: an indented object with a newline at its end.
pub(super) struct Json;

impl Renderer for Json {
    fn against(&self, report: &AgainstReport) -> Rendered {
        write(report)
    }

    fn check(&self, report: &CheckReport) -> Rendered {
        write(report)
    }

    fn explain(&self, report: &ExplainReport) -> Rendered {
        write(report)
    }

    fn fit(&self, report: &FitReport) -> Rendered {
        write(report)
    }

    fn lint(&self, report: &LintReport) -> Rendered {
        write(report)
    }

    fn now(&self, report: &NowReport) -> Rendered {
        write(report)
    }

    fn run(&self, report: &RunReport) -> Rendered {
        write(report)
    }

    fn top(&self, report: &TopReport) -> Rendered {
        write(report)
    }

    fn tune(&self, report: &TuneReport) -> Rendered {
        write(report)
    }
}
