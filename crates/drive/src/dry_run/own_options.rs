//! The options, keys and variables of a program: from the records of its first run, the words of its command line, and its configuration
//! files.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use options::OwnOption;
use serde_json::Value;
use trace::Run;
use wire::file;

/// Larger files hold data.
const MOST_BYTES: u64 = 256 << 10;
/// Files about a model, not about a training.
const OF_MODELS: [&str; 8] = [
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "preprocessor_config.json",
    "model.safetensors.index.json",
];

/// The options and files of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnSettings {
    /// The settings.
    pub(super) options: Vec<OwnOption>,
    /// A sentence for each key that cannot be changed.
    pub(super) refused: Vec<String>,
    /// The program's own sources and configuration files.
    pub(super) sources: Vec<PathBuf>,
}

/// Finds the options of a program. `folder`: the run directory.
pub(super) fn find(run: &Run, command: &[OsString], folder: &Path) -> OwnSettings {
    let recorded = run.processes.iter().flat_map(|process| &process.own_options).map(|record| OwnOption {
        key: key_of(&record.names, command),
        value: serde_json::from_str(&record.value).unwrap_or_default(),
        choices: record.choices.clone(),
        help: record.help.clone(),
        on: record.on.clone(),
    });
    let mut found = OwnSettings { options: recorded.collect(), ..OwnSettings::default() };
    for option in options::list_in_words(command) {
        let is_known = found.options.iter().any(|known| is_same(&known.key, &option.key));
        let is_text = option.value.is_string() && options::half_precision(&option.value, &[]).is_none();
        if !is_known && !is_text {
            found.options.push(option);
        }
    }
    let opened = list_opened(folder);
    let files = list_files(command, &opened);
    for path in &files {
        found.add_file(path);
    }
    let named = command.iter().map(PathBuf::from).chain(opened);
    let sources = named.filter(|path| is_source(path) && path.is_file()).chain(files);
    let sources: BTreeSet<PathBuf> = sources.filter_map(|path| path.canonicalize().ok()).collect();
    found.sources = sources.into_iter().collect();
    found
}

fn is_same(one: &str, other: &str) -> bool {
    let spelled = |key: &str| options::name_of(key).replace('_', "-");
    spelled(one) == spelled(other)
}

/// The spelling of the command line, or the longest.
fn key_of(names: &[String], command: &[OsString]) -> String {
    let positive: Vec<String> = names.iter().filter(|name| !name.starts_with("--no-")).cloned().collect();
    let names = if positive.is_empty() { names } else { &positive };
    let longest = || names.iter().rev().max_by_key(|name| name.len());
    options::spelling_in(command, names).or_else(longest).cloned().unwrap_or_default()
}

impl OwnSettings {
    /// Adds the keys of a file with a purpose.
    fn add_file(&mut self, path: &Path) {
        let is_small = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MOST_BYTES);
        let Some(text) = is_small.then(|| fs::read_to_string(path).ok()).flatten() else { return };
        let shown = path.display().to_string();
        // A file in another format is left out.
        for (option, line) in options::list_keys(&shown, &text).unwrap_or_default() {
            if options::find_purpose(&option).is_none() {
                continue;
            }
            let name = options::name_of(&option.key);
            let other = option
                .value
                .as_u64()
                .map_or_else(|| options::half_precision(&option.value, &[]), |size| Some(Value::from(size + 1)));
            match other.map(|other| options::edit(&text, name, &other)) {
                Some(Err(why)) => self.refused.push(format!("{shown}:{line} is not changed: {why}")),
                Some(Ok(_)) => self.options.push(option),
                None => {}
            }
        }
    }
}

/// The YAML and JSON files of the command line and of the run, each once; relative to this folder for files below.
fn list_files(command: &[OsString], opened: &[PathBuf]) -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let words = command.iter().skip(1).filter_map(|word| word.to_str());
    let named = words.map(|word| word.split_once('=').map_or(word, |(_, value)| value)).map(PathBuf::from);
    let named: Vec<PathBuf> = named.filter(|path| is_configuration(path)).collect();
    let opened = opened.iter().filter(|path| is_configuration(path) && !is_of_model(path)).cloned();
    let mut seen = BTreeSet::new();
    let all =
        named.into_iter().chain(opened).filter(|path| !is_installed(path) && seen.insert(path.canonicalize().ok()));
    all.map(|path| path.strip_prefix(&here).map_or_else(|_| path.clone(), Path::to_path_buf)).collect()
}

/// The files below this folder, opened by a run for reading.
fn list_opened(folder: &Path) -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let notes = fs::read(folder.join(file::FILES)).unwrap_or_default();
    let opened = notes.split(|byte| *byte == 0).filter_map(|note| std::str::from_utf8(note).ok()?.strip_prefix("r "));
    let opened = opened.filter_map(|note| note.split_once(' ')).filter(|(state, _)| *state != "-");
    opened.map(|(_, path)| PathBuf::from(path)).filter(|path| path.starts_with(&here)).collect()
}

fn is_source(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ["py", "ipynb", "sh", "toml", "cfg"].contains(&ending)) && !is_installed(path)
}

fn is_configuration(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ["yaml", "yml", "json"].contains(&ending))
}

fn is_of_model(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| OF_MODELS.contains(&name))
}

fn is_installed(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "site-packages")
}
