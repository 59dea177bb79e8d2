//! The Python of the script, and its PyTorch, found without the import, which takes seconds.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use base::{Error, SetupError};
use serde::Deserialize;
use trace::Release;
use trace::release::SUPPORTED;

use crate::environment;

/// Prints the content of PyTorch's `version.py`, or `null`.
const PROBE: &str = r#"
import importlib.util, json, runpy
spec = importlib.util.find_spec("torch")
found = None
if spec and spec.origin:
    import os
    version = runpy.run_path(os.path.join(os.path.dirname(spec.origin), "version.py"))
    found = {"version": str(version["__version__"]), "cuda": version.get("cuda")}
print(json.dumps(found))
"#;

/// The content of `torch/version.py`.
#[derive(Debug, Deserialize)]
struct Torch {
    version: String,
    cuda: Option<String>,
}

/// Chooses the Python for scripts: the named one, the active environment's, the Python of oomph's own environment, else
/// `python3` or `python`.
pub(crate) fn choose(named: Option<&Path>) -> PathBuf {
    if let Some(named) = named {
        return named.to_owned();
    }
    let active = [environment::VIRTUAL_ENV, environment::CONDA_PREFIX].into_iter().filter_map(environment::get);
    let mut active = active.map(|prefix| PathBuf::from(prefix).join("bin/python")).filter(|python| python.is_file());
    active
        .next()
        .or_else(beside)
        .or_else(|| on_path("python3"))
        .or_else(|| on_path("python"))
        .unwrap_or_else(|| PathBuf::from("python3"))
}

/// Returns the Python of the virtual environment that oomph is installed in.
fn beside() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.to_owned();
    let is_environment = folder.parent()?.join("pyvenv.cfg").is_file();
    Some(folder.join("python")).filter(|python| is_environment && python.is_file())
}

/// Finds a program as the shell would.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = environment::get(environment::PATH)?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Checks that a Python has a supported PyTorch.
pub(crate) fn check_torch(python: &Path) -> Result<(), Error> {
    crate::unpack::check_processor()?;
    let torch = probe(python)?.ok_or_else(|| Error::from(SetupError::NoTorch(python.to_owned())))?;
    check_version(python, torch)
}

fn probe(python: &Path) -> Result<Option<Torch>, Error> {
    let output = Command::new(python)
        .args([OsStr::new("-c"), OsStr::new(PROBE)])
        .stdin(Stdio::null())
        .output()
        .map_err(|source| Error::from(SetupError::NoPython { python: python.to_owned(), source }))?;
    // Start-up files of Python may print, too; the probe's line is the last.
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).map_err(|_| no_answer(python, &output))
}

/// Builds the error for a Python without an answer from its last words, such as a traceback's last line.
fn no_answer(python: &Path, output: &Output) -> Error {
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let file = lines.iter().rev().find(|line| line.starts_with("File "));
    let answer = match (lines.last(), file) {
        (Some(last), Some(file)) => format!("{last}\n  at {file}"),
        (Some(last), None) => (*last).to_owned(),
        (None, _) => output.status.to_string(),
    };
    Error::from(SetupError::NoAnswer { python: python.to_owned(), answer })
}

fn check_version(python: &Path, torch: Torch) -> Result<(), Error> {
    if torch.cuda.is_none() {
        return Err(Error::from(SetupError::CpuOnlyTorch { python: python.to_owned(), version: torch.version }));
    }
    let is_supported = Release::parse(&torch.version).is_some_and(|release| SUPPORTED.contains(release));
    if is_supported { Ok(()) } else { Err(Error::from(SetupError::UnsupportedTorch { version: torch.version })) }
}
