//! Measures recall and precision on a corpus of pairs: `cargo run --release -p lint --example corpus -- FOLDER [WORD]`.
//!
//! Each file of the folder is a kind of mistake. A case has `diff` blocks, one per file of a small project: the version with `-` lines has
//! the mistake, the one with `+` lines is mended; a `python` block is a look-alike without a mistake. A mistake counts as found if a rule
//! of its kind reports it and reports nothing of the kind in the mended version. All other findings are false alarms, also in the version
//! with the mistake. With WORD, only cases whose kind or title has it are run, and all findings are printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lint::{Options, Project, ProjectFile, SourceFile};

/// The rules that name each kind of mistake.
const KINDS: &[(&str, &[&str])] = &[
    ("accumulated-graph", &["accumulated-graph", "graph-in-collection"]),
    ("graph-in-collection", &["graph-in-collection", "accumulated-graph", "hook-keeps-tensors"]),
    ("outputs-on-gpu", &["outputs-kept-on-gpu", "eval-logits-on-gpu", "cat-in-loop", "loader-in-list"]),
    ("no-grad-missing", &["grad-recorded-in-eval", "forward-without-no-grad"]),
    ("carried-state", &["carried-hidden-state", "accumulated-graph"]),
    ("retain-graph", &["retain-graph-in-loop"]),
    ("create-graph", &["create-graph-in-backward"]),
    ("zero-grad", &["missing-zero-grad", "zero-grad-after-forward", "gradients-kept-as-zeros", "method-not-called"]),
    ("no-grad-not-entered", &["no-grad-not-entered"]),
    ("accumulation", &["accumulation-skips-backward", "accumulation-without-division"]),
    ("hooks", &["hook-keeps-tensors", "hook-registered-in-loop", "graph-in-collection"]),
    ("exceptions", &["exception-kept", "retry-in-except"]),
    ("kept-copies", &["model-copied-in-loop", "tensors-in-cache", "checkpoints-kept"]),
    ("debugging-left-on", &["anomaly-detection-left-on", "profiler-without-schedule", "memory-history-unbounded"]),
    ("dataset-on-gpu", &["dataset-on-gpu", "loader-in-list", "cuda-in-dataset"]),
    ("cuda-in-dataset", &["cuda-in-dataset", "workers-with-gpu-tensors"]),
    ("distributed-device", &["every-rank-on-gpu-0", "local-rank-unused"]),
    ("load", &["load-without-map-location"]),
    ("alloc-conf", &["alloc-conf-after-cuda", "alloc-conf-ignored", "max-split-size-with-expandable-segments"]),
    ("empty-cache", &["empty-cache-in-loop"]),
    ("gc-collect", &["gc-collect-in-loop"]),
    ("amp", &["deprecated-cuda-amp", "amp-argument-names", "backward-in-autocast"]),
    (
        "big-intermediates",
        &[
            "pairwise-by-broadcasting",
            "attention-matrix",
            "one-hot-of-vocabulary",
            "log-of-softmax",
            "repeat-of-tensor",
        ],
    ),
    ("cat-in-loop", &["cat-in-loop", "eval-logits-on-gpu", "outputs-kept-on-gpu"]),
    (
        "loaders",
        &[
            "cycle-keeps-batches",
            "loader-in-list",
            "loader-restarted-in-loop",
            "non-blocking-without-pinned-memory",
            "workers-unset",
            "created-on-the-host",
            "python-objects-in-dataset",
            "memory-map-read-whole",
            "batches-queued-on-the-host",
        ],
    ),
    (
        "parallel",
        &[
            "data-parallel",
            "accumulation-without-no-sync",
            "cuda-graph-per-shape",
            "process-group-in-loop",
            "checkpoint-without-use-reentrant",
            "offload-after-cuda",
        ],
    ),
];

/// Style rules whose findings are not counted outside of their kind: they are true of most programs.
const PEDANTIC: &[&str] = &[
    "workers-unset",
    "created-on-the-host",
    "non-blocking-without-pinned-memory",
    "deprecated-cuda-amp",
    "checkpoint-without-use-reentrant",
];

struct Case {
    kind: String,
    title: String,
    /// Name, version with the mistake, mended version.
    files: Vec<(String, String, String)>,
    is_pair: bool,
}

/// The files of a case, by path.
struct Files(BTreeMap<PathBuf, Arc<ProjectFile>>);

impl Project for Files {
    fn read(&self, path: &Path) -> Option<Arc<ProjectFile>> {
        self.0.get(path).cloned()
    }

    fn roots(&self, importer: &Path) -> Vec<PathBuf> {
        importer.ancestors().skip(1).map(Path::to_owned).collect()
    }

    fn importers(&self, path: &Path) -> Vec<PathBuf> {
        let Some(stem) = path.file_stem().and_then(|it| it.to_str()) else { return Vec::new() };
        let imports = |text: &str| {
            text.lines().any(|line| line.contains("import") && line.split(['.', ' ', ',']).any(|word| word == stem))
        };
        self.0
            .iter()
            .filter(|(other, text)| *other != path && imports(text.text()))
            .map(|(other, _)| other.clone())
            .collect()
    }
}

/// The figures of a kind, or of a whole folder.
#[derive(Default)]
pub(crate) struct Count {
    pub(crate) pairs: usize,
    pub(crate) found: usize,
    pub(crate) false_alarms: usize,
    look_alikes: usize,
    findings: usize,
}

/// Returns the figures of a folder.
#[cfg(test)]
pub(crate) fn measure(folder: &Path) -> Count {
    let mut total = Count::default();
    for case in read(folder) {
        judge(&case, &mut total, false, false);
    }
    total
}

/// Returns the cases with a file that is no Python.
#[cfg(test)]
pub(crate) fn unreadable(folder: &Path) -> Vec<String> {
    let is_broken = |case: &Case| {
        case.files.iter().any(|(_, old, new)| [old, new].into_iter().any(|it| ProjectFile::new(it.clone()).is_none()))
    };
    read(folder).iter().filter(|case| is_broken(case)).map(|case| format!("{}: {}", case.kind, case.title)).collect()
}

/// Returns the names of all rules that name a kind.
#[cfg(test)]
pub(crate) fn rules_of_kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().flat_map(|(_, rules)| rules.iter().copied())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.first() else {
        eprintln!("usage: corpus FOLDER [WORD]");
        std::process::exit(2);
    };
    let word = arguments.get(1);
    let quiet = word.is_some_and(|it| it == "--quiet");
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for case in read(Path::new(folder)) {
        let is_asked = word.is_none_or(|it| quiet || case.title.contains(&**it) || case.kind == **it);
        if !is_asked {
            continue;
        }
        let count = counts.entry(case.kind.clone()).or_default();
        judge(&case, count, !quiet, word.is_some() && !quiet);
    }
    let mut all = Count::default();
    println!("{:24} {:>6} {:>6} {:>12} {:>12}", "kind", "pairs", "found", "look-alikes", "false alarms");
    for (kind, it) in &counts {
        println!("{kind:24} {:>6} {:>6} {:>12} {:>12}", it.pairs, it.found, it.look_alikes, it.false_alarms);
        all.pairs += it.pairs;
        all.found += it.found;
        all.look_alikes += it.look_alikes;
        all.false_alarms += it.false_alarms;
        all.findings += it.findings;
    }
    println!("{:24} {:>6} {:>6} {:>12} {:>12}", "all", all.pairs, all.found, all.look_alikes, all.false_alarms);
    let share = |part: usize, whole: usize| {
        let number = |it: usize| f64::from(u32::try_from(it).unwrap_or(u32::MAX));
        100.0 * number(part) / number(whole.max(1))
    };
    println!(
        "recall {:.1} %, precision {:.1} % of {} findings",
        share(all.found, all.pairs),
        share(all.findings - all.false_alarms, all.findings),
        all.findings
    );
}

fn judge(case: &Case, count: &mut Count, says: bool, says_all: bool) {
    let rules = KINDS.iter().find(|(kind, _)| *kind == case.kind).map_or(&[][..], |(_, rules)| rules);
    let before = findings(case, |file| &file.1);
    let after = if case.is_pair { findings(case, |file| &file.2) } else { before.clone() };
    let of_kind = |it: &&(String, u32, String)| rules.contains(&&*it.2);
    let is_counted = |it: &&(String, u32, String)| rules.contains(&&*it.2) || !PEDANTIC.contains(&&*it.2);
    let wrong: Vec<&(String, u32, String)> = after.iter().filter(is_counted).collect();
    if case.is_pair {
        count.pairs += 1;
        let in_before = before.iter().filter(of_kind).count();
        let in_after = after.iter().filter(of_kind).count();
        count.findings += in_before.min(1);
        if in_before > in_after {
            count.found += 1;
        } else if says {
            println!("missed: {} | {}", case.kind, case.title);
        }
    } else {
        count.look_alikes += 1;
    }
    count.false_alarms += wrong.len();
    count.findings += wrong.len();
    if says {
        for (file, line, rule) in wrong {
            println!("false: {} | {} | {file}:{line} {rule}", case.kind, case.title);
        }
    }
    if says_all {
        println!("  before {before:?}\n  after {after:?}");
    }
}

fn findings(case: &Case, version: impl Fn(&(String, String, String)) -> &String) -> Vec<(String, u32, String)> {
    let files = case.files.iter().filter_map(|file| {
        let text = ProjectFile::new(version(file).clone())?;
        Some((Path::new("project").join(&file.0), Arc::new(text)))
    });
    let project = Files(files.collect());
    let mut all = Vec::new();
    for (path, text) in &project.0 {
        let Ok(source) = SourceFile::python(text.text().as_bytes()) else { continue };
        match lint::check_in(&source, &Options::all(), path, &project) {
            Ok(found) => all
                .extend(found.into_iter().map(|it| (path.display().to_string(), it.start.line, it.rule.0.to_owned()))),
            Err(error) => eprintln!("{}: {}: {error}", case.kind, case.title),
        }
    }
    all
}

fn read(folder: &Path) -> Vec<Case> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("{}: no such folder", folder.display());
        std::process::exit(2);
    };
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "md")).collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let kind = path.file_stem().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        cases.extend(text.split("\n## ").skip(1).map(|part| parse(&kind, part)));
    }
    cases
}

fn parse(kind: &str, part: &str) -> Case {
    let title = part.lines().next().unwrap_or_default().to_owned();
    let mut case = Case { kind: kind.to_owned(), title, files: Vec::new(), is_pair: false };
    let mut open: Option<(bool, String, String, String)> = None;
    for line in part.lines() {
        match &mut open {
            None => {
                if let Some(rest) = line.strip_prefix("```diff").or_else(|| line.strip_prefix("```python")) {
                    let is_diff = line.starts_with("```diff");
                    let name = if rest.trim().is_empty() {
                        format!("main{}.py", case.files.len())
                    } else {
                        rest.trim().to_owned()
                    };
                    open = Some((is_diff, name, String::new(), String::new()));
                    case.is_pair |= is_diff;
                }
            }
            Some(_) if line == "```" => {
                if let Some((_, name, old, new)) = open.take() {
                    case.files.push((name, old, new));
                }
            }
            Some((is_diff, _, old, new)) => {
                let (mark, rest) = if *is_diff {
                    (line.chars().next().unwrap_or(' '), line.get(1..).unwrap_or_default())
                } else {
                    (' ', line)
                };
                if mark != '+' {
                    old.push_str(rest);
                    old.push('\n');
                }
                if mark != '-' {
                    new.push_str(rest);
                    new.push('\n');
                }
            }
        }
    }
    case
}
