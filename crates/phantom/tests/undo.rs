//! Programs that change files, with the phantom preloaded and a journal; afterwards `world::undo` puts everything back.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "undo/tree.rs"]
mod tree;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use world::undo::{ChangeKind, Undone, undo};

/// The file systems: that of the journal, and another, of memory.
const PLACES: [&str; 2] = ["/tmp", "/dev/shm"];

fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("liboomph_phantom.so")
}

/// A tree and a journal.
struct Bench {
    root: TempDir,
    journal: TempDir,
}

impl Bench {
    fn new(place: &str) -> Bench {
        let bench = Bench { root: TempDir::new_in(place).unwrap(), journal: TempDir::new_in("/tmp").unwrap() };
        tree::make(bench.root.path());
        bench
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root.path()).env("LD_PRELOAD", library()).env("OOMPH_UNDO", self.journal.path());
        command
    }

    fn run(&self, language: &str, script: &str) -> Output {
        self.command(language).arg("-c").arg(script).output().unwrap()
    }

    fn undo(&self) -> Undone {
        undo(self.journal.path(), &[])
    }
}

/// The folders for originals that are left on a mount.
fn left_over(bench: &Bench) -> bool {
    let name = format!(".oomph-undo-{}", bench.journal.path().file_name().unwrap().to_str().unwrap());
    let above = bench.root.path().ancestors().any(|folder| folder.join(&name).exists());
    above || bench.journal.path().join("journal").exists() || bench.journal.path().join("stash").exists()
}

/// Runs a script, undoes its changes, and compares the trees.
fn check(place: &str, language: &str, script: &str) -> Undone {
    let bench = Bench::new(place);
    let before = tree::read(bench.root.path());
    let output = bench.run(language, script);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{place} {script}\n{text}");
    assert_ne!(tree::read(bench.root.path()), before, "{place} {script}: nothing was changed");
    let undone = bench.undo();
    same(&before, &bench, &format!("{place} {script}"), &undone);
    undone
}

fn same(before: &tree::Tree, bench: &Bench, script: &str, undone: &Undone) {
    let after = tree::read(bench.root.path());
    for (path, state) in before {
        let short = |state: &tree::State| format!("{:o} {:?} {} bytes", state.0, (state.2, state.3), state.4.len());
        assert_eq!(after.get(path), Some(state), "{script}\n{path:?} was {}: {:?}", short(state), undone.failures);
    }
    let made: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(made.is_empty(), "{script}\nleft: {made:?} {:?}", undone.failures);
    assert!(undone.failures.is_empty(), "{script}\n{:?}", undone.failures);
    assert!(!left_over(bench), "{script}: the stash is left");
}

#[test]
fn python_programs_are_undone() {
    for script in include_str!("undo/programs.py").split("\n# ---").skip(1) {
        for place in PLACES {
            check(place, "python3", &format!("# {script}"));
        }
    }
}

#[test]
fn shell_programs_are_undone() {
    for script in include_str!("undo/programs.sh").split("\n# ---").skip(1) {
        for place in PLACES {
            check(place, "sh", &format!("set -e\n# {script}"));
        }
    }
}
