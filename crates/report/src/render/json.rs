//! `--json`: one object per report, with the serialised fields of its type; sizes are plain integers in bytes.

use serde::Serialize;

use super::{Rendered, Renderer};
use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::tune::TuneReport;

/// The JSON form: an indented object with a newline at its end.
pub(super) struct Json;

impl Renderer for Json {
    fn check(&self, report: &CheckReport) -> Rendered {
        object(report)
    }

    fn explain(&self, report: &ExplainReport) -> Rendered {
        object(report)
    }

    fn fit(&self, report: &FitReport) -> Rendered {
        object(report)
    }

    fn lint(&self, report: &LintReport) -> Rendered {
        object(report)
    }

    fn tune(&self, report: &TuneReport) -> Rendered {
        object(report)
    }
}

pub(super) fn object(report: &impl Serialize) -> Rendered {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}
