//! The arguments of the tools: their schemas, and the words of the command line that each becomes.
//!
//! `CheckCall` and `FitCall` both list the shared fields: serde cannot refuse unknown fields of a struct with a flattened part.

use std::ffi::OsString;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::brief::ReportLength;
use crate::confinement::Confinement;
use crate::error::CallError;

/// The limits of the server.
#[derive(Clone, Debug)]
pub(crate) struct CallLimits {
    /// The folder that holds every path.
    pub(crate) confinement: Confinement,
    /// The Python of calls without an own one.
    pub(crate) python: Option<PathBuf>,
}

/// A command line of oomph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandWords {
    /// The words behind `oomph`.
    pub(crate) words: Vec<OsString>,
    /// The standard input.
    pub(crate) input: Option<String>,
}

impl CommandWords {
    fn of(command: &str) -> CommandWords {
        CommandWords { words: vec![command.into(), "--json".into()], input: None }
    }

    /// Adds `NAME=VALUE`: a value is never an option, whatever its first character.
    fn option(&mut self, name: &str, value: Option<impl Into<OsString>>) {
        if let Some(value) = value {
            let mut word = OsString::from(format!("{name}="));
            word.push(value.into());
            self.words.push(word);
        }
    }

    fn switch(&mut self, name: &str, is_on: bool) {
        if is_on {
            self.words.push(name.into());
        }
    }
}

/// Arguments of `check`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckCall {
    /// The Python script, by its path in the served folder: `train.py`.
    script: String,
    /// The script's arguments, a word each: `["--batch-size", "16"]`.
    #[serde(default)]
    args: Vec<String>,
    /// The GPU, such as `rtx-4090`; the tool `gpus` lists all. Default: the machine's, else an RTX 4090.
    #[serde(default)]
    gpu: Option<String>,
    /// The memory of the GPU, such as `16GiB`, in place of the known figure.
    #[serde(default)]
    vram: Option<String>,
    /// The number of GPUs of the process. Default: 1.
    #[serde(default)]
    gpus: Option<u32>,
    /// Check rank 0 of a distributed job of this many GPUs, in one process.
    #[serde(default)]
    world_size: Option<u32>,
    /// Stop the program after this many optimizer steps, for a quick look. Default: its end, with shortened loops.
    #[serde(default)]
    steps: Option<u32>,
    /// Stop a program that takes longer. Default: 600.
    #[serde(default)]
    timeout_seconds: Option<u32>,
    /// The Python with PyTorch that runs the script: one in the served folder (`.venv/bin/python`), or the server's own. Default: the server's.
    #[serde(default)]
    python: Option<String>,
    /// `brief` cuts long lists, `full` is the whole report.
    #[serde(default)]
    pub(crate) detail: ReportLength,
}

impl CheckCall {
    /// The command line.
    pub(crate) fn to_words(&self, limits: &CallLimits) -> Result<CommandWords, CallError> {
        let mut line = CommandWords::of("check");
        line.option("--world-size", self.world_size.map(|count| count.to_string()));
        line.option("--steps", self.steps.map(|count| count.to_string()));
        let program = ProgramInput {
            script: &self.script,
            args: &self.args,
            gpu: self.gpu.as_deref(),
            vram: self.vram.as_deref(),
            gpus: self.gpus,
            timeout_seconds: self.timeout_seconds,
            python: self.python.as_deref(),
        };
        program.finish(line, limits)
    }
}

/// Arguments of `fit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FitCall {
    /// The Python script, by its path in the served folder: `train.py`.
    script: String,
    /// The script's arguments, a word each: `["--batch-size", "64"]`.
    #[serde(default)]
    args: Vec<String>,
    /// The GPU, such as `rtx-4090`; the tool `gpus` lists all. Default: the machine's, else an RTX 4090.
    #[serde(default)]
    gpu: Option<String>,
    /// The memory of the GPU, such as `16GiB`, in place of the known figure.
    #[serde(default)]
    vram: Option<String>,
    /// The number of GPUs of the process. Default: 1.
    #[serde(default)]
    gpus: Option<u32>,
    /// Find the largest batch with which the program fits, instead of changes.
    #[serde(default)]
    max_batch: bool,
    /// Try only changes that leave the results the same, up to rounding.
    #[serde(default)]
    keep_numerics: bool,
    /// Further changes to try, although the training is another one with them: `sequence-length`.
    #[serde(default)]
    allow: Vec<String>,
    /// Changes to leave out: `activation-checkpointing`.
    #[serde(default)]
    deny: Vec<String>,
    /// Stop a dry run that takes longer; a search makes several. Default: 600.
    #[serde(default)]
    timeout_seconds: Option<u32>,
    /// The Python with PyTorch that runs the script: one in the served folder (`.venv/bin/python`), or the server's own. Default: the server's.
    #[serde(default)]
    python: Option<String>,
    /// `brief` cuts long lists, `full` is the whole report.
    #[serde(default)]
    pub(crate) detail: ReportLength,
}

impl FitCall {
    /// The command line.
    pub(crate) fn to_words(&self, limits: &CallLimits) -> Result<CommandWords, CallError> {
        let mut line = CommandWords::of("fit");
        line.switch("--max-batch", self.max_batch);
        line.switch("--keep-numerics", self.keep_numerics);
        for (name, changes) in [("--allow", &self.allow), ("--deny", &self.deny)] {
            for change in changes {
                line.option(name, Some(change));
            }
        }
        let program = ProgramInput {
            script: &self.script,
            args: &self.args,
            gpu: self.gpu.as_deref(),
            vram: self.vram.as_deref(),
            gpus: self.gpus,
            timeout_seconds: self.timeout_seconds,
            python: self.python.as_deref(),
        };
        program.finish(line, limits)
    }
}

/// Arguments that `check` and `fit` share.
struct ProgramInput<'a> {
    script: &'a str,
    args: &'a [String],
    gpu: Option<&'a str>,
    vram: Option<&'a str>,
    gpus: Option<u32>,
    timeout_seconds: Option<u32>,
    python: Option<&'a str>,
}

impl ProgramInput<'_> {
    /// Adds the shared options, and the program as the last words.
    fn finish(&self, mut line: CommandWords, limits: &CallLimits) -> Result<CommandWords, CallError> {
        line.option("--gpu", self.gpu);
        line.option("--vram", self.vram);
        line.option("--gpus", self.gpus.map(|count| count.to_string()));
        line.option("--timeout", self.timeout_seconds.map(|seconds| seconds.to_string()));
        line.option("--python", self.choose_python(limits)?);
        line.words.push(limits.confinement.resolve_file(self.script)?);
        line.words.extend(self.args.iter().map(OsString::from));
        refuse_null(&line)?;
        Ok(line)
    }

    fn choose_python(&self, limits: &CallLimits) -> Result<Option<PathBuf>, CallError> {
        let Some(named) = self.python else { return Ok(limits.python.clone()) };
        let path = limits.confinement.root().join(named);
        if limits.python.as_ref() == Some(&path) || limits.confinement.holds_entry(&path) {
            return Ok(Some(path));
        }
        Err(CallError::OtherPython { path: named.to_owned(), folder: limits.confinement.root().to_owned() })
    }
}

/// A word with a null character cannot be passed to a program.
fn refuse_null(line: &CommandWords) -> Result<(), CallError> {
    let has_null = line.words.iter().any(|word| word.as_encoded_bytes().contains(&0));
    if has_null { Err(CallError::NullCharacter { field: "an argument" }) } else { Ok(()) }
}

/// Arguments of `explain`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainCall {
    /// Logs, memory snapshots (`torch.cuda.memory._dump_snapshot`), tables of `nvidia-smi`, recorded runs: files and folders in the served folder.
    #[serde(default)]
    paths: Vec<String>,
    /// The text of the error, as the program printed it; also the whole end of a log.
    #[serde(default)]
    text: Option<String>,
    /// `brief` cuts long lists, `full` is the whole report.
    #[serde(default)]
    pub(crate) detail: ReportLength,
}

impl ExplainCall {
    /// The command line.
    pub(crate) fn to_words(&self, limits: &CallLimits) -> Result<CommandWords, CallError> {
        let mut line = CommandWords::of("explain");
        for path in &self.paths {
            line.words.push(limits.confinement.resolve_any(path)?);
        }
        line.input = self.text.clone().filter(|text| !text.trim().is_empty());
        if line.input.is_some() {
            line.words.push("-".into());
        } else if self.paths.is_empty() {
            return Err(CallError::NothingToExplain);
        }
        Ok(line)
    }
}

/// Arguments of `gpus`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GpusCall {
    /// A GPU, by a forgiving name such as `4090` or `a100 80gb`: all its figures. Without a name: the names and sizes of all.
    #[serde(default)]
    pub(crate) name: Option<String>,
}

impl GpusCall {
    /// The command line.
    pub(crate) fn to_words(&self) -> Result<CommandWords, CallError> {
        let mut line = CommandWords::of("gpus");
        if let Some(name) = &self.name {
            line.words.extend(["--".into(), name.into()]);
        }
        refuse_null(&line)?;
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;

    fn limits(folder: &Path) -> CallLimits {
        fs::create_dir_all(folder.join("env/bin")).expect("a folder");
        for file in ["train.py", "--html", "env/bin/python", "crash.log"] {
            fs::write(folder.join(file), "").expect("a file");
        }
        CallLimits { confinement: Confinement::of(folder).expect("a folder"), python: Some("/opt/python".into()) }
    }

    fn words<T: DeserializeOwned>(value: Value, convert: impl Fn(&T) -> Result<CommandWords, CallError>) -> String {
        let line = serde_json::from_value(value).map_err(CallError::from).and_then(|input| convert(&input));
        match line {
            Ok(line) => {
                let words: Vec<_> = line.words.iter().map(|word| word.to_string_lossy()).collect();
                [words.join(" "), line.input.map_or_else(String::new, |text| format!(" < {text}"))].concat()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_call_becomes_a_command_line_whose_values_are_no_options() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let limits = limits(place.path());
        let env = limits.confinement.root().join("env/bin/python").display().to_string();
        let cases = [
            (json!({"script": "train.py"}), "check --json --python=/opt/python train.py".to_owned()),
            (
                json!({"script": "train.py", "args": ["--gpu", "x"], "gpu": "--html=x", "vram": "8GiB", "gpus": 2, "steps": 0}),
                "check --json --steps=0 --gpu=--html=x --vram=8GiB --gpus=2 --python=/opt/python train.py --gpu x"
                    .to_owned(),
            ),
            (json!({"script": "--html"}), "check --json --python=/opt/python ./--html".to_owned()),
            (
                json!({"script": "train.py", "python": "env/bin/python", "world_size": 8, "timeout_seconds": 9}),
                format!("check --json --world-size=8 --timeout=9 --python={env} train.py"),
            ),
            (
                json!({"script": "train.py", "python": "/opt/python", "gpu": null}),
                "check --json --python=/opt/python train.py".to_owned(),
            ),
        ];
        for (value, expected) in cases {
            let shown = value.to_string();
            assert_eq!(words(value, |input: &CheckCall| input.to_words(&limits)), expected, "{shown}");
        }
        let fit = json!({"script": "train.py", "max_batch": true, "allow": ["lora"], "deny": ["--yes", "b"]});
        assert_eq!(
            words(fit, |input: &FitCall| input.to_words(&limits)),
            "fit --json --max-batch --allow=lora --deny=--yes --deny=b --python=/opt/python train.py"
        );
        let explain = |input: &ExplainCall| input.to_words(&limits);
        assert_eq!(words(json!({"paths": ["crash.log", "--html"]}), explain), "explain --json crash.log ./--html");
        assert_eq!(words(json!({"paths": ["crash.log"], "text": "t"}), explain), "explain --json crash.log - < t");
        assert_eq!(words(json!({"name": "--x"}), GpusCall::to_words), "gpus --json -- --x");
    }

    #[test]
    fn wrong_arguments_are_refused_with_what_is_known() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let limits = limits(place.path());
        let cases = [
            (json!({}), "missing field `script`"),
            (
                json!({"script": "train.py", "batch": 3}),
                "unknown field `batch`, expected one of `script`, `args`, `gpu`",
            ),
            (json!({"script": "train.py", "args": "--x"}), "invalid type: string"),
            (json!({"script": "train.py", "detail": "long"}), "expected `brief` or `full`"),
            (json!({"script": "train.py", "gpus": -1}), "invalid value: integer `-1`"),
            (json!({"script": "train.py", "args": ["a\u{0}b"]}), "an argument has a null character"),
            (json!({"script": "../train.py"}), "is outside of"),
            (json!({"script": "train.py", "python": "/usr/bin/python3"}), "neither in"),
        ];
        for (value, expected) in cases {
            let shown = value.to_string();
            let said = words(value, |input: &CheckCall| input.to_words(&limits));
            assert!(said.contains(expected), "{shown}: {said}");
        }
        for value in [json!({}), json!({"text": " "}), json!({"paths": []})] {
            let said = words(value, |input: &ExplainCall| input.to_words(&limits));
            assert!(said.starts_with("nothing to explain"), "{said}");
        }
    }
}
