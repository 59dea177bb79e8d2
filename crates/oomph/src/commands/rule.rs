//! `oomph rule`: what lint looks for and what runs show, and a page for each.

use std::fmt::Write as _;

use lint::{Effect, Rule};

use crate::args;
use crate::error::Error;
use crate::{ExitStatus, output};

include!(concat!(env!("OUT_DIR"), "/rule_pages.rs"));

/// Prints the list, or one page.
pub(crate) fn run(arguments: &args::Rule) -> Result<ExitStatus, Error> {
    let text = match &arguments.name {
        Some(name) => page(name).ok_or_else(|| unknown(name))?,
        None => list(),
    };
    output::answer(&text)?;
    Ok(ExitStatus::Fits)
}

/// The page of a rule of lint's.
pub(crate) fn lint_page(rule: &Rule) -> &'static str {
    found(LINT_PAGES, rule.id.0).unwrap_or_default()
}

/// The name that is most like `text`.
pub(crate) fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const LEAST: f64 = 0.8;
    let alike = names.map(|name| (strsim::jaro_winkler(text, name), name)).filter(|(alike, _)| *alike >= LEAST);
    alike.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}

/// A rule of both kinds has both pages.
fn page(name: &str) -> Option<String> {
    let pages: Vec<&str> = [LINT_PAGES, RUN_PAGES].iter().filter_map(|pages| found(pages, name)).collect();
    (!pages.is_empty()).then(|| pages.join("\n"))
}

fn found(pages: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    pages.iter().find(|(page, _)| *page == name).map(|(_, text)| *text)
}

fn unknown(name: &str) -> Error {
    let names = LINT_PAGES.iter().chain(RUN_PAGES).map(|(name, _)| *name);
    Error::UnknownRule { name: name.to_owned(), nearest: nearest(name, names).map(str::to_owned) }
}

fn list() -> String {
    let mut text = format!("{:<42} {}\n", "rule of lint", "memory");
    for rule in lint::rules() {
        let effect = match rule.effect {
            Effect::Grows => "grows",
            Effect::Wastes => "wasted",
            Effect::Style => "none today; with --pedantic",
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{:<42} {effect}", rule.id);
    }
    text.push_str("\nseen in runs, by check and explain\n");
    for (name, _) in RUN_PAGES {
        let _ = writeln!(text, "{name}");
    }
    text
}
