//! The arguments of `oomph sweep`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use trace::Bytes;

use report::render::Format;
use report::render::resources::RequestFormat;

use super::format::{self, SweepFormat};
use super::groups::{GpuOptions, OthersOption, RunArguments};

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph sweep --grid batch=8..128x2,seq=512,1024,dtype=bf16,fp32 --gpu rtx-4090 train.py
  oomph sweep --grid batch=1..64 --gpu a100-40gb,h100,rtx-4090 train.py    one run answers for each compute capability
  oomph sweep --grid batch=8..64+8 --gpu all --out sweep/ train.py         points.jsonl and points.parquet, for pandas
  oomph sweep --grid config.yaml#train.batch=8..64x2 train.py --config config.yaml
  oomph sweep --grid 'model.width=512..4096x2' -- python train.py model.width=512    Hydra
  oomph sweep --configs trials.jsonl train.py                              one JSON object a line
  oomph sweep --ray auto --grid batch=1..1000 train.py                     on a Ray cluster
  oomph sweep --slurm --sbatch=--partition=cpu --grid batch=1..1000 train.py
  oomph sweep --format hf-jobs train.py --batch 8                          the smallest machine; also slurm, kai, sky

A grid has axes NAME=VALUES, with single values and ranges: 8..128x2 (times 2), 8..128+8 (plus 8), 8..16. A name is an option of the
program, a key of its configuration, $VARIABLE, FILE#KEY, or one of batch, seq, resolution, dtype, accumulation, checkpointing.
Ctrl-C keeps what is done; the same command then makes only what is missing.
Exit status: 0 a configuration fits, 1 none does, 2 oomph could not do its work.";

/// The program, its configurations and the GPUs.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Sweep {
    /// The GPUs, such as `rtx-4090,h100`, or `all` [default: this machine's, else an RTX 4090; of a request, all that clouds offer]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "GPU")]
    pub(crate) gpu: Vec<String>,

    /// The memory of the GPU, such as `16GiB`, in place of the known figure
    #[arg(long, value_name = "SIZE", value_parser = gpus::parse_size, help_heading = "GPU")]
    pub(crate) vram: Option<Bytes>,

    #[command(flatten)]
    pub(crate) others: OthersOption,

    /// The axes: `batch=8..128x2,dtype=bf16,fp32` [default: the program as it is]
    #[arg(long, value_name = "AXES", allow_hyphen_values = true, help_heading = "Configurations")]
    pub(crate) grid: Vec<String>,

    /// A file of configurations: an object of names and values on each line, or a JSON list of such objects
    #[arg(long, value_name = "FILE", conflicts_with = "grid", help_heading = "Configurations")]
    pub(crate) configs: Option<PathBuf>,

    /// Sweep more configurations than this only if told so
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Configurations")]
    pub(crate) max_points: u64,

    /// Run every configuration; replay none
    #[arg(long, help_heading = "Configurations")]
    pub(crate) run_all: bool,

    /// Do the work on this Ray cluster: `auto`, `HOST:PORT` or `ray://HOST:PORT`
    #[arg(long, value_name = "ADDRESS", help_heading = "Machines", conflicts_with = "slurm")]
    pub(crate) ray: Option<String>,

    /// Do the work as an array job of Slurm
    #[arg(long, help_heading = "Machines")]
    pub(crate) slurm: bool,

    /// An option for `sbatch`: `--sbatch=--partition=cpu`
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, requires = "slurm", help_heading = "Machines")]
    pub(crate) sbatch: Vec<String>,

    /// The host memory of a task on another machine
    #[arg(long, value_name = "SIZE", value_parser = gpus::parse_size, default_value = "8GiB", help_heading = "Machines")]
    pub(crate) host_memory: Bytes,

    /// The number of dry runs at a time [default: one per core, as far as the memory suffices]
    #[arg(long, short, value_name = "N", help_heading = "Machines")]
    pub(crate) jobs: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) run: RunArguments,

    /// Make every dry run again
    #[arg(long, help_heading = "Run")]
    pub(crate) no_cache: bool,

    /// Keep the results in this folder [default: one of the user's cache]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// Print one JSON object instead of the report; short for `--format json`
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    json: bool,

    /// The format of the answer, or a request for the smallest resources that the program needs
    #[arg(long, value_name = "FORMAT", value_parser = format::sweep_parser(), default_value = format::usual(), help_heading = "Output")]
    format: SweepFormat,

    /// Read a task on standard input, and write its points: the part of a sweep on another machine
    #[arg(long, hide = true)]
    pub(crate) worker: bool,

    /// The script and its arguments; after `--`, any command line
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT [ARGS]")]
    pub(crate) program: Vec<OsString>,
}

impl Sweep {
    /// The format of the report; `None` for a request.
    pub(crate) fn report_format(&self) -> Option<Format> {
        match self.format {
            _ if self.json => Some(Format::Json),
            SweepFormat::Common(format) => Some(format),
            SweepFormat::Request(_) => None,
        }
    }

    /// The language of the request that is asked for.
    pub(crate) fn request_format(&self) -> Option<RequestFormat> {
        match self.format {
            SweepFormat::Request(format) => Some(format),
            SweepFormat::Common(_) => None,
        }
    }

    /// The options of a single GPU.
    pub(crate) fn gpu_options(&self, name: Option<String>) -> GpuOptions {
        GpuOptions { gpu: name, vram: self.vram, gpus: 1 }
    }
}
