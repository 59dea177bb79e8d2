//! The arguments of `oomph tune`.

use std::ffi::OsString;
use std::path::PathBuf;

use base::Words;
use clap::Args;
use diagnose::EmptyCacheAt;
use trace::{EventIndex, Release};

use super::groups::{FormatOptions, GpuOptions, RunArguments};

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph tune snapshot.pickle                    the settings that suit this program
  oomph tune rank0.pickle rank1.pickle          that suit the worst of several
  oomph tune run/                               a run that `oomph check --save` kept
  oomph tune --vram 16GiB snapshot.pickle       on another device
  oomph tune --empty-cache-at step snapshot.pickle
  oomph tune --json snapshot.pickle > tuned.json
  oomph tune --gpu rtx-4090 -- python train.py  records on a phantom GPU, tunes, and runs the winner

A snapshot needs its history: torch.cuda.memory._record_memory_history() before the first tensor on the GPU, and
torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") at the end. Ctrl-C ends the search with the best so far.
Exit status: 0 no setting is worth it, 1 one is, or it runs out under all, 2 oomph could not do its work.";

/// The recordings to tune, and the device.
#[derive(Debug, Args)]
pub(crate) struct Tune {
    #[command(flatten)]
    pub(crate) gpu: GpuOptions,

    /// Also try torch.cuda.empty_cache(): after each `step`, or after the event of this number
    #[arg(long, value_name = "EVENT|step", value_delimiter = ',', value_parser = parse_empty_cache, help_heading = "Search")]
    pub(crate) empty_cache_at: Vec<EmptyCacheAt>,

    /// The version of PyTorch, such as 2.11, if a snapshot could be from several
    #[arg(long, value_name = "VERSION", value_parser = parse_release, help_heading = "Search")]
    pub(crate) torch: Option<Release>,

    #[command(flatten)]
    pub(crate) run: RunArguments,

    #[command(flatten)]
    pub(crate) format: FormatOptions,

    /// Show the output of a program, on standard error
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,

    /// Snapshots, folders of `oomph check --save`, or one script; `-` or no SNAPSHOT reads standard input when piped
    #[arg(value_name = "SNAPSHOT")]
    pub(crate) files: Vec<PathBuf>,

    /// A command line to record
    #[arg(last = true, value_name = "COMMAND [ARGS]", conflicts_with = "files")]
    command: Vec<OsString>,
}

impl Tune {
    /// The program to record; `None` for snapshots.
    pub(crate) fn program_words(&self) -> Option<Words> {
        let is_script = self.files.first().is_some_and(|file| file.extension().is_some_and(|ending| ending == "py"));
        if is_script {
            return Some(Words::Script(self.files.iter().map(|file| file.clone().into_os_string()).collect()));
        }
        (!self.command.is_empty()).then(|| Words::CommandLine(self.command.clone()))
    }
}

fn parse_empty_cache(text: &str) -> Result<EmptyCacheAt, String> {
    if text == "step" {
        return Ok(EmptyCacheAt::Step);
    }
    let event = text.parse().map_err(|_| format!("`{text}` is unknown; expected `step` or the number of an event"))?;
    Ok(EmptyCacheAt::Event(EventIndex(event)))
}

fn parse_release(text: &str) -> Result<Release, String> {
    let wrong = || format!("`{text}` is not a version of PyTorch; expected one such as 2.11");
    let mut parts = text.split('.');
    let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or_else(wrong);
    Ok(Release { major: number()?, minor: number()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_versions_are_read() {
        let events = [
            ("step", Some(EmptyCacheAt::Step)),
            ("7", Some(EmptyCacheAt::Event(EventIndex(7)))),
            ("x", None),
            ("-1", None),
        ];
        for (text, expected) in events {
            assert_eq!(parse_empty_cache(text).ok(), expected, "{text}");
        }
        let versions = [("2.11", Some((2, 11))), ("2.11.0+cu130", Some((2, 11))), ("2", None), ("two", None)];
        for (text, expected) in versions {
            assert_eq!(parse_release(text).ok().map(|release| (release.major, release.minor)), expected, "{text}");
        }
    }
}
