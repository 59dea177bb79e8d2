//! Where variants of a program are run: as children of a fork server, several at a time, or plainly, where there can be none.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use diagnose::{Gpu, Trial, Variant, settings_by_replay, trial};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use trace::{Bytes, Run};

use crate::args::Check;
use crate::commands::check::{Pass, Plan, failure_words, plan, record};
use crate::commands::fit::kept::{Ended, Keeper, Way, notes_in};
use crate::environment as names;
use crate::error::Error;
use crate::launch::{self, Changes};
use crate::rundir::{self, Place};
use crate::server::{Answer, CANNOT, ForkServer, Request};
use crate::{interrupt, reap};

/// How often Ctrl-C and the time are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How long a server may take to import.
const IMPORTS: Duration = Duration::from_mins(10);

/// Runs variants.
pub(super) struct Laboratory<'a> {
    check: &'a Check,
    plan: &'a Plan<'a>,
    place: Place,
    server: Server,
    jobs: usize,
    /// Whether settings of the allocator are wanted for what is recorded.
    tunes: bool,
    /// Runs begun so far.
    begun: u64,
    /// What is kept from one search to the next; `None` where the user wants nothing of it.
    keeper: Option<Keeper>,
    counts: Counts,
}

/// The fork server. It is started for the first run that has to be made.
enum Server {
    Wanted,
    Running(ForkServer),
    None,
}

/// How answers were had.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// By a dry run.
    pub(super) made: u32,
    /// From what is kept.
    pub(super) kept: u32,
}

/// A run under way.
struct Underway {
    index: usize,
    variant: Variant,
    folder: PathBuf,
    pid: Option<Pid>,
    since: Instant,
    timed_out: bool,
}

impl<'a> Laboratory<'a> {
    /// A place for runs. What they come to is kept for the next search, and taken from the last, where the plan has it noted which
    /// files are looked at.
    pub(super) fn start(
        check: &'a Check,
        plan: &'a Plan<'a>,
        jobs: usize,
        tunes: bool,
    ) -> Result<Laboratory<'a>, Error> {
        launch::watch_for_interrupts()?;
        reap::adopt_orphans();
        let place = Place::make(None)?;
        let keeper = plan.notes_files.then(|| Keeper::of(plan, tunes, place.path())).transpose()?;
        let server = if plan.is_python() { Server::Wanted } else { Server::None };
        Ok(Laboratory { check, plan, place, server, jobs, tunes, begun: 0, keeper, counts: Counts::default() })
    }

    /// How answers were had so far.
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// What is kept from one search to the next.
    pub(super) fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    /// The server, once it has imported. One that does not come up is none: the program is then run plainly, and says itself what is
    /// wrong.
    fn take_server(&mut self) -> Result<Option<ForkServer>, Error> {
        match std::mem::replace(&mut self.server, Server::None) {
            Server::None => Ok(None),
            Server::Running(server) => Ok(Some(server)),
            Server::Wanted => {
                let server = self.plan.fork_server(self.place.path())?;
                Ok(has_imported(&server).then_some(server))
            }
        }
    }

    /// Runs all variants that are not kept, and hands each trial over as it ends. Ends early, and says so, at Ctrl-C.
    pub(super) fn run(&mut self, variants: &[Variant], done: &mut dyn FnMut(usize, Trial)) -> Result<bool, Error> {
        let mut missing = Vec::new();
        for (index, variant) in variants.iter().enumerate() {
            match self.kept(variant, &[Way::Forked, Way::Alone]) {
                Some(trial) => done(index, trial),
                None => missing.push(index),
            }
        }
        if missing.is_empty() {
            return Ok(!interrupt::came());
        }
        let left = match self.take_server()? {
            Some(server) => self.run_forked(server, variants, missing, done)?,
            None => missing,
        };
        for index in left {
            if interrupt::came() {
                return Ok(false);
            }
            match self.run_plainly(&variants[index]) {
                Ok(trial) => done(index, trial),
                Err(Error::Interrupted) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(!interrupt::came())
    }

    /// Runs those of the variants that wait as children of the server; those that it could not run come back.
    fn run_forked(
        &mut self,
        mut server: ForkServer,
        variants: &[Variant],
        mut waiting: Vec<usize>,
        done: &mut dyn FnMut(usize, Trial),
    ) -> Result<Vec<usize>, Error> {
        waiting.reverse();
        let mut underway: HashMap<u64, Underway> = HashMap::new();
        while !(waiting.is_empty() && underway.is_empty()) {
            while underway.len() < self.jobs
                && let Some(index) = waiting.pop()
            {
                let (id, run) = self.begin(&mut server, index, &variants[index])?;
                underway.insert(id, run);
            }
            match server.answer(TICK) {
                Ok(Answer::Started { id, pid }) => {
                    if let Some(run) = underway.get_mut(&id) {
                        run.pid = Some(Pid::from_raw(pid));
                    }
                }
                Ok(Answer::Ended { status, .. }) if status == CANNOT => {
                    waiting.extend(underway.drain().map(|(_, run)| run.index));
                    return Ok(waiting);
                }
                Ok(Answer::Ended { id, status }) => {
                    if let Some(run) = underway.remove(&id) {
                        done(run.index, self.read(&run, status)?);
                    }
                }
                Ok(Answer::Ready { .. }) => {}
                Err(true) => {
                    waiting.extend(underway.drain().map(|(_, run)| run.index));
                    return Ok(waiting);
                }
                Err(false) if interrupt::came() => return Ok(Vec::new()),
                Err(false) => self.end_overdue(&mut underway),
            }
        }
        self.server = Server::Running(server);
        Ok(Vec::new())
    }

    fn begin(&mut self, server: &mut ForkServer, index: usize, variant: &Variant) -> Result<(u64, Underway), Error> {
        let id = self.begun;
        self.begun += 1;
        let folder = self.place.path().join(format!("run{id}"));
        std::fs::create_dir(&folder).map_err(|source| Error::RunFolder { folder: folder.clone(), source })?;
        let output = folder.join(rundir::OUTPUT);
        // A server that is gone shows as the end of its answers.
        server.ask(&Request { id, env: self.environment(variant, &folder), output: &output });
        let variant = variant.clone();
        Ok((id, Underway { index, variant, folder, pid: None, since: Instant::now(), timed_out: false }))
    }

    /// What the child is told of its variant.
    fn environment(&self, variant: &Variant, folder: &std::path::Path) -> BTreeMap<&'static str, String> {
        let changes = Changes::of(&variant.changes);
        let mut env = BTreeMap::from([
            (names::RUN_DIR, folder.display().to_string()),
            (names::STEPS, self.check.depth.steps.to_string()),
            (names::FRACTION, self.check.depth.fraction.to_string()),
            (names::HISTORY, u8::from(variant.recorded).to_string()),
            (names::WORK, u8::from(variant.counted).to_string()),
            (names::REMEDIES, changes.json.unwrap_or_default()),
        ]);
        match variant.limit {
            Some(limit) => env.insert(names::OTHERS, (self.plan.card.profile.total_bytes - limit).0.to_string()),
            None => env.insert(names::UNLIMITED, "1".to_owned()),
        };
        if self.keeper.is_some() {
            env.insert(names::FILES, notes_in(folder).display().to_string());
        }
        if let Some(conf) = changes.conf {
            env.insert(names::CUDA_ALLOC_CONF, conf.to_owned());
        }
        env
    }

    fn end_overdue(&self, underway: &mut HashMap<u64, Underway>) {
        for run in underway.values_mut().filter(|run| run.since.elapsed() > self.check.depth.timeout) {
            if let Some(pid) = run.pid {
                run.timed_out = true;
                reap::signal_tree(pid, Signal::SIGKILL);
            }
        }
    }

    fn read(&mut self, run: &Underway, status: i32) -> Result<Trial, Error> {
        let recorded = rundir::read(&run.folder)?;
        let failure = failure_words(&run.folder, status, run.timed_out.then_some(self.check.depth.timeout));
        let trial = self.trial(&run.variant, recorded, failure);
        self.counts.made += 1;
        if let Some(keeper) = &mut self.keeper {
            let (variant, timed_out) = (&run.variant, run.timed_out);
            let notes = &notes_in(&run.folder);
            keeper
                .put_forked(&Ended { variant, trial: &trial, status, timed_out, notes }, &notes_in(self.place.path()));
        }
        // Dozens of runs would fill a small /tmp.
        std::fs::remove_dir_all(&run.folder)
            .map_err(|source| Error::RunFolder { folder: run.folder.clone(), source })?;
        Ok(trial)
    }

    /// A run in a process of its own; `None` at Ctrl-C. The server is gone afterwards: nothing else is left running.
    pub(super) fn run_freshly(&mut self, variant: &Variant) -> Result<Option<Trial>, Error> {
        if let Some(trial) = self.kept(variant, &[Way::Alone]) {
            return Ok(Some(trial));
        }
        self.server = Server::None;
        match self.run_plainly(variant) {
            Ok(trial) => Ok(Some(trial)),
            Err(Error::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What a variant came to in an earlier search.
    fn kept(&mut self, variant: &Variant, ways: &[Way]) -> Option<Trial> {
        let trial = self.keeper.as_ref()?.get(variant, ways)?;
        self.counts.kept += 1;
        Some(trial)
    }

    /// A run as `check` makes it.
    fn run_plainly(&mut self, variant: &Variant) -> Result<Trial, Error> {
        let place = Place::make(None)?;
        let pass = match variant.limit {
            Some(limit) => Pass::Shared(self.plan.card.profile.total_bytes - limit),
            None => Pass::Unlimited,
        };
        let program = Check { changes: variant.changes.clone(), ..self.check.clone() };
        let mut plan = plan(&program)?;
        (plan.notes_files, plan.shown) = (self.plan.notes_files, self.plan.shown);
        let (facts, run) = record(&plan, place.path(), pass)?;
        let ended = facts.ended.unwrap_or_default();
        let (status, timed_out) = (ended.exit_code.unwrap_or(-1), ended.timed_out);
        let failure = failure_words(place.path(), status, timed_out.then_some(self.check.depth.timeout));
        let trial = self.trial(variant, run, failure);
        self.counts.made += 1;
        if let Some(keeper) = &mut self.keeper {
            let notes = &notes_in(place.path());
            keeper.put_alone(&Ended { variant, trial: &trial, status, timed_out, notes });
        }
        Ok(trial)
    }

    fn trial(&self, variant: &Variant, run: Run, failure: Option<String>) -> Trial {
        let profile = &self.plan.card.profile;
        let trial = trial(&run, profile.context_bytes, failure);
        if !(self.tunes && variant.recorded && variant.is_unchanged()) {
            return trial;
        }
        let gpu = Gpu { name: profile.name.clone(), total: profile.total_bytes, context: profile.context_bytes };
        match settings_by_replay(run, gpu) {
            Ok(settings) => Trial { settings, ..trial },
            Err(error) => Trial { unreplayed: Some(error.to_string()), ..trial },
        }
    }
}

/// Waits for a server's imports; whether it is ready for requests.
fn has_imported(server: &ForkServer) -> bool {
    let began = Instant::now();
    loop {
        match server.answer(TICK) {
            Ok(Answer::Ready { .. }) => return true,
            Ok(_) | Err(true) => return false,
            Err(false) if interrupt::came() || began.elapsed() > IMPORTS => return false,
            Err(false) => {}
        }
    }
}

/// How many runs may go on at once: one a core, each with `each` of the machine's memory.
pub(super) fn default_jobs(each: Bytes) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let fitting = available_memory().map_or(cores, |free| usize::try_from(free.0 / each.0.max(1)).unwrap_or(cores));
    cores.min(fitting).max(1)
}

/// `MemAvailable` of /proc/meminfo.
fn available_memory() -> Option<Bytes> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok().map(Bytes::from_kib)
}
