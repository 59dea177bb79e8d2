//! The answer of `explain`, whatever its input was.

use report::Report;
use report::render::terminal::Detail;

use crate::args::Explain;
use crate::effects::publish;
use crate::error::Error;
use crate::output;

/// Writes the page that was asked for, and prints the report.
pub(super) fn deliver(report: &dyn Report, page: impl FnOnce() -> String, arguments: &Explain) -> Result<(), Error> {
    if let Some(path) = &arguments.output.html {
        publish::write_whole(path, &page())?;
    }
    let detail = if arguments.verbose { Detail::Full } else { Detail::Brief };
    output::show(report, arguments.output.format.chosen(), detail)
}
