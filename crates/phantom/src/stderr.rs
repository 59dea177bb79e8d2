//! Messages to people, on the program's standard error.

use std::io::Write as _;

/// Prints a line on standard error, with the name of the phantom.
pub(crate) fn complain(text: &str) {
    // A program may have closed its standard error; the line is lost then.
    let _ = writeln!(std::io::stderr(), "oomph phantom: {text}");
}
