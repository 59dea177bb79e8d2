//! The environment of a run: a single function for all routes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use trace::Bytes;
use wire::variable::{Component, Scope, Variable};
use wire::{file, variable};

use crate::conditions::{Conditions, Limit, Streams};
use crate::route::Route;
use crate::spec::{Device, RunSpec};

/// The phantom's file name.
pub const LIBRARY: &str = "liboomph_phantom.so";

/// For PyTorch: the allocator's settings.
const CUDA_ALLOC_CONF: &str = "PYTORCH_CUDA_ALLOC_CONF";
/// The newer name of the same variable.
const ALLOC_CONF: &str = "PYTORCH_ALLOC_CONF";
/// For the dynamic loader: the phantom's bare name, because the loader splits the list at blanks.
const LD_PRELOAD: &str = "LD_PRELOAD";
/// For the dynamic loader: the phantom's folder.
const LD_LIBRARY_PATH: &str = "LD_LIBRARY_PATH";
/// For Python: the folder of the agent's `sitecustomize`.
const PYTHONPATH: &str = "PYTHONPATH";
/// For Triton: the folder of `libcuda.so.1`, otherwise looked up in the loader's cache.
const TRITON_LIBCUDA_PATH: &str = "TRITON_LIBCUDA_PATH";
/// The machine's devices, unseen by a program on the phantom.
const CUDA_VISIBLE_DEVICES: &str = "CUDA_VISIBLE_DEVICES";
/// A launcher's variables: oomph's own rank must not pass to a program with a different rank.
const LAUNCHERS: [&str; 5] = ["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"];
/// The folders named by the variables.
#[derive(Clone, Copy, Debug)]
pub struct Folders<'a> {
    /// The folder of the phantom and its links.
    pub library: &'a Path,
    /// The folder of the agent's `sitecustomize`.
    pub inject: &'a Path,
    /// The run directory; for a server, the folder of the server's log and file notes.
    pub run: &'a Path,
}

/// Changes to the inherited environment of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    set: BTreeMap<&'static str, Assignment>,
    remove: BTreeSet<&'static str>,
    /// Variables of the program's own.
    own: BTreeMap<String, OsString>,
}

/// The assignment of a value to a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// The whole value.
    Whole(OsString),
    /// An entry before the inherited ones, separated by a colon.
    InFront(OsString),
}

/// Returns the environment of a run. For [`Route::Forked`] the result holds the changes to the environment of
/// [`of_server`].
pub fn environment(spec: &RunSpec, conditions: &Conditions, folders: &Folders, route: Route) -> Environment {
    let mut whole = of_run(spec, conditions, folders);
    match route {
        Route::Plain => whole,
        Route::Rank(rank) => {
            whole.be_rank(rank);
            whole
        }
        Route::Forked => {
            let mut server = of_server(spec, conditions.notes_files, folders);
            // The server's own notes are not in the run's folder.
            server.set.remove(variable::FILES);
            whole.since(&server)
        }
    }
}

/// Returns the environment of a fork server. The children run in the environment of [`Route::Forked`].
pub fn of_server(spec: &RunSpec, notes_files: bool, folders: &Folders) -> Environment {
    let mut server = of_device(spec, folders);
    server.in_front(PYTHONPATH, folders.inject);
    server.set(variable::SERVE, "1");
    if notes_files {
        server.set(variable::FILES, folders.run.join(file::FILES));
    }
    server
}

/// Returns the environment of a command on its device, with nothing recorded.
fn of_device(spec: &RunSpec, folders: &Folders) -> Environment {
    match &spec.device {
        Device::Phantom(device) => of_phantom(&device.variable, spec.options.devices(), folders.library),
        Device::Real => of_machine(),
    }
}

/// Returns the environment of a real run, which is recorded in `folders.run`.
pub fn of_real(conditions: &Conditions, folders: &Folders) -> Environment {
    let mut real = of_machine();
    real.in_front(PYTHONPATH, folders.inject);
    real.set(variable::RUN, folders.run);
    real.set_changes(conditions);
    real
}

/// Returns the environment of a real run that cannot be recorded.
pub fn of_unrecorded() -> Environment {
    of_machine()
}

/// Returns the environment of a command whose changes another real run applies.
pub fn of_part_of_real(conditions: &Conditions) -> Environment {
    let mut part = Environment::default();
    part.set_changes(conditions);
    part
}

/// Removes the variables of a run, but for those that the phantom alone reads: under `oomph phantom` they are the machine.
fn of_machine() -> Environment {
    let mut machine = Environment::default();
    let is_devices = |row: &&Variable| row.readers == [Component::Phantom];
    let others = variable::ALL.iter().filter(|row| row.scope == Scope::Run && !is_devices(row));
    others.for_each(|row| machine.unset(row.name));
    machine
}

/// Removes the variables of a run.
fn of_no_run() -> Environment {
    let mut outside = Environment::default();
    of_a_run().for_each(|name| outside.unset(name));
    outside
}

/// Returns the environment of a command on the phantom that records nothing.
pub fn of_phantom(device: &str, devices: u32, library_dir: &Path) -> Environment {
    let mut phantom = of_no_run();
    phantom.unset(CUDA_VISIBLE_DEVICES);
    phantom.set(variable::DEVICE, device);
    phantom.set(variable::DEVICES, devices.to_string());
    phantom.set(TRITON_LIBCUDA_PATH, library_dir);
    phantom.in_front(LD_PRELOAD, LIBRARY);
    phantom.in_front(LD_LIBRARY_PATH, library_dir);
    phantom
}

/// Lists the variables of a run. A run removes inherited ones: oomph may itself run on a phantom.
fn of_a_run() -> impl Iterator<Item = &'static str> {
    variable::ALL.iter().filter(|row| row.scope == Scope::Run).map(|row| row.name)
}

fn of_run(spec: &RunSpec, conditions: &Conditions, folders: &Folders) -> Environment {
    let mut run = of_device(spec, folders);
    run.in_front(PYTHONPATH, folders.inject);
    run.set(variable::RUN_DIR, folders.run);
    for (name, value) in conditions.apply(&spec.options).variables() {
        if let Some(value) = value {
            run.set(name, value);
        }
    }
    run.set(variable::HISTORY, if conditions.history { "1" } else { "0" });
    run.set(variable::WORK, if conditions.work { "1" } else { "0" });
    if let Device::Phantom(device) = &spec.device {
        match conditions.limit {
            Limit::Device => run.set_others(device.others),
            Limit::Of(bytes) => run.set_others(device.total - bytes),
            Limit::Unlimited => run.set(variable::UNLIMITED, "1"),
        }
    }
    if conditions.streams == Streams::Late {
        run.set(variable::STREAMS, "late");
    }
    if conditions.notes_files {
        run.set(variable::FILES, folders.run.join(file::FILES));
    }
    run.set_changes(conditions);
    run
}

impl Environment {
    /// Adds the changes to the program: for the agent, and for PyTorch's allocator.
    fn set_changes(&mut self, conditions: &Conditions) {
        if let Some(remedies) = conditions.remedies() {
            self.set(variable::REMEDIES, remedies);
        }
        self.own.extend(conditions.own_variables());
        if let Some(conf) = conditions.conf() {
            self.unset(ALLOC_CONF);
            self.set(CUDA_ALLOC_CONF, conf);
        }
    }

    /// Adds the world that a child of a fork server enters.
    pub fn set_world(&mut self, spec: &Path) {
        self.set(variable::WORLD, spec);
    }

    /// Adds the folder for the journal of a child without a world.
    pub fn set_journal(&mut self, journal: &Path) {
        self.set(variable::UNDO, journal);
        self.set(variable::GUARD, variable::GUARD_FUNCTIONS);
    }

    /// Adds the refusal of connections to programs outside the run.
    pub fn set_offline(&mut self) {
        self.set(variable::OFFLINE, "1");
    }

    /// Adds the permission for trackers, mail and uploads.
    pub fn set_online(&mut self) {
        self.set(variable::ONLINE, "1");
    }

    /// Adds the files that are read from other places: `{PATH: OTHER}` as JSON.
    pub fn set_overlay(&mut self, files: &str) {
        self.set(variable::OVERLAY, files);
    }

    /// Adds the bytes of each device used by other processes.
    pub fn set_others(&mut self, others: Bytes) {
        if others > Bytes::ZERO {
            self.set(variable::OTHERS, others.0.to_string());
        }
    }

    /// Adds the table of the processes that share the devices.
    pub fn set_table(&mut self, table: &str) {
        self.set(variable::TABLE, table);
    }

    /// Returns the variables to set, each with its value, and the variables to remove. `inherited` looks a variable up.
    pub fn resolve(
        &self,
        inherited: impl Fn(&str) -> Option<OsString>,
    ) -> (Vec<(String, OsString)>, Vec<&'static str>) {
        let value = |name: &str, value: &Assignment| match value {
            Assignment::Whole(text) => text.clone(),
            Assignment::InFront(first) => join(first, inherited(name).filter(|rest| !rest.is_empty())),
        };
        let set = self.set.iter().map(|(name, text)| ((*name).to_owned(), value(name, text)));
        let set = set.chain(self.own.iter().map(|(name, text)| (name.clone(), text.clone()))).collect();
        (set, self.remove.iter().copied().collect())
    }

    /// Returns the changes from `base` to this environment; both start from the same variables.
    fn since(self, base: &Environment) -> Environment {
        let remove = self.remove.iter().chain(base.set.keys().filter(|name| !self.set.contains_key(*name)));
        let remove = remove.filter(|name| !base.remove.contains(*name)).copied().collect();
        let set = self.set.iter().filter(|(name, value)| base.set.get(*name) != Some(*value));
        Environment { set: set.map(|(name, value)| (*name, value.clone())).collect(), remove, own: self.own }
    }

    /// Makes the process one rank of a job, whatever rank a launcher gave to oomph itself.
    fn be_rank(&mut self, rank: u32) {
        for name in LAUNCHERS {
            self.unset(name);
        }
        self.set(variable::RANK, rank.to_string());
    }

    fn set(&mut self, name: &'static str, value: impl AsRef<OsStr>) {
        self.remove.remove(name);
        self.set.insert(name, Assignment::Whole(value.as_ref().to_owned()));
    }

    fn in_front(&mut self, name: &'static str, value: impl AsRef<OsStr>) {
        self.set.insert(name, Assignment::InFront(value.as_ref().to_owned()));
    }

    fn unset(&mut self, name: &'static str) {
        self.set.remove(name);
        self.remove.insert(name);
    }
}

fn join(first: &OsStr, rest: Option<OsString>) -> OsString {
    let mut list = first.to_owned();
    if let Some(rest) = rest {
        list.push(":");
        list.push(rest);
    }
    list
}

#[cfg(test)]
mod tests {
    use report::Change;
    use trace::run::Job;

    use super::*;
    use crate::options::RunOptions;
    use crate::testing::spec;

    type Variables = BTreeMap<String, OsString>;

    /// The environment of a user who has set the same variables as oomph.
    fn inherited() -> Variables {
        let names = of_a_run().chain(LAUNCHERS).chain([ALLOC_CONF, PYTHONPATH, LD_PRELOAD, "HOME"]);
        names.map(|name| (name.to_owned(), OsString::from("theirs"))).collect()
    }

    fn apply(environment: &Environment, to: &Variables) -> Variables {
        let (set, remove) = environment.resolve(|name| to.get(name).cloned());
        let mut variables = to.clone();
        variables.retain(|name, _| !remove.contains(&name.as_str()));
        variables.extend(set);
        variables
    }

    fn folders(run: &str) -> Folders<'_> {
        Folders { library: Path::new("/oomph/lib"), inject: Path::new("/oomph/inject"), run: Path::new(run) }
    }

    fn all_conditions() -> Vec<Conditions> {
        let plain = || Conditions::on_device(Vec::new());
        let settings = Change::new(remedies::ALLOCATOR_SETTINGS).with("conf", "max_split_size_mb:64");
        vec![
            plain(),
            plain().with_limit(Limit::Unlimited),
            plain().with_limit(Limit::Of(Bytes(1))),
            plain().with_limit(Limit::Of(crate::testing::facts().total)),
            Conditions::on_device(vec![Change::new("sdpa")]),
            Conditions::on_device(vec![settings]),
            Conditions::on_device(vec![Change::new(remedies::ALLOCATOR_SETTINGS).with("conf", "")]),
            Conditions { history: false, work: true, ..plain() },
            Conditions { notes_files: true, ..plain() },
        ]
    }

    #[test]
    fn a_forked_run_has_the_environment_of_a_plain_one() {
        for conditions in all_conditions() {
            let plain = apply(&environment(&spec(), &conditions, &folders("/run"), Route::Plain), &inherited());
            let server = apply(&of_server(&spec(), conditions.notes_files, &folders("/server")), &inherited());
            let forked = apply(&environment(&spec(), &conditions, &folders("/run"), Route::Forked), &server);
            assert_eq!(forked, plain, "{conditions:?}");
        }
    }

    #[test]
    fn no_variable_of_another_run_is_left() {
        let conditions = Conditions::on_device(Vec::new());
        let plain = apply(&environment(&spec(), &conditions, &folders("/run"), Route::Plain), &inherited());
        let left: Vec<&str> = of_a_run().filter(|name| plain.get(*name) == Some(&"theirs".into())).collect();
        assert_eq!(left, [""; 0]);
        assert_eq!(plain[ALLOC_CONF], "theirs", "the user's settings stay where a run has none");
        assert_eq!(plain[PYTHONPATH], "/oomph/inject:theirs");
        assert_eq!(plain["RANK"], "theirs", "a launcher's rank stays where oomph is one of its ranks");
    }

    #[test]
    fn settings_replace_both_of_pytorchs_variables() {
        let conditions = Conditions::on_device(vec![Change::new(remedies::ALLOCATOR_SETTINGS).with("conf", "a:1")]);
        let plain = apply(&environment(&spec(), &conditions, &folders("/run"), Route::Plain), &inherited());
        assert_eq!((plain.get(ALLOC_CONF), &plain[CUDA_ALLOC_CONF]), (None, &OsString::from("a:1")));
    }

    #[test]
    fn a_real_run_has_its_changes_and_keeps_the_device() {
        let settings = Change::new(remedies::ALLOCATOR_SETTINGS).with("conf", "a:1");
        let conditions = Conditions::on_device(vec![settings, Change::new("sdpa")]);
        let real = apply(&of_real(&conditions, &folders("/run")), &inherited());
        assert_eq!(real[variable::REMEDIES], OsString::from(r#"[{"remedy":"sdpa"}]"#));
        assert_eq!((real.get(ALLOC_CONF), &real[CUDA_ALLOC_CONF]), (None, &OsString::from("a:1")));
        assert_eq!((&real[variable::DEVICE], &real[LD_PRELOAD]), (&"theirs".into(), &"theirs".into()));
        let plain = apply(&of_real(&Conditions::on_device(Vec::new()), &folders("/run")), &inherited());
        assert_eq!((plain.get(variable::REMEDIES), &plain[ALLOC_CONF]), (None, &"theirs".into()));
    }

    #[test]
    fn a_rank_is_named_by_our_variables_alone() {
        let job = Some(Job { world_size: 8, local_world_size: 4, ranks: vec![5] });
        let spec = RunSpec { options: RunOptions { job, ..spec().options }, ..spec() };
        let rank = environment(&spec, &Conditions::on_device(Vec::new()), &folders("/run"), Route::Rank(5));
        let rank = apply(&rank, &inherited());
        let named = [variable::RANK, variable::WORLD_SIZE, variable::LOCAL_WORLD_SIZE].map(|name| rank[name].clone());
        assert_eq!(named, ["5", "8", "4"]);
        assert!(LAUNCHERS.iter().all(|name| !rank.contains_key(*name)));
        assert_eq!(rank[variable::DEVICES], "4", "a process sees the devices of one machine");
    }
}
