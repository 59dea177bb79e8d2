//! `oomph remedy`: lists the remedies, or prints the page of one.

use std::fmt::Write as _;

use remedies::{TABLE, Trying};
use report::render::exactness;

use crate::args::RemedyName;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Prints the list, or one page.
pub(crate) fn run(arguments: &RemedyName) -> Result<ExitStatus, Error> {
    let text = match &arguments.name {
        Some(name) => page(name)?.to_owned(),
        None => list(),
    };
    output::answer(&text)?;
    Ok(ExitStatus::Fits)
}

fn page(name: &str) -> Result<&'static str, Error> {
    let found = PAGES.iter().find(|(page, _)| *page == name);
    found.map(|(_, text)| *text).ok_or_else(|| Error::UnknownRemedy(name.to_owned()))
}

fn list() -> String {
    let mut text = format!("{:<26} {:<20} {:<28} {}\n", "remedy", "results", "when it is tried", "summary");
    for spec in TABLE {
        let when = match spec.trying {
            Trying::Usual => "",
            Trying::Asked => "with --allow",
            Trying::Folklore => "to show that it does nothing",
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{:<26} {:<20} {when:<28} {}", spec.name, exactness(spec.exactness), spec.summary);
    }
    text
}
