//! Errors before a program is started.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use trace::Bytes;

/// Why a program cannot be started on a phantom GPU.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "each variant has its sentence")]
pub enum SetupError {
    #[error("{0}")]
    UnknownGpu(#[from] gpus::UnknownGpu),
    #[error("--vram {vram} leaves nothing: a CUDA context alone takes {context} on this GPU")]
    TooLittleMemory { vram: Bytes, context: Bytes },
    #[error("--others {others} leaves nothing of {total}: a CUDA context alone takes {context} on this GPU")]
    NothingLeft { others: Bytes, total: Bytes, context: Bytes },
    #[error("--world-size {world_size} is no multiple of --local-world-size {local_world_size}")]
    UnevenWorld { world_size: u32, local_world_size: u32 },
    #[error("there is no rank {rank} in a job of {world_size}: expected ranks 0 to {}", world_size - 1)]
    NoSuchRank { rank: u32, world_size: u32 },
    #[error("there is no file `{}`", .0.display())]
    NoScript(PathBuf),
    #[error("`{}` is a folder, expected a Python script", .0.display())]
    ScriptIsFolder(PathBuf),
    #[error("`{}` is a pipe, expected a Python script", .0.display())]
    ScriptIsPipe(PathBuf),
    #[error("the path `{}` is not UTF-8: PyTorch cannot record memory for a file of such a name", .0.display())]
    NotUtf8(PathBuf),
    #[error("oomph has no option `{0}`, and there is no script of that name")]
    NoOption(String),
    #[error("there is no Python: `{}` cannot be started: {source}", python.display())]
    NoPython { python: PathBuf, source: io::Error },
    #[error("`{0}` is not in PATH")]
    NotInPath(String),
    #[error("there is no program `{}`", .0.display())]
    NoProgramFile(PathBuf),
    #[error("`{}` is a folder, expected a program", .0.display())]
    ProgramIsFolder(PathBuf),
    #[error("`{}` is not executable", .0.display())]
    NotExecutable(PathBuf),
    #[error("`{}` cannot be started: its first line names `{}`, which is not there", file.display(), interpreter.display())]
    NoInterpreter { file: PathBuf, interpreter: PathBuf },
    #[error("`{program}` cannot be started: {source}")]
    NoProgram { program: String, source: io::Error },
    #[error("the Python `{}` has no PyTorch", .0.display())]
    NoTorch(PathBuf),
    #[error("`{}` did not report its PyTorch: {answer}", python.display())]
    NoAnswer { python: PathBuf, answer: String },
    #[error("the PyTorch of `{}` is {version}, which was built without CUDA", python.display())]
    CpuOnlyTorch { python: PathBuf, version: String },
    #[error("PyTorch {version} is not supported; this oomph knows {}", trace::release::SUPPORTED)]
    UnsupportedTorch { version: String },
    #[error("programs can be run on a phantom GPU, and recorded, only on x86-64: this oomph is for {0}")]
    OtherProcessor(&'static str),
    #[error("`oomph {command}` needs Linux, and this oomph is for {system}")]
    OtherSystem { command: &'static str, system: &'static str },
    #[error("cannot unpack the phantom GPU into `{}`: {source}", folder.display())]
    Cache { folder: PathBuf, source: io::Error },
    #[error("programs may not be run from `{}`: its file system is mounted noexec", .0.display())]
    CacheNoExec(PathBuf),
    #[error("the cache folder `{}` cannot be used: search paths are split at `:` and `;`", .0.display())]
    CacheSplits(PathBuf),
    #[error("there is no folder to unpack the phantom GPU into: neither HOME nor XDG_CACHE_HOME is set")]
    NoCache,
}

impl SetupError {
    /// Returns the next step for the user.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            SetupError::UnknownGpu(_) => "`oomph gpus` lists the known GPUs; --vram SIZE changes the memory of one",
            SetupError::TooLittleMemory { .. } => "give the whole memory of the GPU, such as --vram 8GiB",
            SetupError::NothingLeft { .. } => "give what other processes use of each GPU, as nvidia-smi shows it",
            SetupError::UnevenWorld { .. } => {
                "every machine has the same number of GPUs: say how many with --local-world-size"
            }
            SetupError::NoSuchRank { .. } => "ranks are counted from 0; `--rank last` is the last one",
            SetupError::NoScript(_) => {
                "give the script as you would to `python`; any other command line follows a `--`"
            }
            SetupError::NoOption(_) => "options of oomph stand before the script; `oomph check --help` lists them",
            SetupError::ScriptIsFolder(_) => "for a package, write `oomph check -- python -m package`",
            SetupError::ScriptIsPipe(_) => {
                "a script may run more than once, and a pipe is read once: write it to a file"
            }
            SetupError::NotUtf8(_) => "rename the file or the folder",
            SetupError::NoPython { .. } | SetupError::NoTorch(_) => {
                "activate the environment you train in, or name its Python with --python"
            }
            SetupError::NoAnswer { .. } => "is it a Python, and does `import torch` work in it? --python names another",
            SetupError::NotInPath(_) => {
                "is the environment active? After `--`, write the command line as you would in the shell"
            }
            SetupError::NoProgramFile(_) | SetupError::NoProgram { .. } => {
                "after `--`, write the command line as you would in the shell; paths start at the current folder"
            }
            SetupError::ProgramIsFolder(_) => "for a package, write `-- python -m package`",
            SetupError::NotExecutable(_) => {
                "name its interpreter as well, such as `-- python train.py` or `-- bash train.sh`"
            }
            SetupError::NoInterpreter { .. } => {
                "was it made in an environment that was moved or removed? Install it again, or write `-- python FILE`"
            }
            SetupError::CpuOnlyTorch { .. } => {
                "install the CUDA build (`pip install torch` on Linux, without the CPU index); no GPU is needed for it"
            }
            SetupError::UnsupportedTorch { .. } => "choose a Python with a supported version with --python",
            SetupError::OtherProcessor(_) => {
                "run it on Linux on x86-64, where no GPU is needed; `explain`, `lint` and `gpus` work here"
            }
            SetupError::OtherSystem { .. } => {
                "run it on Linux, which on Windows may be WSL 2; no GPU is needed there. `explain`, `lint` and `gpus` work here"
            }
            SetupError::Cache { .. }
            | SetupError::CacheNoExec(_)
            | SetupError::CacheSplits(_)
            | SetupError::NoCache => "name a folder that can be written and run from: OOMPH_CACHE_DIR=/path/to/folder",
        }
    }
}
