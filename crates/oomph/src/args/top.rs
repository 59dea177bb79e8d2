//! The arguments of `oomph top`.

use std::path::PathBuf;

use clap::Args;

use super::groups::FormatOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph top                                  all processes of all GPUs, once a second
  oomph top --once                           one look, as text
  oomph top --json                           one look, for a program
  oomph top --from smi.xml                   another machine: its `nvidia-smi -q -x > smi.xml`
  oomph phantom --gpus 8 -- oomph top        a machine of phantom GPUs

A program under `oomph run` shows PyTorch's view as well: allocated, reserved, cache, phase, step, growth, time to the error.
Keys: up and down, Enter opens a process, M P N sort, / filters, h all keys, q ends. Nothing is ever killed.
Exit status: 0 the GPUs were shown, 2 oomph could not do its work.";

#[derive(Debug, Args)]
pub(crate) struct Top {
    /// Look once and print; also the case where the output is no terminal, or a format for programs is asked for
    #[arg(long)]
    pub(crate) once: bool,

    /// Show the output of `nvidia-smi -q -x` in a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,

    /// The time between two looks
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_interval)]
    pub(crate) interval: f64,

    #[command(flatten)]
    pub(crate) format: FormatOptions,
}

fn parse_interval(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds from 0.1 to 3600".to_owned()),
    }
}
