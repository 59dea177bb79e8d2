//! The reference of the command line, `docs/cli.md`: from clap's definition.

use crate::output::Output;
use crate::reference;

pub(crate) fn write() -> Output {
    Output::file("docs/cli.md", reference::write_reference())
}
