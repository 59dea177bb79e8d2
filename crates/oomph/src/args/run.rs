//! The arguments of `oomph run`.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use base::TrackerTarget;
use clap::{Args, ValueEnum};
use report::Change;
use report::render::Format;

use super::format;
use super::remedy::parse_real_change;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph run train.py --lr 1e-4
  oomph run -- torchrun --nproc-per-node 4 train.py
  oomph run --save run/ -- accelerate launch train.py
  oomph run --with optimizer-fused --with activation-checkpointing train.py
  oomph run --retry train.py                 after an out-of-memory error once more, with a verified change
  oomph run --against run/ train.py          recorded again, and compared with the first run
  oomph run --report end.json train.py       the explanation as JSON, too
  oomph explain run/                         the same explanation again, at any time
  oomph run --metrics :9400 train.py         http://127.0.0.1:9400/metrics, while it runs
  oomph run --log-to tensorboard,mlflow train.py   the same figures, in the trackers that are installed for the program's Python
  kill -USR2 PID                             a snapshot; `oomph explain --pid PID` only looks

The program runs as it would without oomph: on the GPUs of this machine, with its terminal, its signals and its files.
The exit status is the program's, or 128 and the number of the signal that ended it; 2 if it could not be started.";

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Keep the recording in DIR, also after a good end
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,

    /// Change the program while it runs, such as `optimizer-fused` or `gradient-accumulation=4`; `oomph remedy` lists the remedies
    #[arg(long = "with", value_name = "REMEDY[=VALUE]", value_parser = parse_real_change, conflicts_with = "retry", help_heading = "Changes")]
    pub(crate) changes: Vec<Change>,

    /// After an out-of-memory error before the first step, search for a change by dry runs, and start again with it, at most N times [default: 1]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = clap::value_parser!(u32).range(1..=9), help_heading = "Changes")]
    pub(crate) retry: Option<u32>,

    /// Retry also after a step: the program resumes from its own checkpoint
    #[arg(long, requires = "retry", help_heading = "Changes")]
    pub(crate) resumes: bool,

    /// Retry also with changes of the results: other numerics, another model, a smaller batch
    #[arg(long, requires = "retry", help_heading = "Changes")]
    pub(crate) retry_changes_results: bool,

    /// Compare with the run that was recorded in DIR: the first request that differs, and the lines at the peak
    #[arg(long, value_name = "DIR")]
    pub(crate) against: Option<PathBuf>,

    /// Print the whole report after an error
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Also write the report to FILE at the end: JSON, a page if the name ends in `.html`, Markdown if it ends in `.md`
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// The format of the report in FILE, in place of the one that its name tells
    #[arg(long, value_name = "FORMAT", value_parser = format::parser(), requires = "report")]
    format: Option<Format>,

    /// Write figures once a second: to a FILE, one JSON line per process, or for Prometheus at an ADDRESS such as `:9400`
    #[arg(long, value_name = "FILE|ADDRESS", value_parser = parse_target)]
    pub(crate) metrics: Option<MetricsTarget>,

    /// Log figures once a second to a tracker: tensorboard, wandb, mlflow or trackio; `=PLACE` is the folder, project or experiment
    #[arg(long, value_name = "TRACKER[=PLACE]", value_delimiter = ',', value_parser = parse_tracker)]
    pub(crate) log_to: Vec<TrackerTarget>,

    /// The longest wait for the trackers after the program's end
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = clap::value_parser!(u32).range(0..=3600), requires = "log_to")]
    pub(crate) log_wait: u32,

    /// The signal to oomph for a snapshot of the recording; the program does not see it
    #[arg(long, value_name = "SIGNAL", value_enum, ignore_case = true, default_value = "USR2")]
    pub(crate) snapshot_signal: SnapshotSignal,

    /// The Python that runs the script [default: the active environment's, else `python3`]
    #[arg(long, value_name = "PATH", env = crate::environment::PYTHON)]
    pub(crate) python: Option<PathBuf>,

    /// The script and its arguments; after `--`, any command line
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT [ARGS]")]
    pub(crate) program: Vec<OsString>,
}

/// The name of the command, whose standard output is its program's.
pub(super) const RUN: &str = "run";
/// The name of the command behind `OOMPH_RUN`.
pub(super) const RECORD_INTO: &str = "record-into";

#[derive(Debug, Args)]
pub(crate) struct RecordInto {
    /// The folder for recordings
    pub(crate) folder: PathBuf,

    /// The command line of the first process
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) program: Vec<OsString>,
}

/// The form of the report that a file gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportKind {
    /// An HTML page.
    Page,
    /// A format of all commands.
    Text(Format),
}

impl Run {
    /// The form of the report for `--report`.
    pub(crate) fn report_kind(&self) -> ReportKind {
        ReportKind::of(self.report.as_deref().unwrap_or(Path::new("")), self.format)
    }
}

impl ReportKind {
    /// The form by the format, else by the name of the file.
    pub(super) fn of(path: &Path, format: Option<Format>) -> ReportKind {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match (format, ending.to_ascii_lowercase().as_str()) {
            (Some(format), _) => ReportKind::Text(format),
            (None, "html" | "htm") => ReportKind::Page,
            (None, "md") => ReportKind::Text(Format::Markdown),
            (None, _) => ReportKind::Text(Format::Json),
        }
    }
}

/// The place for the figures of a running program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MetricsTarget {
    File(PathBuf),
    Address(SocketAddr),
}

/// A signal that asks for a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SnapshotSignal {
    #[value(name = "USR2")]
    Usr2,
    #[value(name = "USR1")]
    Usr1,
    /// All signals are the program's.
    #[value(name = "none")]
    Nothing,
}

/// The trackers that the helper knows.
const TRACKERS: [&str; 4] = ["tensorboard", "wandb", "mlflow", "trackio"];

fn parse_tracker(text: &str) -> Result<TrackerTarget, String> {
    let (name, place) = text.split_once('=').unwrap_or((text, ""));
    if !TRACKERS.contains(&name) {
        return Err(format!("`{name}` is not a tracker; expected {} or {}", TRACKERS[..3].join(", "), TRACKERS[3]));
    }
    Ok(TrackerTarget { name: name.to_owned(), place: place.to_owned() })
}

/// A host and a port are an address; all else is a file, also with a `/` in front of the last part.
fn parse_target(text: &str) -> Result<MetricsTarget, String> {
    let file = || Ok(MetricsTarget::File(PathBuf::from(text)));
    if text.is_empty() {
        return Err("the name is empty; expected a file or an address such as `:9400`".to_owned());
    }
    let Some((host, port)) = text.rsplit_once(':').filter(|_| !text.contains('/')) else { return file() };
    if port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return file();
    }
    let port = port.parse().map_err(|_| format!("`{port}` is not a port; expected 0 to 65535"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host {
        "" | "localhost" => Ok(MetricsTarget::Address((Ipv4Addr::LOCALHOST, port).into())),
        _ => match host.parse::<IpAddr>() {
            Ok(ip) if ip.is_loopback() => Ok(MetricsTarget::Address((ip, port).into())),
            _ => Err(format!(
                "`{host}` is not an address of this machine alone; expected `127.0.0.1:{port}` or `:{port}`, or `./{text}` for a file"
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracker_is_a_name_with_a_place() {
        let of = |name: &str, place: &str| Ok(TrackerTarget { name: name.to_owned(), place: place.to_owned() });
        assert_eq!(parse_tracker("wandb"), of("wandb", ""));
        assert_eq!(parse_tracker("tensorboard=logs/a=b"), of("tensorboard", "logs/a=b"));
        let refused = "`comet` is not a tracker; expected tensorboard, wandb, mlflow or trackio";
        assert_eq!(parse_tracker("comet"), Err(refused.to_owned()));
    }

    #[test]
    fn a_target_is_a_file_or_an_address_of_this_machine() {
        let file = |text: &str| Ok(MetricsTarget::File(PathBuf::from(text)));
        let at = |text: &str| Ok(MetricsTarget::Address(text.parse().expect("an address")));
        let cases = [
            ("metrics.jsonl", file("metrics.jsonl")),
            ("./a:1", file("./a:1")),
            ("run:today", file("run:today")),
            ("a:", file("a:")),
            (":9400", at("127.0.0.1:9400")),
            ("localhost:1", at("127.0.0.1:1")),
            ("127.0.0.2:9400", at("127.0.0.2:9400")),
            ("[::1]:9400", at("[::1]:9400")),
            ("0.0.0.0:9400", Err("`0.0.0.0` is not")),
            ("10.1.2.3:9400", Err("`10.1.2.3` is not")),
            ("node7:9400", Err("`node7` is not")),
            (":70000", Err("`70000` is not a port")),
            ("", Err("the name is empty")),
        ];
        for (text, expected) in cases {
            match (parse_target(text), expected) {
                (Err(found), Err(expected)) => assert!(found.starts_with(expected), "{text}: {found}"),
                (found, expected) => {
                    assert_eq!(found.as_ref().map_err(String::as_str), expected.as_ref().map_err(|it| *it), "{text}");
                }
            }
        }
    }
}
