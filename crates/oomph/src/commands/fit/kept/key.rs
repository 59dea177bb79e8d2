//! What is known of a run before it is made, as the name of its entry. See Note [Kept runs].
//!
//! Hashes tell versions of one thing apart, not friend from foe: 64 bits do.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};

use diagnose::Variant;

use super::looks::State;
use crate::cache;

/// Raised when the meaning of what is kept changes.
const FORMAT: u32 = 2;
/// Variables that tell one terminal from another; no program trains otherwise for them.
const OF_THE_TERMINAL: [&str; 14] = [
    "_",
    "SHLVL",
    "OLDPWD",
    "WINDOWID",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "TERM_SESSION_ID",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "SSH_AUTH_SOCK",
    "GPG_TTY",
    "XDG_SESSION_ID",
];

/// What is the same for all runs of a search.
#[derive(Clone, Debug, Hash)]
pub(in crate::commands::fit) struct Known {
    /// oomph's own program file.
    oomph: (PathBuf, Option<State>),
    /// What starts the program, where its links lead, and how that file is.
    program: (PathBuf, Option<State>),
    command: Vec<OsString>,
    folder: PathBuf,
    /// Sorted.
    environment: Vec<(OsString, OsString)>,
    /// The GPU, as the phantom and the reports know it.
    device: String,
    gpu: (String, u64, u64),
    devices: u32,
    steps: u32,
    fraction: u64,
    /// The machine and how many cores it has.
    machine: (String, usize),
}

/// What the caller says of a search.
pub(in crate::commands::fit) struct Asked<'a> {
    pub(in crate::commands::fit) command: &'a [OsString],
    pub(in crate::commands::fit) device: &'a str,
    pub(in crate::commands::fit) profile: &'a gpus::Profile,
    pub(in crate::commands::fit) devices: u32,
    pub(in crate::commands::fit) steps: u32,
    pub(in crate::commands::fit) fraction: f64,
}

/// How a run was made.
#[derive(Clone, Copy, Debug, Hash)]
pub(in crate::commands::fit) enum Way {
    /// As a child of the fork server.
    Forked,
    /// In a process of its own.
    Alone,
}

impl Known {
    /// With what the machine and the environment say.
    pub(in crate::commands::fit) fn of(asked: &Asked) -> Known {
        let profile = asked.profile;
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Known {
            oomph: file(std::env::current_exe().unwrap_or_default()),
            program: file(found(asked.command)),
            command: asked.command.to_vec(),
            folder: std::env::current_dir().unwrap_or_default(),
            environment: lasting(std::env::vars_os()),
            device: asked.device.to_owned(),
            gpu: (profile.name.clone(), profile.total_bytes.0, profile.context_bytes.0),
            devices: asked.devices,
            steps: asked.steps,
            fraction: asked.fraction.to_bits(),
            machine: (host, std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)),
        }
    }

    /// The name of the program's folder.
    pub(super) fn hash(&self) -> String {
        hash(&(FORMAT, cache::HASH, self))
    }
}

/// The name of a run's entry. `tunes`: whether settings of the allocator were looked for.
pub(in crate::commands::fit) fn run_key(variant: &Variant, tunes: bool, way: Way) -> String {
    let changes: Vec<String> = variant.changes.iter().map(ToString::to_string).collect();
    let limit = variant.limit.map(|limit| limit.0);
    format!("run-{}", hash(&(changes, limit, variant.recorded, variant.counted, tunes, way)))
}

/// Sixteen hexadecimal digits.
pub(super) fn hash(value: &(impl std::hash::Hash + ?Sized)) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn file(path: PathBuf) -> (PathBuf, Option<State>) {
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let state = State::of(&path);
    (path, state)
}

/// The program file of a command line, as the shell would find it.
fn found(command: &[OsString]) -> PathBuf {
    let name = PathBuf::from(command.first().cloned().unwrap_or_default());
    let is_path = name.parent().is_some_and(|parent| parent != Path::new(""));
    let path = std::env::var_os(crate::environment::PATH).filter(|_| !is_path).unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file()).unwrap_or(name)
}

/// The environment less what only the terminal is known by, sorted.
fn lasting(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<_> = all.filter(|(name, _)| !OF_THE_TERMINAL.iter().any(|other| name == other)).collect();
    kept.sort();
    kept
}

#[cfg(test)]
mod tests {
    use report::Change;
    use trace::Bytes;

    use super::*;

    fn known() -> Known {
        Known {
            oomph: (PathBuf::from("/bin/oomph"), None),
            program: (PathBuf::from("/bin/python"), None),
            command: ["python", "train.py"].map(OsString::from).to_vec(),
            folder: PathBuf::from("/home/me"),
            environment: Vec::new(),
            device: "total_bytes=1".to_owned(),
            gpu: ("toy".to_owned(), 1, 2),
            devices: 1,
            steps: 3,
            fraction: 0.5f64.to_bits(),
            machine: ("here".to_owned(), 2),
        }
    }

    #[test]
    fn everything_that_is_known_tells_programs_apart() {
        let state = |size: u64| State::parse(&format!("{size},1,1,1,33188"));
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<OsString>>();
        let others = [
            Known { oomph: (PathBuf::from("/bin/oomph"), state(1)), ..known() },
            Known { oomph: (PathBuf::from("/bin/oomph"), state(2)), ..known() },
            Known { program: (PathBuf::from("/bin/python3"), None), ..known() },
            Known { program: (PathBuf::from("/bin/python"), state(1)), ..known() },
            Known { command: words(&["python", "train.py", "--batch-size", "8"]), ..known() },
            // Where one word ends and the next begins matters.
            Known { command: words(&["python", "train.py --batch-size", "8"]), ..known() },
            Known { folder: PathBuf::from("/home/you"), ..known() },
            Known { environment: vec![("OMP_NUM_THREADS".into(), "1".into())], ..known() },
            Known { device: "total_bytes=2".to_owned(), ..known() },
            Known { gpu: ("toy".to_owned(), 1, 3), ..known() },
            Known { devices: 2, ..known() },
            Known { steps: 4, ..known() },
            Known { fraction: 0.25f64.to_bits(), ..known() },
            Known { machine: ("there".to_owned(), 2), ..known() },
        ];
        let mut hashes: Vec<String> = others.iter().chain([&known()]).map(Known::hash).collect();
        assert_eq!(known().hash(), known().hash());
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), others.len() + 1);
    }

    #[test]
    fn everything_of_a_variant_tells_runs_apart() {
        let plain = || Variant::need(Vec::new());
        let variants = [
            plain(),
            Variant::need(vec![Change::new("lora").with("rank", 16)]),
            Variant::need(vec![Change::new("lora").with("rank", 8)]),
            Variant::need(vec![Change::new("sdpa"), Change::new("lora").with("rank", 8)]),
            Variant::within(Vec::new(), Bytes(1)),
            Variant::within(Vec::new(), Bytes(2)),
            Variant { recorded: true, ..plain() },
            Variant { counted: true, ..plain() },
        ];
        let ways = [(false, Way::Forked), (true, Way::Forked), (false, Way::Alone)];
        let keys = variants.iter().flat_map(|variant| ways.map(|(tunes, way)| run_key(variant, tunes, way)));
        let mut keys: Vec<String> = keys.collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), variants.len() * ways.len());
    }

    #[test]
    fn terminals_are_not_told_apart() {
        let variables = |pairs: &[(&str, &str)]| {
            lasting(pairs.iter().map(|(name, value)| (name.into(), value.into())).collect::<Vec<_>>().into_iter())
        };
        let here = variables(&[("B", "2"), ("SHLVL", "1"), ("A", "1")]);
        assert_eq!(here, variables(&[("A", "1"), ("B", "2"), ("SHLVL", "3"), ("TMUX", "x")]));
        assert_ne!(here, variables(&[("A", "1"), ("B", "3")]));
    }
}
