//! `oomph rule`: the list of lint rules and of causes in runs, and the page of each.

use std::fmt::Write as _;

use lint::{MemoryEffect, Rule};

use crate::args;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;
use crate::spelling::nearest;

include!(concat!(env!("OUT_DIR"), "/rule_pages.rs"));

/// Prints the list, or one page.
pub(crate) fn run(arguments: &args::RuleName) -> Result<ExitStatus, Error> {
    let text = match &arguments.name {
        Some(name) => page(name).ok_or_else(|| unknown(name))?,
        None => list(),
    };
    output::answer(&text)?;
    Ok(ExitStatus::Fits)
}

/// The page of a lint rule.
pub(crate) fn lint_page(rule: &Rule) -> &'static str {
    find_page(LINT_PAGES, rule.id.0).unwrap_or_default()
}

/// Returns the page of a rule; lint and runs share some names, whose two pages are joined.
fn page(name: &str) -> Option<String> {
    let pages: Vec<&str> = [LINT_PAGES, RUN_PAGES].iter().filter_map(|pages| find_page(pages, name)).collect();
    (!pages.is_empty()).then(|| pages.join("\n"))
}

fn find_page(pages: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    pages.iter().find(|(page, _)| *page == name).map(|(_, text)| *text)
}

fn unknown(name: &str) -> Error {
    let names = LINT_PAGES.iter().chain(RUN_PAGES).map(|(name, _)| *name);
    Error::UnknownRule { name: name.to_owned(), nearest: nearest(name, names).map(str::to_owned) }
}

fn list() -> String {
    let mut text = "Patterns in source, found by `oomph lint`\n".to_owned();
    let is_style = |rule: &&Rule| rule.effect == MemoryEffect::Style;
    for rule in lint::rules().iter().filter(|rule| !is_style(rule)) {
        push_row(&mut text, rule.id.0, rule.summary);
    }
    text.push_str("\nThe same with --pedantic\n");
    for rule in lint::rules().iter().filter(is_style) {
        push_row(&mut text, rule.id.0, rule.summary);
    }
    text.push_str("\nCauses in runs, named by `oomph check` and `oomph explain`\n");
    for cause in causes::TABLE {
        push_row(&mut text, cause.name, cause.summary);
    }
    text
}

fn push_row(text: &mut String, name: &str, summary: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "  {name:<40} {summary}");
}
