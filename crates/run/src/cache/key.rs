//! The name of a cache entry: a hash of everything that is known before a run. See Note [Run cache].
//!
//! The hashes tell versions of one program apart and need not resist an attacker: 64 bits suffice.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::PathBuf;

use super::state::State;
use crate::conditions::Conditions;
use crate::route::Route;
use crate::spec::RunSpec;

/// Raised when the meaning of the entries changes.
const FORMAT: u32 = 4;
/// Variables that differ between terminals, and change no training.
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

/// Everything that all runs of a search have in common.
#[derive(Clone, Debug, Hash)]
pub struct ProgramKey {
    /// The files that oomph carries: the phantom and the agent.
    pub carried: String,
    /// oomph's own program file.
    pub oomph: (PathBuf, Option<State>),
    /// The program file of the command line, with links resolved.
    pub program: (PathBuf, Option<State>),
    /// The current folder.
    pub folder: PathBuf,
    /// The environment, see [`ProgramKey::with_environment`].
    pub environment: Vec<(OsString, OsString)>,
    /// The machine's name and its number of cores.
    pub machine: (String, usize),
    /// The limits of the process (getrlimit(2)), soft and hard: a dry run may end at one.
    pub limits: Vec<(u64, u64)>,
}

impl ProgramKey {
    /// The same with the variables that matter, sorted.
    #[must_use]
    pub fn with_environment(self, variables: impl Iterator<Item = (OsString, OsString)>) -> ProgramKey {
        let of_terminal = |name: &OsString| OF_THE_TERMINAL.iter().any(|other| name == other);
        let mut environment: Vec<_> = variables.filter(|(name, _)| !of_terminal(name)).collect();
        environment.sort();
        ProgramKey { environment, ..self }
    }

    /// The name of the folder for the program's entries. A run that its time limit ended is not stored.
    pub fn name(&self, spec: &RunSpec) -> String {
        let RunSpec { command, is_script: _, device, options, timeout: _, verbose: _ } = spec;
        hash(&(FORMAT, self, command, device, options))
    }
}

/// The name of a run's entry. `tunes`: a run with a history also finds settings of the allocator.
pub fn run_key(conditions: &Conditions, tunes: bool, route: Route) -> String {
    format!("run-{}", hash(&(conditions, tunes, route)))
}

/// Sixteen hexadecimal digits.
pub fn hash(value: &(impl Hash + ?Sized)) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use report::Change;
    use trace::Bytes;

    use super::*;
    use crate::conditions::Limit;
    use crate::options::{Fraction, RunOptions, StopAt};
    use crate::spec::{Device, DeviceFacts};
    use crate::testing::{facts, spec};

    fn known() -> ProgramKey {
        ProgramKey {
            carried: "hash".to_owned(),
            oomph: (PathBuf::from("/bin/oomph"), None),
            program: (PathBuf::from("/bin/python"), None),
            folder: PathBuf::from("/home/me"),
            environment: Vec::new(),
            machine: ("here".to_owned(), 2),
            limits: vec![(1, 2)],
        }
    }

    fn count_different(mut names: Vec<String>) -> usize {
        names.sort();
        names.dedup();
        names.len()
    }

    #[test]
    fn everything_that_is_known_tells_programs_apart() {
        let state = |size: u64| State::parse(&format!("{size},1,1,1,33188"));
        let keys = [
            ProgramKey { carried: "other".to_owned(), ..known() },
            ProgramKey { oomph: (PathBuf::from("/bin/oomph"), state(1)), ..known() },
            ProgramKey { oomph: (PathBuf::from("/bin/oomph"), state(2)), ..known() },
            ProgramKey { program: (PathBuf::from("/bin/python3"), None), ..known() },
            ProgramKey { program: (PathBuf::from("/bin/python"), state(1)), ..known() },
            ProgramKey { folder: PathBuf::from("/home/you"), ..known() },
            ProgramKey { environment: vec![("OMP_NUM_THREADS".into(), "1".into())], ..known() },
            ProgramKey { machine: ("there".to_owned(), 2), ..known() },
            ProgramKey { limits: vec![(1, 1)], ..known() },
        ];
        let command = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let asking = |options: RunOptions| RunSpec { options, ..spec() };
        let specs = [
            RunSpec { command: command(&["python", "train.py", "--batch-size", "8"]), ..spec() },
            // The boundaries between words count.
            RunSpec { command: command(&["python", "train.py --batch-size", "8"]), ..spec() },
            RunSpec {
                device: Device::Phantom(DeviceFacts { variable: "total_bytes=2".to_owned(), ..facts() }),
                ..spec()
            },
            RunSpec { device: Device::Phantom(DeviceFacts { context: Bytes(3), ..facts() }), ..spec() },
            asking(RunOptions { devices: 2, ..RunOptions::default() }),
            asking(RunOptions { stop_at: StopAt::step(4), ..RunOptions::default() }),
            asking(RunOptions { stop_at: StopAt::step(3).with_life(), ..RunOptions::default() }),
            asking(RunOptions { fraction: Fraction(0.25), ..RunOptions::default() }),
            asking(RunOptions { fakes_data: true, ..RunOptions::default() }),
        ];
        let names = keys.iter().map(|key| key.name(&spec())).chain(specs.iter().map(|spec| known().name(spec)));
        assert_eq!(known().name(&spec()), known().name(&spec()));
        assert_eq!(count_different(names.chain([known().name(&spec())]).collect()), keys.len() + specs.len() + 1);
    }

    #[test]
    fn everything_of_the_conditions_tells_runs_apart() {
        let plain = || Conditions::on_device(Vec::new()).with_limit(Limit::Unlimited);
        let changed = |changes: Vec<Change>| Conditions { changes, ..plain() };
        let all = [
            plain(),
            changed(vec![Change::new("lora").with("rank", 16)]),
            changed(vec![Change::new("lora").with("rank", 8)]),
            changed(vec![Change::new("sdpa"), Change::new("lora").with("rank", 8)]),
            plain().with_limit(Limit::Of(Bytes(1))),
            plain().with_limit(Limit::Of(Bytes(2))),
            Conditions { history: false, ..plain() },
            Conditions { work: true, ..plain() },
        ];
        let routes = [(false, Route::Forked), (true, Route::Forked), (false, Route::Plain)];
        let names = all.iter().flat_map(|conditions| routes.map(|(tunes, route)| run_key(conditions, tunes, route)));
        assert_eq!(count_different(names.collect()), all.len() * routes.len());
    }

    #[test]
    fn terminals_are_not_told_apart() {
        let key = |pairs: &[(&str, &str)]| {
            let variables: Vec<_> = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            known().with_environment(variables.into_iter()).name(&spec())
        };
        let here = key(&[("B", "2"), ("SHLVL", "1"), ("A", "1")]);
        assert_eq!(here, key(&[("A", "1"), ("B", "2"), ("SHLVL", "3"), ("TMUX", "x")]));
        assert_ne!(here, key(&[("A", "1"), ("B", "3")]));
    }
}
