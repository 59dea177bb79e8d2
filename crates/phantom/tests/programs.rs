//! Tiny C programs, compiled here and run with the phantom preloaded: CUDA's answers to C, and the journal afterwards.
//!
//! The programs under `programs/` check CUDA's answers; this file checks the journal, standard error and the effect of
//! variables. They need a C compiler and nothing of CUDA.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const MIB: i64 = 1 << 20;
const CONTEXT: i64 = 4 * MIB;
const DEVICE: &str = "name=Test GPU;total_bytes=67108864;context_bytes=4194304";

/// A program, and its environment.
struct Program {
    name: &'static str,
    arguments: Vec<&'static str>,
    environment: Vec<(&'static str, String)>,
    /// Holds the binary and, in `run`, the run directory.
    folder: TempDir,
}

/// The results of a program.
struct Ran {
    stderr: String,
    /// The journals, the eldest process first; pids are replaced by `PID`.
    journals: Vec<Vec<String>>,
}

impl Program {
    fn new(name: &'static str) -> Program {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("run")).unwrap();
        Program { name, arguments: Vec::new(), environment: Vec::new(), folder }
    }

    fn with(mut self, variable: &'static str, value: &str) -> Program {
        self.environment.push((variable, value.to_owned()));
        self
    }

    fn argument(mut self, argument: &'static str) -> Program {
        self.arguments.push(argument);
        self
    }

    /// Runs the program, which must find nothing to object to.
    fn run(self) -> Ran {
        let run_dir = self.folder.path().join("run");
        let output = Command::new(compile(self.name, self.folder.path()))
            .args(&self.arguments)
            .env("LD_PRELOAD", library())
            .env("OOMPH_DEVICE", DEVICE)
            .env("OOMPH_RUN_DIR", &run_dir)
            .env_remove("OOMPH_DEVICES")
            .env_remove("OOMPH_OTHERS")
            .env_remove("OOMPH_TABLE")
            .env_remove("OOMPH_UNLIMITED")
            .env_remove("CUDA_VISIBLE_DEVICES")
            .envs(self.environment)
            .output()
            .unwrap();
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!((stdout.as_str(), output.status.code()), ("", Some(0)), "{}: {stderr}", self.name);
        Ran { stderr, journals: journals(&run_dir) }
    }
}

impl Ran {
    /// The only journal, without its first line.
    fn records(&self) -> &[String] {
        let [journal] = &*self.journals else { panic!("{} journals", self.journals.len()) };
        let opening = r#"{"kind":"phantom","pid":PID,"devices":1,"total_bytes":67108864}"#;
        assert_eq!(journal[0], opening);
        &journal[1..]
    }
}

/// Compiles a program into a folder. The library stands for all of CUDA's when it is linked, too.
fn compile(name: &str, folder: &Path) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let binary = folder.join(name);
    let status = Command::new("cc")
        .current_dir(sources)
        .args(["-std=gnu11", "-O1", "-Wall", "-Werror", "-pthread", "-o"])
        .args([binary.as_os_str(), format!("{name}.c").as_ref(), library().as_os_str()])
        .status()
        .unwrap();
    assert!(status.success(), "cc refuses {name}.c");
    binary
}

/// The path of the library, built by cargo for the tests.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("liboomph_phantom.so")
}

fn journals(run_dir: &Path) -> Vec<Vec<String>> {
    let Ok(entries) = fs::read_dir(run_dir) else { return Vec::new() };
    let mut pids: Vec<u32> = entries.map(|entry| pid_of(&entry.unwrap().file_name().into_string().unwrap())).collect();
    pids.sort_unstable();
    let lines = |pid: u32| {
        let text = fs::read_to_string(run_dir.join(format!("phantom-{pid}.jsonl"))).unwrap();
        let text = text.replace(&format!(r#""pid":{pid}"#), r#""pid":PID"#);
        text.lines().map(str::to_owned).collect()
    };
    pids.into_iter().map(lines).collect()
}

fn pid_of(file_name: &str) -> u32 {
    file_name.strip_prefix("phantom-").and_then(|rest| rest.strip_suffix(".jsonl")).unwrap().parse().unwrap()
}

fn memory(owner: &str, delta: i64, used_bytes: i64) -> String {
    format!(r#"{{"kind":"memory","device":0,"owner":"{owner}","delta":{delta},"used_bytes":{used_bytes}}}"#)
}

fn refused(owner: &str, bytes: u64) -> String {
    format!(r#"{{"kind":"refused","device":0,"owner":"{owner}","bytes":{bytes}}}"#)
}

/// A field of a record that holds a number.
fn number(record: &str, field: &str) -> i64 {
    let (_, rest) = record.split_once(&format!(r#""{field}":"#)).unwrap();
    rest.split([',', '}']).next().unwrap().parse().unwrap()
}

fn sum_of_deltas(records: &[String]) -> i64 {
    records.iter().filter(|record| record.contains(r#""kind":"memory""#)).map(|record| number(record, "delta")).sum()
}

/// Programs with checks of their own; at their end only the context is held.
#[test]
fn programs_find_cuda_as_they_expect_it() {
    for name in ["small_requests", "host_memory", "pool", "threads", "null_parameters", "virtual_memory"] {
        let ran = Program::new(name).run();
        assert_eq!(ran.stderr, "", "{name}");
        // The use of managed memory is noted as an assumption between the records.
        let is_memory = |record: &&String| record.contains(r#""kind":"memory""#);
        let records: Vec<String> = ran.records().iter().filter(is_memory).cloned().collect();
        let (context, program) = records.split_at(1);
        assert_eq!(context, [memory("context", CONTEXT, CONTEXT)], "{name}");
        let own = format!(r#""owner":"{name}","#);
        assert!(program.iter().all(|record| record.contains(&own)), "{name}: {program:?}");
        assert_eq!(sum_of_deltas(program), 0, "{name}");
    }
}

#[test]
fn programs_without_memory_find_cuda_as_they_expect_it() {
    for name in ["capture", "forbidden", "stale_handles", "copies", "nvml"] {
        assert_eq!(Program::new(name).run().stderr, "", "{name}");
    }
}

#[test]
fn what_is_taken_and_given_back_is_in_the_journal() {
    let ran = Program::new("malloc_free").run();
    let expected = [
        memory("context", CONTEXT, CONTEXT),
        memory("malloc_free", 3 * MIB, CONTEXT + 4 * MIB),
        memory("malloc_free", -3 * MIB, CONTEXT),
    ];
    assert_eq!(ran.records(), expected);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_refusal_is_in_the_journal() {
    let ran = Program::new("out_of_memory").run();
    let expected = [
        memory("context", CONTEXT, CONTEXT),
        memory("out_of_memory", 60 * MIB, 64 * MIB),
        refused("out_of_memory", 1),
        memory("out_of_memory", -60 * MIB, CONTEXT),
        refused("out_of_memory", 60 * MIB as u64 + 1),
        refused("out_of_memory", u64::MAX),
        memory("out_of_memory", 58 * MIB, 62 * MIB),
        memory("out_of_memory", 1, 64 * MIB),
    ];
    assert_eq!(ran.records(), expected);
}

#[test]
fn the_journal_is_in_the_order_of_the_ledger() {
    let ran = Program::new("threads").run();
    let memory = ran.records().iter().filter(|record| record.contains(r#""kind":"memory""#));
    // The pages that small requests share hide their bytes; whole pages show in the next record.
    let mut whole_pages = CONTEXT;
    for record in memory.skip(1) {
        let delta = number(record, "delta");
        if delta.abs() >= 2 * MIB {
            whole_pages += delta.signum() * ((delta.abs() + 2 * MIB - 1) / (2 * MIB)) * 2 * MIB;
        }
        let shared = number(record, "used_bytes") - whole_pages;
        assert!((0..=16 * MIB).contains(&shared), "{record}: {shared} bytes in shared pages");
    }
}

#[test]
fn devices_have_accounts_of_their_own() {
    let ran = Program::new("devices").with("OOMPH_DEVICES", "3").run();
    assert_eq!(ran.journals.len(), 1);
    assert_eq!(ran.journals[0][0], r#"{"kind":"phantom","pid":PID,"devices":3,"total_bytes":67108864}"#);
    for device in 0..3 {
        let own: Vec<String> =
            ran.journals[0].iter().filter(|line| line.contains(&format!(r#""device":{device},"#))).cloned().collect();
        let held = if device == 0 { CONTEXT } else { CONTEXT + (device + 1) * 2 * MIB };
        assert_eq!(sum_of_deltas(&own), held, "device {device}");
    }
}

#[test]
fn hidden_devices_are_hidden() {
    // Values of CUDA_VISIBLE_DEVICES, and the number of visible devices of four.
    for (visible, count) in [("0,1", "2"), ("3", "1"), ("", "0"), ("1,9,2", "1"), ("-1", "0"), ("0, 2", "2")] {
        Program::new("visible").argument(count).with("OOMPH_DEVICES", "4").with("CUDA_VISIBLE_DEVICES", visible).run();
    }
}

#[test]
fn a_forked_child_writes_a_journal_of_its_own() {
    let ran = Program::new("forked").run();
    let [parent, child] = &*ran.journals else { panic!("{} journals", ran.journals.len()) };
    assert_eq!(parent[1..], [memory("context", CONTEXT, CONTEXT), memory("forked", 2 * MIB, CONTEXT + 2 * MIB)]);
    assert_eq!(
        child[1..],
        [memory("forked", 4 * MIB, CONTEXT + 6 * MIB), memory("forked", -4 * MIB, CONTEXT + 2 * MIB)]
    );
}

/// A table of this process, and the parts of the variable.
fn table(magic: u64, namespace: u64) -> (fs::File, [String; 3]) {
    let mut file = fs::File::from(rustix::fs::memfd_create("table", rustix::fs::MemfdFlags::empty()).unwrap());
    file.set_len(wire::table::BYTES as u64).unwrap();
    file.write_all([magic, 0, namespace].map(u64::to_ne_bytes).as_flattened()).unwrap();
    let parts = [u64::from(std::process::id()), file.as_raw_fd() as u64, file.metadata().unwrap().ino()];
    (file, parts.map(|part| part.to_string()))
}

#[test]
fn processes_with_a_table_share_the_device() {
    let check = |value: &str, how: &'static str| {
        assert_eq!(Program::new("shared").argument(how).with("OOMPH_TABLE", value).run().stderr, "", "{value} {how}");
    };
    let namespace = fs::metadata(wire::table::NAMESPACE).unwrap().ino();
    let (_file, [pid, number, inode]) = table(wire::table::MAGIC, namespace);
    check(&format!("{pid}:{number}:{inode}"), "together");
    // The command is gone, but its number was inherited.
    check(&format!("0:{number}:{inode}"), "together");
    check(&format!("{pid}:{number}:9{inode}"), "alone");
    check(&format!("{pid}:9999:{inode}"), "alone");
    for damaged in ["", "x", "1:2", "1:2:x"] {
        check(damaged, "alone");
    }
    for (magic, namespace) in [(0, namespace), (wire::table::MAGIC, namespace + 1)] {
        let (_file, [pid, number, inode]) = table(magic, namespace);
        check(&format!("{pid}:{number}:{inode}"), "alone");
    }
}

#[test]
fn what_is_missing_is_named_once() {
    let ran = Program::new("missing").run();
    let expected = "\
oomph phantom: the program called cudaMemPoolCreate, which the phantom GPU does not have
oomph phantom: the program called cuMulticastCreate, which the phantom GPU does not have
";
    assert_eq!(ran.stderr, expected);
    let named = ["cudaMemPoolCreate", "cuMulticastCreate"];
    assert_eq!(ran.records(), named.map(|name| format!(r#"{{"kind":"missing","symbol":"{name}"}}"#)));
}

#[test]
fn closed_standard_streams_never_reach_the_journal() {
    let ran = Program::new("closed_streams").run();
    let expected = [
        memory("context", CONTEXT, CONTEXT),
        memory("closed_streams", 2 * MIB, CONTEXT + 2 * MIB),
        r#"{"kind":"missing","symbol":"cudaMemPoolCreate"}"#.to_owned(),
        memory("closed_streams", -2 * MIB, CONTEXT),
    ];
    assert_eq!(ran.records(), expected);
}

#[test]
fn a_journal_that_cannot_be_opened_is_said_once() {
    let ran = Program::new("malloc_free").with("OOMPH_RUN_DIR", "/nonexistent/folder").run();
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("oomph phantom: cannot write /nonexistent/folder/phantom-"), "{}", ran.stderr);
}

#[test]
fn a_journal_that_cannot_grow_is_a_valid_prefix_and_said_once() {
    let ran = Program::new("full_disk").run();
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("File too large"), "{}", ran.stderr);
    // 200 bytes hold the opening, the context, and the beginning of a third record.
    assert_eq!(ran.records()[0], memory("context", CONTEXT, CONTEXT));
    assert_eq!(ran.records().len(), 2);
}

#[test]
fn zeros_written_under_a_guard_are_holes() {
    for guard in [None, Some("namespace"), Some("functions")] {
        let files = tempfile::tempdir().unwrap();
        let program = Program::new("holes").with("TMPDIR", files.path().to_str().unwrap());
        match guard {
            Some(guard) => program.with("OOMPH_GUARD", guard).run(),
            None => program.run(),
        };
    }
}

#[test]
fn processes_outside_the_run_are_out_of_reach() {
    let (folder, binaries) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // A signal would end it.
    let mut victim = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
    // The shell starts the run: `kill -1` of the program reaches no compiler of another test.
    let script = "OOMPH_PROCESSES=\"$$ 0\" LD_PRELOAD=\"$LIBRARY\" \"$0\"; exit $?";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(compile("others", binaries.path()))
        .env("LIBRARY", library())
        .env("OOMPH_RUN_DIR", folder.path())
        .env("VICTIM", victim.id().to_string())
        .process_group(0)
        .output()
        .unwrap();
    let is_alive = victim.try_wait().unwrap().is_none();
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert!(output.status.success() && is_alive, "{output:?}");
    let notes = fs::read_to_string(folder.path().join("others")).unwrap();
    let victim = victim.id();
    for note in [format!("signal {victim}"), format!("settings {victim}"), format!("memory {victim}")] {
        assert!(notes.split('\0').any(|it| it == note), "{note} in {notes:?}");
    }
}

#[test]
fn an_unlimited_device_measures_any_need() {
    Program::new("unlimited").with("OOMPH_UNLIMITED", "1").run();
}

#[test]
fn a_program_without_cuda_leaves_no_trace() {
    let ran = Program::new("unused").run();
    assert_eq!(ran.stderr, "");
    assert!(ran.journals.is_empty());
}

#[test]
fn a_variable_that_cannot_be_read_is_said() {
    let device = format!("{DEVICE};colour=red");
    let cases = [
        ("OOMPH_DEVICE", &*device, "`colour=red`, expected `key=value` with a known key"),
        ("OOMPH_OTHERS", "2GiB", "`2GiB`, expected a number of bytes"),
        ("OOMPH_OTHERS", "-1", "`-1`, expected a number of bytes"),
        ("OOMPH_DEVICES", "two", "`two`, expected a number of devices"),
    ];
    for (variable, value, problem) in cases {
        let ran = Program::new("malloc_free").with(variable, value).run();
        assert_eq!(ran.stderr, format!("oomph phantom: {variable}: cannot read {problem}\n"));
    }
    assert_eq!(Program::new("malloc_free").with("OOMPH_OTHERS", "").run().stderr, "", "empty is unset");
}
