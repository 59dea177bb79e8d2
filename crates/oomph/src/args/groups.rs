//! Options that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use report::render::Format;
use run::{Fraction, RunOptions, StopAt};
use trace::Bytes;
use trace::run::Job;

use super::format;

/// The GPU that a program sees.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "GPU")]
pub(crate) struct GpuOptions {
    /// The GPU, such as `rtx-4090`; `oomph gpus` lists them [default: this machine's, else an RTX 4090]
    #[arg(long, value_name = "NAME")]
    pub(crate) gpu: Option<String>,

    /// The memory of the GPU, such as `16GiB`, in place of the known figure
    #[arg(long, value_name = "SIZE", value_parser = gpus::parse_size)]
    pub(crate) vram: Option<Bytes>,

    /// The number of GPUs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) gpus: u32,
}

/// The memory of a GPU that is not free.
#[derive(Clone, Debug, Args)]
pub(crate) struct OthersOption {
    /// The memory that other processes use of each GPU, such as `6GiB`
    #[arg(long, value_name = "SIZE", value_parser = gpus::parse_size, help_heading = "GPU")]
    pub(crate) others: Option<Bytes>,
}

/// The length of a run, and the Python that makes it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Run")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct RunArguments {
    /// Stop the program after N optimizer steps; 0 runs it to its end [default: 3; of `check` and `fit`, its end with shortened loops]
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u32>,

    /// Stop a program that takes longer
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = parse_seconds)]
    pub(crate) timeout: Duration,

    /// Share of elements that shapes depending on computed values (nonzero, masks) are assumed to select [default: 0.5]
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(crate) fraction: Option<f64>,

    /// Keep the new files of the program's first run; existing files stay as they are
    #[arg(long)]
    pub(crate) keep_files: bool,

    /// Refuse every connection of the program to others, in the first run too
    #[arg(long, conflicts_with = "online")]
    pub(crate) offline: bool,

    /// Let every run use the network, and experiment trackers and uploads work
    #[arg(long)]
    pub(crate) online: bool,

    /// Make up well-known data sets that are not on this machine: of the right shapes, with values of no meaning
    #[arg(long)]
    fake_data: bool,

    /// The Python that runs the script [default: the active environment's, else `python3`]
    #[arg(long, value_name = "PATH", env = crate::environment::PYTHON)]
    pub(crate) python: Option<PathBuf>,
}

impl RunArguments {
    /// The options of the runs, on `devices` GPUs, or for single ranks of `job`.
    pub(crate) fn options(&self, devices: u32, job: Option<Job>) -> RunOptions {
        let default = RunOptions::default();
        RunOptions {
            stop_at: self.steps.map_or(default.stop_at, StopAt::step),
            fraction: self.fraction.map_or(default.fraction, Fraction),
            fakes_data: self.fake_data,
            job,
            devices,
        }
    }
}

impl RunArguments {
    /// The words that say the same to a command on another machine.
    pub(crate) fn to_words(&self) -> Vec<String> {
        let python = self.python.as_ref().map(|path| path.to_string_lossy().into_owned());
        let values = [
            ("--steps", self.steps.map(|steps| steps.to_string())),
            ("--timeout", Some(self.timeout.as_secs_f64().to_string())),
            ("--fraction", self.fraction.map(|share| share.to_string())),
            ("--python", python),
        ];
        let switches = [("--offline", self.offline), ("--online", self.online), ("--fake-data", self.fake_data)];
        let values = values.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten();
        values.chain(switches.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name.to_owned())).collect()
    }
}

/// The format of an answer.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormatOptions {
    /// Print one JSON object instead of the report; short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// The format of the answer
    #[arg(long, value_name = "FORMAT", value_parser = format::parser(), default_value = format::usual())]
    format: Format,
}

/// The format of an answer, and a page.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputOptions {
    #[command(flatten)]
    pub(crate) format: FormatOptions,

    /// Also write an HTML page: one file that needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

impl FormatOptions {
    /// The format that was asked for.
    pub(crate) fn chosen(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text);
    let seconds: f64 = number.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| format!("`{text}` is out of range; expected seconds above 0"))
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("`{text}` is not a share; expected a number from 0 to 1")),
    }
}
