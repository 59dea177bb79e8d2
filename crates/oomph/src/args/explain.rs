//! The arguments of `oomph explain`.

use std::path::PathBuf;

use clap::Args;

use super::groups::OutputOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph explain crash.log                    the error in a log
  oomph explain snapshot.pickle              also in gzip, zstd, zip, or as JSON
  oomph explain crash.log snapshot.pickle    both, of one crash
  oomph explain before.pickle after.pickle   compared: the growth, and where
  oomph explain rank0.pickle rank1.pickle    one job; a folder is a job too
  oomph explain yesterday/ today/            two recorded runs: where they part
  oomph explain run/                         a run that `oomph run` or `oomph check --save` kept
  oomph explain --pid 4711                   what a program under `oomph run` holds now
  oomph explain --slurm-job 123              the logs and the recording of a job, and why Slurm ended it
  python train.py 2>&1 | oomph explain
  nvidia-smi -q | oomph explain - crash.log
  oomph explain --html why.html snapshot.pickle

The content of a file tells its kind, and its name the rank: rank0, rank_1, -r2. Nothing in a file is executed.
Exit status: 0 nothing was found, 1 something was (or two runs differ), 2 oomph could not do its work, or a text has no such error.";

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) output: OutputOptions,

    /// Print the whole report about a text: the figures, all findings, how to do what helps
    #[arg(short, long, help_heading = "Output")]
    pub(crate) verbose: bool,

    /// Look at a running program: the process of an `oomph run`, or one under it
    #[arg(long, value_name = "PID", conflicts_with = "files", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,

    /// Explain the end of a job of Slurm: its logs, its recording if there is one, and the facts that Slurm knows; `123`, `123_4` or `123+0`
    #[arg(long, value_name = "ID", conflicts_with_all = ["files", "pid"], value_parser = parse_job)]
    pub(crate) slurm_job: Option<String>,

    /// Logs, snapshots, tables, folders; `-` or no FILE reads standard input when piped
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// Refuses texts that are no id, which `scontrol` would answer with all jobs.
fn parse_job(text: &str) -> Result<String, String> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.split_once(['_', '+']).map_or((text, "0"), |parts| parts);
    if is_number(parts.0) && is_number(parts.1) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}` is not a job; expected 123, 123_4 for a task of an array, or 123+0 for a part of a heterogeneous job"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_a_number_with_a_part() {
        for text in ["123", "123_4", "123+0"] {
            assert_eq!(parse_job(text).as_deref(), Ok(text));
        }
        for text in ["", "all", "123_", "_4", "123_[1-3]", "12a", "-1", "1,2", "1.batch"] {
            assert!(parse_job(text).is_err(), "{text}");
        }
    }
}
