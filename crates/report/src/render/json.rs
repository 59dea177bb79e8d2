//! `--json`: one object per report, with the version of its schema and the serialised fields of its type; sizes are plain integers in bytes.

use serde_json::{Value, json};

use super::{Rendered, Renderer, Report};
use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::document::{JsonReport, to_text};
use crate::explain::ExplainReport;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::RunReport;
use crate::sanitize::clean;
use crate::sweep::SweepReport;
use crate::top::TopReport;
use crate::tune::TuneReport;

/// Writes a report as an indented JSON object with a newline at its end. The keys of [`Report`] come first, after the version of the schema.
pub fn write<R: JsonReport + Report>(report: &R) -> Rendered {
    let mut document = json!({
        "schema_version": R::SCHEMA_VERSION,
        "headline": clean(&report.headline()),
        "verdict": report.verdict(),
        "spare_bytes": report.spare_bytes(),
        "next": report.next(),
    });
    if let (Value::Object(document), Value::Object(rest)) = (&mut document, serde_json::to_value(report)?) {
        for (key, value) in rest {
            document.entry(key).or_insert(value);
        }
    }
    to_text(&document)
}

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

    fn sweep(&self, report: &SweepReport) -> Rendered {
        write(report)
    }

    fn top(&self, report: &TopReport) -> Rendered {
        write(report)
    }

    fn tune(&self, report: &TuneReport) -> Rendered {
        write(report)
    }
}
