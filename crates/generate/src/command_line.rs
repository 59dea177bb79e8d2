//! The reference of the command line, `docs/cli.md`: from clap's definition.

use crate::output::Output;

pub(crate) fn write() -> Output {
    Output::file("docs/cli.md", oomph::write_reference())
}
