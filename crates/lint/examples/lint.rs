//! Lints files and folders with one thread, and measures the speed: `cargo run --release -p lint --example lint -- FOLDER ...`.
//!
//! Findings go to standard output, one a line; unreadable files and the measurement to standard error. `--all` selects all rules,
//! `--quiet` prints the measurement alone, `--alone` reads each file by itself.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lint::{Options, SourceFile};

#[path = "../../oomph/src/commands/lint/project.rs"]
mod project;

use project::DiskProject;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|it| it == flag);
    let options = if has("--all") { Options::all() } else { Options::default() };
    let mut files = Vec::new();
    arguments.iter().filter(|it| !it.starts_with("--")).for_each(|it| collect(Path::new(it), &mut files));
    files.sort();
    let listed: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let project = DiskProject::of(&listed);
    let alone = has("--alone");
    let (mut lines, mut findings, mut unreadable, mut spent) = (0, 0, 0, Duration::ZERO);
    for path in files.clone() {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let start = Instant::now();
        let is_notebook = path.extension().is_some_and(|it| it == "ipynb");
        let source = if is_notebook { SourceFile::notebook(&bytes) } else { SourceFile::python(&bytes) };
        let found = source.and_then(|source| {
            if alone { lint::check(&source, &options) } else { lint::check_in(&source, &options, &path, &project) }
        });
        spent += start.elapsed();
        lines += bytes.split(|&byte| byte == b'\n').count() - 1;
        match found {
            Ok(found) => {
                findings += found.len();
                for finding in found.iter().filter(|_| !has("--quiet")) {
                    println!(
                        "{}:{}:{}: {} ({:?}): {}",
                        path.display(),
                        finding.start.line,
                        finding.start.column,
                        finding.rule,
                        finding.certainty,
                        finding.message
                    );
                }
            }
            Err(error) => {
                unreadable += 1;
                eprintln!("{}: {error}", path.display());
            }
        }
    }
    let speed = f64::from(u32::try_from(lines).unwrap_or(u32::MAX)) / spent.as_secs_f64();
    eprintln!(
        "{lines} lines, {findings} findings, {unreadable} files unreadable, {:.2} s, {speed:.0} lines/s",
        spent.as_secs_f64()
    );
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        entries.flatten().for_each(|entry| collect(&entry.path(), files));
    } else if path.extension().is_some_and(|it| it == "py" || it == "ipynb") {
        files.push(path.to_owned());
    }
}
