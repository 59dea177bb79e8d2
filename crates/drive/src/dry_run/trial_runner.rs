//! Runs the trials of a search: performs the effects of `run::fork::Schedule`, which decides when and how each trial starts.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, Instant};

use base::events::{RunEvent, tell};
use base::{Error, interrupt, run_dir};
use diagnose::{Gpu, Trial, Variant, settings_by_replay, trial};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use run::fork::{NoAnswer, Request, Schedule, ScheduleEffect, ScheduleEvent};
use run::{AssumedShare, Conditions, Limit, Route, Streams};
use trace::Run;
use trace::run::{Ended, StopCause};
use wire::file;

use crate::cleanup::reap;
use crate::dry_run::failure::describe_end;
use crate::dry_run::program::Program;
use crate::dry_run::record::{Recording, record};
use crate::dry_run::replaced;
use crate::dry_run::run_cache::{EndedRun, RunCache};
use crate::dry_run::server::ForkServer;
use crate::dry_run::{own_files, own_options};
use crate::environment;
use crate::guard::outside::RunOutside;
use crate::process::live_process::LiveProcess;
use crate::process::stop::stop;
use crate::run_folder::{self, RunDir};

/// The longest wait for an answer of the server before Ctrl-C and the time are checked.
const TICK: Duration = Duration::from_millis(50);

/// Runs variants of a program, or takes their results from the cache.
pub struct TrialRunner<'a> {
    program: &'a Program,
    folder: RunDir,
    schedule: Schedule,
    server: Option<ForkServer>,
    started: Instant,
    /// True if a recorded run of the unchanged program also finds settings of the allocator.
    tunes: bool,
    /// Changes of all runs.
    always: Variant,
    /// Files that Python reads in place of the program's own, in all runs.
    overlay: BTreeMap<PathBuf, PathBuf>,
    /// `None` if the user wants no cache.
    cache: Option<RunCache>,
    counts: Counts,
    /// The worlds of the running children, by their requests.
    outside: BTreeMap<u64, RunOutside>,
    /// The running children as they are seen, by their requests, each with the number of its variant.
    seen: BTreeMap<u64, (usize, LiveProcess)>,
    /// The start of each running child.
    begun: BTreeMap<u64, Instant>,
    /// The first run, if the user stopped it.
    stopped: Option<StoppedTrial>,
}

/// The first run of a search, which the user stopped: what it showed until then.
#[derive(Clone, Debug)]
pub struct StoppedTrial {
    /// The records.
    pub run: Run,
    /// The end.
    pub ended: Ended,
}

/// The numbers of results by their sources.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Of dry runs.
    pub dry_runs: u32,
    /// Of the cache.
    pub cached: u32,
}

/// Takes the index of a variant and its result.
pub type Done<'a> = &'a mut dyn FnMut(usize, Trial);

impl<'a> TrialRunner<'a> {
    /// A runner of `jobs` children at a time.
    pub fn new(
        program: &'a Program,
        jobs: usize,
        tunes: bool,
        uses_cache: bool,
        always: Variant,
    ) -> Result<TrialRunner<'a>, Error> {
        reap::adopt_orphans();
        let folder = RunDir::make(None)?;
        let cache = uses_cache.then(|| RunCache::open(program, tunes, folder.path())).transpose()?;
        let schedule = Schedule::new(program.spec.can_fork(), jobs, program.spec.timeout);
        let (started, counts) = (Instant::now(), Counts::default());
        Ok(TrialRunner {
            program,
            folder,
            schedule,
            server: None,
            started,
            tunes,
            always,
            overlay: BTreeMap::new(),
            cache,
            counts,
            outside: BTreeMap::new(),
            seen: BTreeMap::new(),
            begun: BTreeMap::new(),
            stopped: None,
        })
    }

    /// Has all runs read other files in place of the program's own. Results are kept by the program's own: there is no cache.
    #[must_use]
    pub fn reading(self, overlay: BTreeMap<PathBuf, PathBuf>) -> TrialRunner<'a> {
        TrialRunner { overlay, cache: None, ..self }
    }

    /// The numbers of results so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The first run, if the user stopped it.
    pub fn stopped(&mut self) -> Option<StoppedTrial> {
        self.stopped.take()
    }

    /// The cache; `None` without one.
    pub fn cache(&self) -> Option<&RunCache> {
        self.cache.as_ref()
    }

    /// Runs all variants that are not in the cache, and passes each result on. Returns false if Ctrl-C ended the search.
    pub fn run(&mut self, variants: &[Variant], done: Done) -> Result<bool, Error> {
        let mut missing = Vec::new();
        for (index, variant) in variants.iter().enumerate() {
            match self.cached(variant, &[Route::Forked, Route::Plain]) {
                Some(trial) => done(index, trial),
                None => missing.push(index),
            }
        }
        if self.program.outside.is_first() && missing.len() > 1 {
            // The first run alone has the network: the others find its downloads.
            let others = missing.split_off(1);
            self.drive(ScheduleEvent::Wanted(missing), variants, done)?;
            missing = others;
        }
        // Note [One journal at a time] in `cleanup/scratch.rs`.
        let at_once = if self.program.outside.is_journaled() { 1 } else { missing.len().max(1) };
        for batch in missing.chunks(at_once).take_while(|_| !interrupt::has_come()) {
            self.drive(ScheduleEvent::Wanted(batch.to_vec()), variants, done)?;
        }
        Ok(!interrupt::has_come())
    }

    /// Runs a variant in its own process, with nothing else running; `None` at Ctrl-C.
    pub fn run_alone(&mut self, variant: &Variant) -> Result<Option<Trial>, Error> {
        let mut result = self.cached(variant, &[Route::Plain]);
        if result.is_none() {
            self.drive(ScheduleEvent::WantedAlone(0), slice::from_ref(variant), &mut |_, trial| result = Some(trial))?;
        }
        Ok(result)
    }

    fn cached(&mut self, variant: &Variant, routes: &[Route]) -> Option<Trial> {
        let trial = self.cache.as_ref()?.get(&self.conditions(variant), routes)?;
        self.counts.cached += 1;
        Some(trial)
    }

    /// The conditions of a variant's run.
    fn conditions(&self, variant: &Variant) -> Conditions {
        Conditions {
            limit: variant.limit.map_or(Limit::Unlimited, Limit::Of),
            changes: self.always.changes.iter().chain(&variant.changes).cloned().collect(),
            history: variant.recorded,
            work: variant.counted,
            notes_files: self.cache.is_some() || variant.recorded,
            streams: Streams::AtOnce,
            share: AssumedShare::Asked,
            overlay: self.overlay.clone(),
        }
    }

    /// Passes events to the schedule and performs its effects, until no trial is left.
    fn drive(&mut self, event: ScheduleEvent, variants: &[Variant], done: Done) -> Result<(), Error> {
        let mut effects = VecDeque::from(self.step(event));
        loop {
            while let Some(effect) = effects.pop_front() {
                if let Some(event) = self.perform(effect, variants, done)? {
                    effects.extend(self.step(event));
                }
            }
            if self.schedule.is_idle() {
                return Ok(());
            }
            let event = self.wait();
            self.show(variants);
            if event == ScheduleEvent::Interrupted {
                self.stop_first(variants)?;
            }
            effects.extend(self.step(event));
        }
    }

    /// Tells of the oldest running child.
    fn show(&mut self, variants: &[Variant]) {
        match self.seen.first_entry() {
            Some(mut oldest) => {
                let (index, live) = oldest.get_mut();
                tell(RunEvent::Trial(variants.get(*index)));
                tell(RunEvent::GoesOn(&live.update()));
            }
            None => tell(RunEvent::Trial(None)),
        }
    }

    /// Stops the only child of a search that has no result yet, and reads what it showed.
    fn stop_first(&mut self, variants: &[Variant]) -> Result<(), Error> {
        let is_first = self.counts.dry_runs + self.counts.cached == 0;
        let Some((id, (index, _))) = self.seen.pop_first().filter(|_| is_first && variants.len() == 1) else {
            return Ok(());
        };
        let folder = self.child_folder(id);
        let cause = interrupt::asked().map_or(StopCause::Interrupt, |request| request.cause());
        let seconds = self.started.elapsed().as_secs_f64();
        stop(&folder, cause)?;
        run_folder::remove_unfinished(&folder)?;
        let mut run = run_dir::read(&folder)?;
        run_dir::add_unrecorded(&folder, &mut run)?;
        if let Some(outside) = self.outside.remove(&id) {
            self.program.outside.end(outside, &run);
        }
        let ended = Ended { seconds, stopped_by: Some(cause), ..Ended::default() };
        self.stopped = variants[index].is_unchanged().then_some(StoppedTrial { run, ended });
        Ok(())
    }

    fn step(&mut self, event: ScheduleEvent) -> Vec<ScheduleEffect> {
        self.schedule.step(event, self.started.elapsed())
    }

    fn wait(&self) -> ScheduleEvent {
        match self.server.as_ref().map(|server| server.answer(TICK)) {
            Some(Ok(answer)) => ScheduleEvent::Answered(answer),
            Some(Err(NoAnswer::Gone)) | None => ScheduleEvent::ServerGone,
            Some(Err(NoAnswer::Quiet)) if interrupt::has_come() => ScheduleEvent::Interrupted,
            Some(Err(NoAnswer::Quiet)) => ScheduleEvent::Tick,
        }
    }

    fn perform(
        &mut self,
        effect: ScheduleEffect,
        variants: &[Variant],
        done: Done,
    ) -> Result<Option<ScheduleEvent>, Error> {
        match effect {
            ScheduleEffect::StartServer => {
                self.server = Some(ForkServer::start(self.program, self.folder.path(), self.cache.is_some())?);
            }
            ScheduleEffect::StopServer => {
                self.server = None;
                self.seen.clear();
            }
            ScheduleEffect::Fork { id, trial } => {
                self.fork(id, &variants[trial])?;
                self.seen.insert(id, (trial, LiveProcess::of(&self.child_folder(id))));
            }
            ScheduleEffect::Kill { pid } => reap::signal_tree(Pid::from_raw(pid), Signal::SIGKILL),
            ScheduleEffect::Read { id, trial, status, timed_out } => {
                done(trial, self.read(id, &variants[trial], status, timed_out)?);
            }
            ScheduleEffect::RunPlainly { trial } => return self.run_plainly(trial, variants, done).map(Some),
        }
        Ok(None)
    }

    fn fork(&mut self, id: u64, variant: &Variant) -> Result<(), Error> {
        let folder = self.child_folder(id);
        fs::create_dir(&folder).map_err(|source| Error::RunFolder { folder: folder.clone(), source })?;
        let mut variables = self.program.environment(&self.conditions(variant), &folder, Route::Forked);
        own_files::lay_over(&self.conditions(variant), &folder, &mut variables)?;
        let outside = self.program.outside.next(&folder)?;
        self.program.outside.complete(&outside, &mut variables);
        outside.world.add_forked_guard(&mut variables);
        self.outside.insert(id, outside);
        self.begun.insert(id, Instant::now());
        let output = folder.join(file::OUTPUT);
        let command = self.conditions(variant).command(&self.program.spec.command);
        let command = (command != self.program.spec.command).then_some(command);
        let request = Request::new(id, &variables, environment::get, &output, command.as_deref());
        if let Some(server) = &mut self.server {
            server.ask(&request);
        }
        Ok(())
    }

    /// The run directory of a child.
    fn child_folder(&self, id: u64) -> PathBuf {
        self.folder.path().join(format!("run{id}"))
    }

    fn read(&mut self, id: u64, variant: &Variant, status: i32, timed_out: bool) -> Result<Trial, Error> {
        self.seen.remove(&id);
        let seconds = self.begun.remove(&id).map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        let folder = self.child_folder(id);
        let records = run_dir::read(&folder)?;
        replaced::append(&records);
        if let Some(outside) = self.outside.remove(&id) {
            self.program.outside.end(outside, &records);
        }
        let trial = Trial { seconds, ..self.result(variant, records, &folder, status, timed_out) };
        let conditions = self.conditions(variant);
        if let Some(cache) = &mut self.cache {
            let ended = EndedRun { conditions: &conditions, trial: &trial, status, timed_out, folder: &folder };
            cache.put_forked(&ended, self.folder.path());
        }
        // Dozens of runs would fill a small /tmp.
        fs::remove_dir_all(&folder).map_err(|source| Error::RunFolder { folder: folder.clone(), source })?;
        Ok(trial)
    }

    fn run_plainly(&mut self, index: usize, variants: &[Variant], done: Done) -> Result<ScheduleEvent, Error> {
        if interrupt::has_come() {
            return Ok(ScheduleEvent::Interrupted);
        }
        tell(RunEvent::Trial(Some(&variants[index])));
        match self.record(&variants[index]) {
            Ok(trial) => {
                done(index, trial);
                Ok(ScheduleEvent::PlainEnded)
            }
            Err(Error::Interrupted) => Ok(ScheduleEvent::Interrupted),
            Err(error) => Err(error),
        }
    }

    /// Runs a variant in a process of its own.
    fn record(&mut self, variant: &Variant) -> Result<Trial, Error> {
        let (folder, begun) = (RunDir::make(None)?, Instant::now());
        let conditions = self.conditions(variant);
        let Recording { launch, run, .. } = record(self.program, &conditions, folder.path())?;
        let ended = launch.ended.unwrap_or_default();
        if ended.user_stop().is_some() {
            if self.counts.dry_runs + self.counts.cached == 0 && variant.is_unchanged() {
                self.stopped = Some(StoppedTrial { run, ended });
            }
            return Err(Error::Interrupted);
        }
        let (status, timed_out) = (ended.exit_code.unwrap_or(-1), ended.timed_out);
        let trial = self.result(variant, run, folder.path(), status, timed_out);
        let trial = Trial { seconds: begun.elapsed().as_secs_f64(), ..trial };
        if let Some(cache) = &mut self.cache {
            let folder = folder.path();
            cache.put_plain(&EndedRun { conditions: &conditions, trial: &trial, status, timed_out, folder });
        }
        Ok(trial)
    }

    /// Adds the program's own options and sources.
    fn with_own_options(&self, trial: Trial, run: &Run, folder: &Path) -> Trial {
        let own_options::OwnSettings { options, refused, sources } =
            own_options::find(run, &self.program.spec.command, folder);
        Trial { own: options, sources, missing: trial.missing.iter().cloned().chain(refused).collect(), ..trial }
    }

    /// Reads the result of a run.
    fn result(&mut self, variant: &Variant, run: Run, folder: &Path, status: i32, timed_out: bool) -> Trial {
        self.counts.dry_runs += 1;
        let failure = describe_end(folder, status, timed_out.then_some(self.program.spec.timeout));
        let profile = &self.program.profile;
        let trial = trial(&run, profile.context_bytes, failure);
        let trial = if variant.is_unchanged() { self.with_own_options(trial, &run, folder) } else { trial };
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
