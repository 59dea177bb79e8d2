//! Programs that change files, with the phantom preloaded and a journal; afterwards `world::undo` puts everything back.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "undo/tree.rs"]
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::process::{Command, Output};
use std::time::Duration;

use tempfile::TempDir;
use world::undo::{Undone, undo};

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

    /// The journal as text.
    fn records(&self) -> String {
        let journal = fs::read(self.journal.path().join("journal")).unwrap_or_default();
        let text = String::from_utf8_lossy(&journal).replace("\0\u{1}", "\n").replace('\0', " ");
        text.replace(self.root.path().to_str().unwrap(), "")
    }

    fn undo(&self) -> Undone {
        undo(self.journal.path(), &[])
    }
}

/// True if files of the guard are left.
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
        assert!(after.get(path) == Some(state), "{script}\n{path:?} was {}: {:?}", short(state), undone.failures);
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

/// A program that changes files without an end: threads of several processes, each with paths of its own and three that
/// all write to; with `all`, all of them change all paths.
const ENDLESS: &str = r#"
import os, random, shutil, sys, threading
everybody = ["a.txt", "b.bin", "log", "hard1", "sub/c.txt", "empty", "link", "holes", "new"]
def work(name):
    random.seed(f"{sys.argv[1]} {name}")
    own = [f"{kind}{name}" for kind in "no"] + [everybody[3 + int(name[0])], everybody[6 + int(name[0])]]
    names = everybody if sys.argv[2] == "all" else own
    while True:
        one, other = random.sample(names, 2)
        try:
            turn = random.randrange(10)
            if turn == 0: os.unlink(one)
            elif turn == 1: os.replace(one, other)
            elif turn == 2: open(one, "w").write("w" * random.randrange(9000))
            elif turn == 3: open(one, "r+").write("changed")
            elif turn == 4: open(one, "a").write("more")
            elif turn == 5: os.link(one, other)
            elif turn == 6: os.chmod(one, random.choice([0o600, 0o644, 0o755]))
            elif turn == 7: open("log", "a").write("shared")
            elif turn == 8: open("b.bin", "r+").write(name)
            else: os.makedirs(f"m{name}/n", exist_ok=True); open(f"m{name}/n/o", "w"); shutil.rmtree(f"m{name}", True)
        except OSError:
            pass
process = 0
for child in (1, 2):
    if os.fork() == 0:
        process = child
        break
print("started", flush=True)
work(str(process))
"#;

/// Waits until no process of a group is left.
fn wait_for_end(group: rustix::process::Pid) {
    while rustix::process::test_kill_process_group(group).is_ok() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Starts the endless program, kills it after some time, and returns the tree before.
fn run_and_kill(bench: &Bench, seed: u64, threads: &str) -> tree::Tree {
    use std::io::Read as _;
    use std::os::unix::process::CommandExt as _;
    let before = tree::read(bench.root.path());
    let mut command = bench.command("python3");
    command.args(["-c", ENDLESS, &seed.to_string(), threads]).stdout(Stdio::piped()).process_group(0);
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 7]).unwrap();
    std::thread::sleep(Duration::from_millis(5 + seed * 37 % 120));
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    child.wait().unwrap();
    wait_for_end(group);
    before
}

#[test]
fn killed_programs_are_undone() {
    for seed in 0..40 {
        let bench = Bench::new(PLACES[usize::try_from(seed % 2).unwrap()]);
        let before = run_and_kill(&bench, seed, "own");
        let text = bench.records();
        let undone = bench.undo();
        same(&before, &bench, &format!("seed {seed}\n{text}"), &undone);
    }
}

/// Processes that change the same paths at the same time: the originals come back, whatever else is left.
#[test]
fn originals_survive_processes_that_race() {
    for seed in 0..40 {
        let bench = Bench::new(PLACES[usize::try_from(seed % 2).unwrap()]);
        let before = run_and_kill(&bench, seed, "all");
        let text = bench.records();
        let undone = bench.undo();
        let after = tree::read(bench.root.path());
        for (path, state) in before {
            let found = after.get(&path).map(|state| (state.0, state.4.len(), &state.4));
            assert_eq!(
                found,
                Some((state.0, state.4.len(), &state.4)),
                "seed {seed} {path:?}\n{text}\n{:?}",
                undone.failures
            );
        }
    }
}

/// An undo that was killed after any number of records is finished by the next.
#[test]
fn an_undo_that_was_cut_off_is_finished_by_the_next() {
    for seed in 0..6 {
        let bench = Bench::new(PLACES[usize::try_from(seed % 2).unwrap()]);
        let before = run_and_kill(&bench, seed, "own");
        // The program of this test undoes, and is killed.
        for delay in [0_u64, 1, 2, 3, 5] {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "undoes_for_another_test", "--ignored"])
                .env("UNDO_FOLDER", bench.journal.path())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(3 + delay));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let undone = bench.undo();
        same(&before, &bench, &format!("seed {seed}"), &undone);
    }
}

#[test]
#[ignore = "a part of another test"]
fn undoes_for_another_test() {
    undo(Path::new(&std::env::var_os("UNDO_FOLDER").unwrap()), &[]);
}
