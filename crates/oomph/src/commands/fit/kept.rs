//! The last search of a command, kept for `--emit` and `--apply`.
//!
//! # Note [Kept searches]
//! A search is named by everything that the launcher knows before a run (Note `[Run cache]` in `crates/run/src/cache.rs`) and by the options
//! of the search. It holds while the program's own sources and configuration files have their contents. What the program wrote itself,
//! temporary files and the pipes of its workers are no reason to search again, as they are for the run cache: the changes that a plan makes
//! are in the sources.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use drive::Program;
use drive::dry_run::run_cache::name_of;
use drive::records::{self, KnownFile};
use report::fit::FitReport;
use report::words::count;
use run::cache::hash;
use serde::{Deserialize, Serialize};

use crate::args::Fit;

/// The kind of these records.
const KIND: &str = "searches";
/// Raised when the meaning of the fields changes.
const FORMAT: u32 = 1;

/// A search and its time.
#[derive(Debug, Serialize, Deserialize)]
struct KeptSearch {
    format: u32,
    /// Seconds since 1970.
    at: u64,
    sources: Vec<KnownFile>,
    report: FitReport,
}

/// Keeps a search whose program has these sources. A failure to keep it costs only the next search.
pub(super) fn keep(arguments: &Fit, program: &Program, report: &FitReport, sources: &[PathBuf]) {
    let sources = sources.iter().filter_map(|path| Some((path.clone(), records::digest(path)?))).collect();
    let search = KeptSearch { format: FORMAT, at: now(), sources, report: report.clone() };
    if let Err(error) = records::keep(KIND, &key(arguments, program), &search) {
        crate::output::say(&format!("the search is not kept: {error}"));
    }
}

/// Returns the kept search, with its age, if the program's sources are unchanged.
pub(super) fn find(arguments: &Fit, program: &Program) -> Option<FitReport> {
    let kept: KeptSearch = records::find(KIND, &key(arguments, program))?;
    let holds = kept.format == FORMAT && records::are_unchanged(&kept.sources);
    holds.then(|| FitReport { kept_seconds: Some(now().saturating_sub(kept.at)), ..kept.report })
}

/// Says how old the kept search is.
pub(super) fn say_age(seconds: u64) {
    let age = match seconds {
        0..120 => count(seconds, "second", "seconds"),
        120..7200 => count(seconds / 60, "minute", "minutes"),
        _ => count(seconds / 3600, "hour", "hours"),
    };
    crate::output::say(&format!("from the search {age} ago; --no-cache searches again"));
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}

/// The name of a search: outputs and the number of jobs do not count.
fn key(arguments: &Fit, program: &Program) -> String {
    let Fit { gpu, others, any_gpu, target, allow, deny, keep_numerics, try_all, prefer, with, batch_arg, run, .. } =
        arguments;
    let choice = format!(
        "{gpu:?} {others:?} {any_gpu} {target} {allow:?} {deny:?} {keep_numerics} {try_all} {prefer:?} {with:?}"
    );
    hash(&(FORMAT, name_of(program), choice, format!("{batch_arg:?} {run:?}")))
}
