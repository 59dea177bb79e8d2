//! Why oomph could not do its work: one sentence each, and what to do next.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// So much of a program's own message is repeated.
const MOST_MESSAGE_CHARS: usize = 400;

/// Why a command failed. The text says what was found; [`Error::hints`] says what to do.
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error("{0}")]
    UnknownGpu(#[from] gpus::UnknownGpu),
    #[error("--vram {vram} leaves nothing: a CUDA context alone takes {context} on this GPU")]
    TooLittleMemory { vram: trace::Bytes, context: trace::Bytes },
    #[error("--world-size {world_size} is no multiple of --local-world-size {local_world_size}")]
    UnevenWorld { world_size: u32, local_world_size: u32 },
    #[error("there is no rank {rank} in a job of {world_size}: expected ranks 0 to {}", world_size - 1)]
    NoSuchRank { rank: u32, world_size: u32 },
    #[error("there is no file `{}`", .0.display())]
    NoScript(PathBuf),
    #[error("`{}` is a folder, expected a Python script", .0.display())]
    ScriptIsFolder(PathBuf),
    #[error("there is no remedy `{0}`")]
    UnknownRemedy(String),
    #[error("there is no rule `{name}`{}", meant(nearest.as_deref()))]
    UnknownRule { name: String, nearest: Option<String> },
    #[error("there is nothing at `{}`", .0.display())]
    NothingThere(PathBuf),
    #[error("there is no Python file and no notebook to lint in {}", listed(.0))]
    NothingToLint(Vec<PathBuf>),
    #[error("`{pattern}` is no pattern: {problem}")]
    Pattern { pattern: String, problem: String },
    #[error("the settings `{}` cannot be used: {problem}", path.display())]
    Settings { path: PathBuf, problem: String },
    #[error("`{}` is no baseline of lint: {problem}", path.display())]
    Baseline { path: PathBuf, problem: String },
    #[error("`{}` is there, and is no baseline of lint; it was left as it is", .0.display())]
    NoBaseline(PathBuf),
    #[error("{0}")]
    NoBatch(String),
    #[error("the program runs by itself, and fails as a child of the fork server: {0}")]
    OnlyForked(String),
    #[error("there is no option `{0}` of oomph's, and no script of that name")]
    NoOption(String),
    #[error("there is no Python: `{}` cannot be started: {source}", python.display())]
    NoPython { python: PathBuf, source: io::Error },
    #[error("`{program}` cannot be started: {source}")]
    NoProgram { program: String, source: io::Error },
    #[error("the Python `{}` has no PyTorch", .0.display())]
    NoTorch(PathBuf),
    #[error("`{}` was asked for its PyTorch, and gave no answer: {answer}", python.display())]
    NoAnswer { python: PathBuf, answer: String },
    #[error("the PyTorch of `{}` is {version}, which was built without CUDA", python.display())]
    CpuOnlyTorch { python: PathBuf, version: String },
    #[error("PyTorch {version} is not supported; this oomph knows {}", trace::release::SUPPORTED)]
    UnsupportedTorch { version: String },
    #[error("cannot unpack the phantom GPU into `{}`: {source}", folder.display())]
    Cache { folder: PathBuf, source: io::Error },
    #[error("programs may not be run from `{}`: its file system is mounted noexec", .0.display())]
    CacheNoExec(PathBuf),
    #[error("the cache folder `{}` cannot be used: search paths are split at `:` and `;`", .0.display())]
    CacheSplits(PathBuf),
    #[error("there is no home folder to keep the phantom GPU in: neither HOME nor XDG_CACHE_HOME is set")]
    NoCache,
    #[error("cannot write the run folder `{}`: {source}", folder.display())]
    RunFolder { folder: PathBuf, source: io::Error },
    #[error("`{}` is not empty: a run is kept in a folder of its own", .0.display())]
    RunFolderInUse(PathBuf),
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("`{}` is damaged: {problem}", path.display())]
    Damaged { path: PathBuf, problem: String },
    #[error("there is no file `{}`", .0.display())]
    NoFile(PathBuf),
    #[error("`{}` was named twice", .0.display())]
    NamedTwice(PathBuf),
    #[error("`{}` is empty: expected a log, a snapshot or a table", .0.display())]
    Empty(PathBuf),
    #[error("`{}` is neither a snapshot nor a text: it starts with the bytes {}", path.display(), hexadecimal(start))]
    Foreign { path: PathBuf, start: Vec<u8> },
    #[error("`{}` cannot be read as a snapshot: {problem}", path.display())]
    NotASnapshot { path: PathBuf, problem: String },
    #[error("`{}` is a disk: expected a file, a pipe or a folder", .0.display())]
    Device(PathBuf),
    #[error("nothing in the folder `{}` is of an error: expected logs or snapshots, looked at {}", folder.display(), files_of(*files))]
    NothingInFolder { folder: PathBuf, files: usize },
    #[error("`{}` holds more than {limit} files: expected what one job left", folder.display())]
    TooManyFiles { folder: PathBuf, limit: usize },
    #[error("cannot write `{}`: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("`{}` would be replaced, and is no file", .0.display())]
    NotAFile(PathBuf),
    #[error("{0}")]
    Tune(#[from] diagnose::TuneError),
    #[error("cannot watch for Ctrl-C: {0}")]
    Signals(#[from] ctrlc::Error),
    #[error("interrupted")]
    Interrupted,
    #[error("the program {0}")]
    Program(Box<ProgramFailure>),
    #[error("cannot write the report: {0}")]
    Output(#[from] io::Error),
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// What the program itself did that leaves nothing to check.
#[derive(Debug, Error)]
pub(crate) enum ProgramFailure {
    #[error("called {}, which the phantom GPU does not have{}", symbols.join(", "), place(at.as_ref()))]
    MissingEntryPoint { symbols: Vec<String>, at: Option<(String, u32)>, output: String },
    #[error("raised {type_name}{}{}", said(message), place(at.as_ref()))]
    Raised {
        type_name: String,
        message: String,
        at: Option<(String, u32)>,
        read: Option<(String, u32)>,
        output: String,
    },
    #[error("ran out of memory on a GPU without a limit: one request is larger than any device")]
    RanOutUnlimited { output: String },
    #[error("left no snapshot of its memory in the run folder")]
    NoSnapshot { output: String },
    #[error("used the phantom GPU, but oomph's agent was not started in it")]
    NoAgent { output: String },
    #[error("never imported PyTorch")]
    NoTorch { output: String },
    #[error("never used CUDA: there is no GPU memory to check")]
    NoCuda { output: String },
    #[error("ended with exit status {code} before it used CUDA")]
    Exited { code: i32, output: String },
    #[error("was killed by signal {signal} before anything could be recorded")]
    Killed { signal: i32, output: String },
    #[error("did not use CUDA within {seconds:.0} s")]
    TimedOut { seconds: f64, output: String },
}

fn hexadecimal(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}

fn files_of(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

/// Some messages print a whole tensor; the program's own output, which follows, has all of it.
/// What an exception says, behind its type; a bare `assert` says nothing.
fn said(message: &str) -> String {
    if message.is_empty() {
        return String::new();
    }
    match message.char_indices().nth(MOST_MESSAGE_CHARS) {
        Some((end, _)) => format!(": {} …", &message[..end]),
        None => format!(": {message}"),
    }
}

fn place(at: Option<&(String, u32)>) -> String {
    at.map_or_else(String::new, |(file, line)| format!("\n  at {file}:{line}"))
}

impl ProgramFailure {
    /// The end of what the program printed.
    pub(crate) fn output(&self) -> &str {
        match self {
            ProgramFailure::MissingEntryPoint { output, .. }
            | ProgramFailure::Raised { output, .. }
            | ProgramFailure::RanOutUnlimited { output }
            | ProgramFailure::NoSnapshot { output }
            | ProgramFailure::NoAgent { output }
            | ProgramFailure::NoTorch { output }
            | ProgramFailure::NoCuda { output }
            | ProgramFailure::Exited { output, .. }
            | ProgramFailure::Killed { output, .. }
            | ProgramFailure::TimedOut { output, .. } => output,
        }
    }

    fn hints(&self) -> Vec<String> {
        if let ProgramFailure::Raised { read: Some((file, line)), .. } = self {
            let read = format!(
                "{file}:{line} read a value that a GPU would have computed; the phantom answers with zeros, \
                 which a check in the script may not accept"
            );
            return vec![read];
        }
        let hint = match self {
            ProgramFailure::MissingEntryPoint { .. } => {
                "a program that works on a GPU and fails here is a bug of oomph; please report it with these names"
            }
            ProgramFailure::Raised { message, .. } if is_about_devices(message) => {
                "does the script name a GPU, perhaps in CUDA_VISIBLE_DEVICES? --gpus N shows it N of them"
            }
            ProgramFailure::Raised { message, .. } if is_about_the_hub(message) => {
                "fetch it once where there is a network (`hf download NAME`), or build the model from its configuration \
                 (`AutoModelForCausalLM.from_config`): of the weights a dry run needs the shapes alone"
            }
            ProgramFailure::Raised { type_name, message, .. } => raised_hint(type_name, message),
            ProgramFailure::RanOutUnlimited { .. } => "`oomph check` shows which line asks for how much",
            ProgramFailure::NoSnapshot { .. } => "is the disk full? TMPDIR, or --save DIR, chooses another place",
            ProgramFailure::NoAgent { .. } => {
                "the agent starts when PyTorch is imported, and is found through PYTHONPATH and `sitecustomize`: `python -I`, `-E` and `-S` leave them out"
            }
            ProgramFailure::NoTorch { .. } => {
                "give the script that trains, with the arguments that it needs; a program that it starts with an environment of its own is not seen"
            }
            ProgramFailure::NoCuda { .. } => {
                "does it need an argument such as `--device cuda`? On the phantom, torch.cuda.is_available() is True"
            }
            ProgramFailure::Exited { output, .. } => exited_hint(output),
            ProgramFailure::Killed { signal: 9, .. } => "signal 9 often means that the machine ran out of host memory",
            ProgramFailure::Killed { .. } => "--verbose shows what the program prints",
            ProgramFailure::TimedOut { .. } => "give it more time with --timeout SECONDS, or less data to prepare",
        };
        vec![hint.to_owned()]
    }
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// CUDA's and PyTorch's words for a device that is not there.
fn is_about_devices(message: &str) -> bool {
    ["No CUDA GPUs are available", "invalid device ordinal", "Invalid device id"]
        .iter()
        .any(|words| message.contains(words))
}

/// Hugging Face's words for a model that is neither on the disk nor to be had (transformers 4.30 to 5.17, diffusers).
fn is_about_the_hub(message: &str) -> bool {
    ["couldn't connect to 'https://huggingface.co'", "is not a local folder and is not a valid model identifier"]
        .iter()
        .any(|words| message.contains(words))
}

/// Of a program that ended before it was watched: what it printed last tells an error of Python's from a usage.
fn exited_hint(output: &str) -> &'static str {
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    match last.split_once(": ") {
        Some((type_name, message)) if output.contains("Traceback (most recent call last)") => {
            raised_hint(type_name, message)
        }
        _ => "give the script the arguments that it needs; --verbose shows what it prints",
    }
}

fn raised_hint(type_name: &str, message: &str) -> &'static str {
    match type_name {
        _ if message.contains("environment variable RANK") => {
            "a launcher sets that: put yours in front (`oomph check -- torchrun …`), or check one rank of N with --world-size N"
        }
        "FileNotFoundError" => "a dry run needs the files that the script opens; run it from the folder you train in",
        "ModuleNotFoundError" | "ImportError" => {
            "install what the script imports, or choose another Python with --python"
        }
        _ => "run the script by itself first; --verbose shows all that it prints",
    }
}

impl Error {
    /// What to do next.
    pub(crate) fn hints(&self) -> Vec<String> {
        let hint = match self {
            Error::UnknownGpu(_) => "`oomph gpus` lists the GPUs that are known; --vram SIZE changes the memory of one",
            Error::TooLittleMemory { .. } => "give the whole memory of the card, such as --vram 8GiB",
            Error::UnevenWorld { .. } => {
                "every machine has the same number of GPUs: say how many with --local-world-size"
            }
            Error::NoSuchRank { .. } => "ranks are counted from 0; `--rank last` is the last one",
            Error::UnknownRemedy(_) => "`oomph remedy` lists what there is",
            Error::UnknownRule { .. } => "`oomph rule` lists what there is",
            Error::NothingThere(_) => "name files or folders; `oomph lint` alone looks below this folder",
            Error::NothingToLint(_) => {
                "hidden folders, environments and what git ignores are left out; --no-gitignore, --include and --exclude change that"
            }
            Error::Pattern { .. } => "patterns are those of `.gitignore`, such as `*.py` or `build/`",
            Error::Settings { .. } => {
                "`[lint]` in oomph.toml and `[tool.oomph.lint]` in pyproject.toml may have: select, ignore, pedantic, include, exclude, unsafe-fixes, baseline"
            }
            Error::Baseline { .. } => "--write-baseline FILE writes one",
            Error::NoBaseline(_) => "name a new file behind --write-baseline, and what to lint after it",
            Error::NoBatch(_) => {
                "name the option or the variable that sets it: --batch-arg=--bs, or --batch-arg BATCH_SIZE"
            }
            Error::OnlyForked(_) => {
                "this is a bug of oomph; please report it. `oomph check --with REMEDY` tries one change at a time without a server"
            }
            Error::NoScript(_) => "give the script as you would to `python`; after `--` comes any other command line",
            Error::NoOption(_) => "options of oomph stand before the script; `oomph check --help` lists them",
            Error::ScriptIsFolder(_) => "for a package, write `oomph check -- python -m package`",
            Error::NoPython { .. } | Error::NoTorch(_) => {
                "activate the environment you train in, or name its Python with --python"
            }
            Error::NoAnswer { .. } => "is it a Python, and does `import torch` work in it? --python names another",
            Error::NoProgram { .. } => "after `--`, write the command line as you would in the shell",
            Error::CpuOnlyTorch { .. } => {
                "install the CUDA build (`pip install torch` on Linux, without the CPU index); no GPU is needed for it"
            }
            Error::UnsupportedTorch { .. } => "choose a Python with a supported version with --python",
            Error::Cache { .. } | Error::CacheNoExec(_) | Error::CacheSplits(_) | Error::NoCache => {
                "name a folder that can be written and run from: OOMPH_CACHE_DIR=/path/to/folder"
            }
            Error::RunFolder { .. } => "is the disk full? --save DIR chooses another place",
            Error::RunFolderInUse(_) => "name a new folder with --save",
            Error::NoFile(_) => {
                "name a log or a snapshot; `-` is standard input, and `oomph explain --help` has examples"
            }
            Error::NamedTwice(_) => "two snapshots are compared: name two different ones, or one alone",
            Error::Empty(_) => {
                "errors are printed on standard error: `python train.py 2>&1 | oomph explain` passes them on"
            }
            Error::Foreign { .. } => {
                "a snapshot is what torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes; a log is any text"
            }
            Error::NotASnapshot { .. } | Error::Damaged { .. } => {
                "was it written to its end, and copied whole? Snapshots come from torch.cuda.memory._dump_snapshot(FILE)"
            }
            Error::Device(_) => "name the file that the program's output went to",
            Error::NothingInFolder { .. } => "name the log or the snapshot itself, to hear what is in it",
            Error::TooManyFiles { .. } => "name the folder of the job's logs and snapshots, or the files themselves",
            Error::Unwritable { .. } | Error::NotAFile(_) => {
                "name a file in a folder that you may write, where it was asked for (--html, --write-baseline)"
            }
            Error::Tune(error) => return crate::commands::tune::hints(error),
            Error::Program(failure) => return failure.hints(),
            Error::Unreadable { .. } | Error::Signals(_) | Error::Interrupted | Error::Output(_) | Error::Json(_) => {
                return Vec::new();
            }
        };
        vec![hint.to_owned()]
    }
}
