//! Ends of the program that leave nothing to report.

mod data;
mod hub;

use report::words::name_cause;
use thiserror::Error;

use trace::run::StopCause;

use crate::judge::launchers::ChildFailure;

/// The longest part of an exception's message that is repeated, in characters.
const LONGEST_MESSAGE: usize = 400;

/// An end of the program that leaves nothing to report.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "each variant has its sentence")]
pub enum ProgramFailure {
    #[error("called {}, which the phantom GPU does not have{}", symbols.join(", "), line_of(at.as_ref()))]
    MissingEntryPoint { symbols: Vec<String>, at: Option<(String, u32)>, output: String },
    #[error("raised {type_name}{}{}", cut_message(message), line_of(at.as_ref()))]
    Raised {
        type_name: String,
        message: String,
        at: Option<(String, u32)>,
        read: Option<(String, u32)>,
        output: String,
    },
    #[error("failed in a process of its launcher{}: {}", status_of(child.code), child.last_line)]
    Child { child: ChildFailure },
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
    #[error("did not use CUDA within {seconds:.0} s{}", line_of(at.as_ref()))]
    TimedOut { seconds: f64, at: Option<(String, u32)>, output: String },
    #[error("was stopped by {} after {seconds:.0} s, before it used CUDA{}", name_cause(*by), line_of(at.as_ref()))]
    Stopped { by: StopCause, seconds: f64, at: Option<(String, u32)>, output: String },
}

/// Returns the message of an exception, after its type; empty for a bare `assert`. Long messages, such as a printed
/// tensor, are cut: the program's own output, which follows, has the full text.
fn cut_message(message: &str) -> String {
    if message.is_empty() {
        return String::new();
    }
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!(": {} …", &message[..end]),
        None => format!(": {message}"),
    }
}

fn status_of(code: Option<i32>) -> String {
    code.map_or_else(String::new, |code| format!(" (exit status {code})"))
}

fn line_of(at: Option<&(String, u32)>) -> String {
    at.map_or_else(String::new, |(file, line)| format!("\n  at {file}:{line}"))
}

impl ProgramFailure {
    /// The line of the program, if it is known.
    pub fn place(&self) -> Option<&(String, u32)> {
        match self {
            ProgramFailure::MissingEntryPoint { at, .. }
            | ProgramFailure::Raised { at, .. }
            | ProgramFailure::TimedOut { at, .. }
            | ProgramFailure::Stopped { at, .. } => at.as_ref(),
            _ => None,
        }
    }

    /// The end of what the program printed.
    pub fn last_output(&self) -> &str {
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
            | ProgramFailure::Child { child: ChildFailure { output, .. } }
            | ProgramFailure::Stopped { output, .. }
            | ProgramFailure::TimedOut { output, .. } => output,
        }
    }

    /// Returns the next step for the user.
    pub fn hint(&self) -> String {
        if let ProgramFailure::Raised { read: Some((file, line)), type_name, message, .. } = self
            && !is_about_the_machine(type_name)
            && !is_about_a_signature(message)
            && hub::find_hint(message).is_none()
            && data::hint(type_name, message).is_none()
            && !is_about_a_capture(message)
        {
            let read = format!(
                "{file}:{line} read a value that a GPU would have computed; a dry run answers with assumed values, \
                 which a check in the script may not accept"
            );
            return read;
        }
        if let ProgramFailure::Raised { message, .. } = self
            && let Some(hint) = hub::find_hint(message)
        {
            return hint;
        }
        let hint = match self {
            ProgramFailure::MissingEntryPoint { .. } => {
                "a program that works on a GPU and fails here is a bug of oomph; please report it with these names"
            }
            ProgramFailure::Raised { message, .. } if is_about_a_capture(message) => {
                "a GPU refuses it, too: in a capture, nothing may wait for the device (`.item()`, `.cpu()`, `nonzero`, \
                 `synchronize`), and each side stream waits for the capture's stream first and is waited for at the end"
            }
            ProgramFailure::Raised { type_name, .. } if is_about_an_address(type_name) => {
                "fetch the file once by other means, to the path where the script looks first; with a network a dry run \
                 fetches headers alone, and `--online` opens the network for all runs"
            }
            ProgramFailure::Raised { message, .. } if is_about_devices(message) => {
                "does the script name a GPU, perhaps in CUDA_VISIBLE_DEVICES? --gpus N shows it N of them"
            }
            ProgramFailure::Raised { message, .. } if is_about_the_hub(message) => {
                "fetch it once where there is a network (`hf download NAME`), or build the model from its configuration \
                 (`AutoModelForCausalLM.from_config`): of the weights a dry run needs the shapes alone"
            }
            ProgramFailure::Raised { type_name, message, .. } => {
                return data::hint(type_name, message).unwrap_or_else(|| raised_hint(type_name, message).to_owned());
            }
            ProgramFailure::RanOutUnlimited { .. } => "`oomph check` shows which line asks for how much",
            ProgramFailure::NoSnapshot { output } if is_about_names(output) => {
                "a file of the program, or a folder above one, has a name that is not UTF-8, for which PyTorch cannot record memory: rename it"
            }
            ProgramFailure::NoSnapshot { .. } => "is the disk full? TMPDIR, or --save DIR, chooses another folder",
            ProgramFailure::NoAgent { .. } => {
                "the agent is found through PYTHONPATH and `sitecustomize`, which `python -I`, `-E` and `-S` leave out"
            }
            ProgramFailure::NoTorch { .. } => {
                "give the script that trains, with the arguments that it needs; a program that the script starts with another environment is not recorded"
            }
            ProgramFailure::NoCuda { .. } => {
                "does it need an argument such as `--device cuda`? On the phantom, torch.cuda.is_available() is True"
            }
            ProgramFailure::Exited { output, .. } | ProgramFailure::Child { child: ChildFailure { output, .. } } => {
                exited_hint(output)
            }
            ProgramFailure::Killed { signal: 9, .. } => "signal 9 often means that the machine ran out of host memory",
            ProgramFailure::Killed { .. } => "--verbose shows what the program prints",
            ProgramFailure::Stopped { .. } => "nothing was seen yet: imports alone may take a minute on a slow disk",
            ProgramFailure::TimedOut { .. } => "give it more time with --timeout SECONDS, or less data to prepare",
        };
        hint.to_owned()
    }
}

/// True for CUDA's errors 900 to 908, which all name a capture.
fn is_about_a_capture(message: &str) -> bool {
    message.contains("CUDA error") && message.contains("captur")
}

/// True if an error of this type is about files, programs or packages, and not about a computed value.
fn is_about_the_machine(type_name: &str) -> bool {
    [
        "FileNotFoundError",
        "PermissionError",
        "NotADirectoryError",
        "ConnectionError",
        "ModuleNotFoundError",
        "ImportError",
    ]
    .contains(&type_name)
}

/// True for a call that does not match its function (CPython 3.10 to 3.13): no value decides it.
fn is_about_a_signature(message: &str) -> bool {
    ["got an unexpected keyword argument", "required positional argument"].iter().any(|words| message.contains(words))
}

/// True if an error of this type is about Python's own data, and not about a function of CUDA.
pub fn is_about_data(type_name: &str) -> bool {
    let types = ["ZeroDivisionError", "ValueError", "IndexError", "KeyError", "TypeError", "AssertionError"];
    types.contains(&type_name) || is_about_the_machine(type_name)
}

/// True if PyTorch could not convert the name of a file (pybind11's words, in PyTorch 2.5 to 2.11).
fn is_about_names(output: &str) -> bool {
    output.contains("Unable to cast Python instance")
}

/// True for the errors of weights by an address (`python/oomph/agent/host/weights/ranges.py`), and for a server's refusal.
fn is_about_an_address(type_name: &str) -> bool {
    ["oomph.AnswerError", "oomph.NoNetworkError", "oomph.UnknownWeightsError", "urllib.error.HTTPError"]
        .contains(&type_name)
}

/// True if CUDA or PyTorch misses a device.
fn is_about_devices(message: &str) -> bool {
    ["No CUDA GPUs are available", "invalid device ordinal", "Invalid device id"]
        .iter()
        .any(|words| message.contains(words))
}

/// True if Hugging Face finds a model neither on the disk nor in the network (transformers 4.30 to 5.17, diffusers).
fn is_about_the_hub(message: &str) -> bool {
    ["couldn't connect to 'https://huggingface.co'", "is not a local folder and is not a valid model identifier"]
        .iter()
        .any(|words| message.contains(words))
}

/// The hint for a program that ended before oomph's agent started: its last line tells a Python error from a usage message.
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
    if let Some(hint) = configuration_hint(message) {
        return hint;
    }
    match type_name {
        _ if message.contains("environment variable RANK") => {
            "a launcher sets RANK: put yours in front (`oomph check -- torchrun …`), or check one rank of N with --world-size N"
        }
        "FileNotFoundError" if message.contains("'nvidia-smi'") => {
            "the script starts nvidia-smi, which this machine lacks; a file of that name on the PATH is enough for a dry run"
        }
        "FileNotFoundError" => "a dry run needs the files that the script opens; run it from the folder you train in",
        "ModuleNotFoundError" | "ImportError" => {
            "install what the script imports, or choose another Python with --python"
        }
        _ => "run the script by itself first; --verbose shows all that it prints",
    }
}

/// The hint for a configuration without its model's code, architecture or shapes (transformers 4.50 to 5.17, diffusers 0.42).
fn configuration_hint(message: &str) -> Option<&'static str> {
    let has = |words: &str| message.contains(words);
    if has("does not recognize this architecture") {
        return Some(
            "is `model_type` in config.json right? Else this transformers is older than the model: --python chooses another",
        );
    }
    if has("Should have a `model_type` key") {
        return Some("a model's folder has a config.json that states `model_type`; the weights may be absent");
    }
    if has("is not a valid JSON file") {
        return Some("fetch the file again: of a model a dry run needs the configuration, whole, and no weights");
    }
    if has("contains custom code which must be executed") {
        return Some("a dry run executes the model's own code, too: read it first, then pass trust_remote_code=True");
    }
    if has("does not appear to have a file named") && has(".py") {
        return Some("config.json names code in `auto_map`: fetch those .py files too; the weights may be absent");
    }
    if has("in the checkpoint, the model expects") || has("size mismatch for") || has("expected shape torch.Size") {
        return Some(
            "config.json and the weights are of different models: fetch both again, or move the weights away, for a dry run needs only config.json",
        );
    }
    has("Error no file named").then_some(
        "config.json is enough if no weights lie beside it; these have another name: `variant`, `subfolder` or `use_safetensors` selects them",
    )
}
