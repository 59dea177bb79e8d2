//! Programs that change files, with the phantom preloaded and a journal; afterwards `world::undo` puts everything back.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "undo/tree.rs"]
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::process::{Command, Output};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tempfile::TempDir;
use world::undo::{JournaledKind, Undone, undo};

/// Runs that are killed, for each test.
const RUNS: u64 = 8;
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

    /// The folders for originals that are there.
    fn stashes(&self) -> Vec<PathBuf> {
        let name = format!(".oomph-undo-{}", self.journal.path().file_name().unwrap().to_str().unwrap());
        let above = self.root.path().ancestors().map(|folder| folder.join(&name));
        above.chain([self.journal.path().join("stash")]).filter(|folder| folder.exists()).collect()
    }

    fn undo(&self) -> Undone {
        undo(self.journal.path(), &|_| false)
    }
}

/// Runs a script, undoes its changes, and compares the trees.
fn check(place: &str, language: &str, script: &str) {
    let bench = Bench::new(place);
    let before = tree::read(bench.root.path());
    let output = bench.run(language, script);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{place} {script}\n{text}");
    assert_ne!(tree::read(bench.root.path()), before, "{place} {script}: nothing was changed");
    let undone = bench.undo();
    same(&before, &bench, &format!("{place} {script}"), &undone);
}

fn same(before: &tree::Tree, bench: &Bench, script: &str, undone: &Undone) {
    let after = tree::read(bench.root.path());
    for (path, state) in before {
        let short = |state: &tree::State| format!("{:o} {:?} {} bytes", state.0, (state.2, state.3), state.4.len());
        assert!(
            after.get(path) == Some(state),
            "{script}\n{} was {}: {:?}",
            path.display(),
            short(state),
            undone.failures
        );
    }
    let made: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(made.is_empty(), "{script}\nleft: {made:?} {:?}", undone.failures);
    assert!(undone.failures.is_empty() && undone.left.is_empty(), "{script}\n{undone:?}");
    let has_journal = bench.journal.path().join("journal").exists();
    assert!(bench.stashes().is_empty() && !has_journal, "{script}: files of the guard are left");
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
    for seed in 0..RUNS {
        let bench = Bench::new(PLACES[usize::try_from(seed % 2).unwrap()]);
        let before = run_and_kill(&bench, seed, "own");
        let text = bench.records();
        let undone = bench.undo();
        same(&before, &bench, &format!("seed {seed}\n{text}"), &undone);
    }
}

/// Processes that change the same paths at the same time: an original comes back, or is in the stash and the undo says so.
#[test]
#[ignore = "a file that one process truncates while another renames an original to its path is lost, in 1 of some 50 runs"]
fn originals_survive_processes_that_race() {
    let mut unrestored = 0;
    for seed in 0..RUNS {
        let bench = Bench::new(PLACES[usize::try_from(seed % 2).unwrap()]);
        let before = run_and_kill(&bench, seed, "all");
        let text = bench.records();
        let undone = bench.undo();
        let after = tree::read(bench.root.path());
        let mut left: Vec<_> = after.values().map(|state| state.4.clone()).collect();
        for stash in bench.stashes() {
            left.extend(tree::read(&stash).into_values().map(|state| state.4));
        }
        let is_back = |path: &Path, state: &tree::State| after.get(path).is_some_and(|found| found.4 == state.4);
        let missing: Vec<_> = before.iter().filter(|(path, state)| !is_back(path, state)).collect();
        for (path, state) in &missing {
            let is_left = left.iter().any(|content| content.starts_with(&state.4));
            assert!(is_left, "seed {seed}: {path:?} is lost\n{text}\n{:?}", undone.failures);
            assert!(!undone.failures.is_empty(), "seed {seed}: nothing was said of {path:?}\n{text}");
        }
        unrestored += missing.len();
    }
    println!("{unrestored} files of {RUNS} trees are in the stash");
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
    undo(Path::new(&std::env::var_os("UNDO_FOLDER").unwrap()), &|_| false);
}

/// An operation on files of a small set, as a line of Python.
fn operation() -> impl Strategy<Value = String> {
    let path = prop::sample::select(vec![
        "a.txt",
        "b.bin",
        "empty",
        "hard1",
        "log",
        "sub/c.txt",
        "sub/hard2",
        "sub/deep/d.txt",
        "other/e.txt",
        "link",
        "dangling",
        "holes",
        "folder_link/c.txt",
        "new",
        "sub/new",
        "other/new",
    ]);
    let folder = prop::sample::select(vec!["sub", "sub/deep", "other", "hollow", "made", "other/made", "folder_link"]);
    let any = prop_oneof![path.clone(), folder.clone()];
    let mode = prop::sample::select(vec!["w", "a", "r+", "w+", "a+", "x"]);
    prop_oneof![
        4 => (path.clone(), mode, 0..2000_usize).prop_map(|(path, mode, length)| {
            format!("open('{path}', '{mode}').write('z' * {length})")
        }),
        3 => (any.clone(), any.clone()).prop_map(|(from, to)| format!("os.rename('{from}', '{to}')")),
        2 => path.clone().prop_map(|path| format!("os.unlink('{path}')")),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| format!("os.link('{from}', '{to}')")),
        1 => (path.clone(), path.clone()).prop_map(|(text, path)| format!("os.symlink('{text}', '{path}')")),
        1 => folder.clone().prop_map(|folder| format!("os.mkdir('{folder}')")),
        1 => folder.clone().prop_map(|folder| format!("os.rmdir('{folder}')")),
        1 => folder.prop_map(|folder| format!("shutil.rmtree('{folder}')")),
        1 => (any.clone(), prop::sample::select(vec!["0o600", "0o755", "0o444"]))
            .prop_map(|(path, mode)| format!("os.chmod('{path}', {mode})")),
        1 => (any.clone(), 0..100_u32).prop_map(|(path, time)| format!("os.utime('{path}', ({time}, {time}))")),
        1 => (path.clone(), 0..5000_u32).prop_map(|(path, length)| format!("os.truncate('{path}', {length})")),
        1 => path.clone().prop_map(|path| format!("os.setxattr('{path}', 'user.note', b'x')")),
        1 => (any.clone(), any).prop_map(|(one, other)| format!("exchange('{one}', '{other}')")),
        1 => path.prop_map(|path| format!("subprocess.run(['sh', '-c', 'echo x >> {path}; mv {path} sub'], stderr=-3)")),
    ]
}

/// Runs operations, failures included.
const OPERATIONS: &str = r"
import ctypes, os, shutil, subprocess, sys
library = ctypes.CDLL(None)
def exchange(one, other):
    library.renameat2(-100, one.encode(), -100, other.encode(), 2)
for line in sys.argv[1:]:
    try:
        exec(line)
    except OSError:
        pass
";

fn config() -> ProptestConfig {
    let asked = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    match std::env::var_os("PROPTEST_RNG_SEED") {
        Some(_) => asked,
        None => ProptestConfig { cases: 60, rng_seed: RngSeed::Fixed(39), ..asked },
    }
}

proptest! {
    // The same cases in every run; PROPTEST_RNG_SEED and PROPTEST_CASES ask for others.
    #![proptest_config(config())]
    #[test]
    fn any_sequence_of_operations_is_undone(
        operations in prop::collection::vec(operation(), 1..25),
        place in prop::sample::select(PLACES.to_vec()),
    ) {
        let bench = Bench::new(place);
        let before = tree::read(bench.root.path());
        let status = bench.command("python3").arg("-c").arg(OPERATIONS).args(&operations).status().unwrap();
        prop_assert!(status.success());
        let text = bench.records();
        let undone = bench.undo();
        same(&before, &bench, &format!("{}\n{text}", operations.join("\n")), &undone);
    }
}

#[test]
fn net_changes_are_listed_by_path() {
    let bench = Bench::new("/tmp");
    let script = "
import os
open('a.txt', 'a').write('x')
open('new', 'w'); open('gone', 'w'); os.unlink('gone')
os.unlink('log')
open('t', 'w').write('x'); os.replace('t', 'b.bin')
os.rename('run.sh', 'go.sh'); os.rename('sub', 'dom')
os.mkdir('made'); os.rmdir('hollow'); open('empty', 'r+')
";
    assert!(bench.run("python3", script).status.success());
    let undone = bench.undo();
    let root = bench.root.path();
    let found: Vec<_> = undone
        .changes
        .iter()
        .map(|change| (change.path.strip_prefix(root).unwrap().to_str().unwrap(), &change.kind))
        .collect();
    let renamed = |name: &str| JournaledKind::Renamed { to: root.join(name) };
    let expected = [
        ("a.txt", &JournaledKind::Changed),
        ("b.bin", &JournaledKind::Changed),
        ("hollow", &JournaledKind::RemovedFolder),
        ("log", &JournaledKind::Removed),
        ("made", &JournaledKind::MadeFolder),
        ("new", &JournaledKind::Made),
        ("run.sh", &renamed("go.sh")),
        ("sub", &renamed("dom")),
    ];
    assert_eq!(found, expected);
}

#[test]
fn kept_files_stay_and_exempt_ones_are_not_journaled() {
    let bench = Bench::new("/tmp");
    let root = bench.root.path();
    fs::write(bench.journal.path().join("exempt"), format!("{}\0", root.join("other").display())).unwrap();
    let script = "
import os
open('other/e.txt', 'w').write('exempt'); open('other/f', 'w')
os.mkdir('cache'); open('cache/part', 'w').write('data'); os.rename('cache/part', 'cache/whole')
open('cache/part', 'w').write('second'); os.replace('cache/part', 'cache/whole')
os.symlink('whole', 'cache/link'); open('sub/c.txt', 'w').write('x'); open('sub/new', 'w')
";
    assert!(bench.run("python3", script).status.success());
    let undone =
        undo(bench.journal.path(), &|path| path.starts_with(root.join("cache")) || path.starts_with(root.join("sub")));
    assert!(undone.failures.is_empty(), "{:?}", undone.failures);
    let read = |name: &str| fs::read_to_string(root.join(name)).ok();
    assert_eq!(read("other/e.txt").as_deref(), Some("exempt"));
    assert_eq!(read("other/f").as_deref(), Some(""));
    assert_eq!(read("cache/whole").as_deref(), Some("second"));
    assert_eq!(read("cache/link").as_deref(), Some("second"));
    assert_eq!(read("sub/new").as_deref(), Some(""));
    assert_eq!(read("sub/c.txt").as_deref(), Some("c"));
    assert_eq!(read("cache/part"), None);
}

#[test]
fn only_named_folders_are_guarded() {
    let bench = Bench::new("/tmp");
    let root = bench.root.path();
    fs::write(bench.journal.path().join("only"), format!("{}\0", root.join("sub").display())).unwrap();
    assert!(bench.run("sh", "echo x > a.txt; echo x > sub/c.txt").status.success());
    bench.undo();
    assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "x\n");
    assert_eq!(fs::read_to_string(root.join("sub/c.txt")).unwrap(), "c");
}

/// A file of 1.5 GiB on a file system without shared blocks: no copy, no change in place; growth and removal are undone.
#[test]
fn a_large_file_is_not_changed_in_place() {
    let bench = Bench::new("/dev/shm");
    let path = bench.root.path().join("large");
    fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
    let script = "
import os
fd = os.open('large', os.O_RDWR)
os.posix_fallocate(fd, 0, 1 << 30); os.posix_fallocate(fd, 1 << 30, 1 << 20)
os.close(fd)
";
    let made = Command::new("python3").args(["-c", script]).current_dir(bench.root.path()).status().unwrap();
    assert!(made.success());
    tree::age(bench.root.path());
    let script = "
import errno
try:
    open('large', 'r+')
    raise SystemExit('opened')
except OSError as error:
    assert error.errno == errno.EROFS, error
open('large', 'a').write('more')
open('large', 'w').write('short')
";
    let output = bench.run("python3", script);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let undone = bench.undo();
    assert!(undone.failures.is_empty(), "{:?}", undone.failures);
    assert_eq!(undone.uncovered, [world::undo::Uncovered::Refused { path: path.clone(), bytes: 3 << 30 }]);
    assert_eq!(fs::metadata(path).unwrap().len(), 3 << 30);
}

#[test]
fn helpers_without_the_guard_are_named() {
    let bench = Bench::new("/tmp");
    let script = "import subprocess; subprocess.run(['/bin/true'], env={}); open('new', 'w')";
    assert!(bench.run("python3", script).status.success());
    assert_eq!(bench.undo().uncovered, [world::undo::Uncovered::Helper("/bin/true".into())]);
}

/// A program with a process outside the guard that writes to the same files; the files after the undo.
#[test]
fn bytes_of_others_stay() {
    let others =
        "import os, subprocess\ndef others(line): subprocess.run(['/bin/sh', '-c', line], env={}, check=True)\n";
    let cases: [(&str, &[(&str, &str)]); 8] = [
        (
            "for turn in range(3):\n  open('log', 'a').write('own\\n'); others('echo other >> log')",
            &[("log", "one\nother\nother\nother\n")],
        ),
        (
            "file = open('log', 'a', buffering=1)\nfor turn in range(3):\n  file.write('own\\n'); others('echo other >> log')",
            &[("log", "one\nother\nother\nother\n")],
        ),
        (
            "if os.fork():\n  os.wait(); others('echo other >> log')\nelse:\n  open('log', 'a').write('own\\n'); os._exit(0)",
            &[("log", "one\nother\n")],
        ),
        (
            "others('echo other >> log'); subprocess.run(['sh', '-c', 'echo own >> log']); open('log', 'a').write('own\\n')",
            &[("log", "one\nother\n")],
        ),
        ("open('fresh', 'a').write('own\\n'); others('echo other >> fresh')", &[("fresh", "other\n")]),
        (
            "open('a.txt', 'w').write('own'); others('echo other > a.txt')",
            &[("a.txt", "other\n"), ("a.txt.before-1", "alpha")],
        ),
        ("os.remove('a.txt'); others('echo other > a.txt')", &[("a.txt", "other\n"), ("a.txt.before-1", "alpha")]),
        (
            "os.rename('log', 'log.1'); open('log', 'a').write('own\\n'); others('echo other >> log; echo other >> log.1')",
            &[("log", "other\n"), ("log.before-1", "one\nother\n")],
        ),
    ];
    for (script, expected) in cases {
        let bench = Bench::new("/tmp");
        let output = bench.run("python3", &format!("{others}{script}"));
        assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
        let undone = bench.undo();
        assert!(undone.failures.is_empty(), "{script}\n{undone:?}");
        for (name, content) in expected {
            let found = fs::read_to_string(bench.root.path().join(name));
            assert_eq!(found.ok().as_deref(), Some(*content), "{script}\n{name} {undone:?}\n{}", bench.records());
        }
        let beside = expected.len() - 1;
        assert!(undone.left.len() >= beside, "{script}: nothing was said of {beside} files");
    }
}
