//! The arguments of `oomph tune`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use diagnose::EmptyCacheAt;
use trace::{EventIndex, Release};

use crate::args::{Card, Check, Depth, Form, Printed};
use crate::world::JobArguments;

/// Shown below the help.
pub(crate) const EXAMPLES: &str = "\
Examples:
  oomph tune snapshot.pickle                    the settings that suit this program
  oomph tune rank0.pickle rank1.pickle          that suit the worst of several
  oomph tune run/                               what `oomph check --save` kept
  oomph tune --vram 16GiB snapshot.pickle       on another device
  oomph tune --empty-cache-at step snapshot.pickle
  oomph tune --json snapshot.pickle > tuned.json
  oomph tune --gpu rtx-4090 -- python train.py  records on a phantom GPU, tunes, and runs the winner

A snapshot needs its history: torch.cuda.memory._record_memory_history() before the first tensor on the GPU, and
torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") at the end. Ctrl-C ends the search with the best so far.
Exit status: 0 no setting is worth it, 1 one is, or it runs out under all, 2 oomph could not do its work.";

/// What to tune, and for which device.
#[derive(Debug, Args)]
pub(crate) struct Tune {
    #[command(flatten)]
    pub(crate) card: Card,

    #[command(flatten)]
    pub(crate) printed: Printed,

    /// Also try torch.cuda.empty_cache() there: after each `step`, or after the event of this number
    #[arg(long, value_name = "EVENT|step", value_delimiter = ',', value_parser = parse_place)]
    pub(crate) empty_cache_at: Vec<EmptyCacheAt>,

    /// The version of PyTorch, such as 2.11, where a snapshot leaves several
    #[arg(long, value_name = "VERSION", value_parser = parse_release)]
    pub(crate) torch: Option<Release>,

    #[command(flatten)]
    depth: Depth,

    /// Of a program: show what it prints, on standard error
    #[arg(long, short)]
    verbose: bool,

    /// Snapshots, and folders of `oomph check --save`; `-` is standard input, and so is no SNAPSHOT where it is no terminal;
    /// or one script
    #[arg(value_name = "SNAPSHOT")]
    pub(crate) files: Vec<PathBuf>,

    /// A command line to record
    #[arg(last = true, value_name = "COMMAND [ARGS]", conflicts_with = "files")]
    command: Vec<OsString>,
}

impl Tune {
    /// The program to record, as `check` takes it; `None` where snapshots were given.
    pub(super) fn program(&self) -> Option<Check> {
        let is_script = self.files.first().is_some_and(|file| file.extension().is_some_and(|ending| ending == "py"));
        if self.command.is_empty() && !is_script {
            return None;
        }
        let words = self.files.iter().map(|file| file.clone().into_os_string());
        Some(Check {
            card: self.card.clone(),
            world: JobArguments::default(),
            depth: self.depth.clone(),
            changes: Vec::new(),
            form: Form::default(),
            save: None,
            verbose: self.verbose,
            program: if is_script { words.collect() } else { self.command.clone() },
            is_command_line: !is_script,
            conf: None,
        })
    }
}

fn parse_place(text: &str) -> Result<EmptyCacheAt, String> {
    if text == "step" {
        return Ok(EmptyCacheAt::Step);
    }
    let event = text.parse().map_err(|_| format!("`{text}` is no place; expected `step` or the number of an event"))?;
    Ok(EmptyCacheAt::Event(EventIndex(event)))
}

fn parse_release(text: &str) -> Result<Release, String> {
    let wrong = || format!("`{text}` is no version of PyTorch; expected one such as 2.11");
    let mut parts = text.split('.');
    let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or_else(wrong);
    Ok(Release { major: number()?, minor: number()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_versions_are_read() {
        let places = [
            ("step", Some(EmptyCacheAt::Step)),
            ("7", Some(EmptyCacheAt::Event(EventIndex(7)))),
            ("x", None),
            ("-1", None),
        ];
        for (text, expected) in places {
            assert_eq!(parse_place(text).ok(), expected, "{text}");
        }
        let versions = [("2.11", Some((2, 11))), ("2.11.0+cu130", Some((2, 11))), ("2", None), ("two", None)];
        for (text, expected) in versions {
            assert_eq!(parse_release(text).ok().map(|release| (release.major, release.minor)), expected, "{text}");
        }
    }
}
