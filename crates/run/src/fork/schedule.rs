//! The start of each trial of a search: as a child of the fork server, several at a time, or plainly, one by one.
//!
//! # Note [Fork server states]
//!
//! ```text
//! Wanted ──first trial──▶ Importing ──Ready──▶ Ready
//!                             │                  │
//!                             └───────┬──────────┘
//!                                     ▼
//!                                   Gone
//! ```
//!
//! An unusable server is gone for the rest of the search: it ended, its imports took too long, or a child exited with
//! [`CANNOT`]. Its trials then run plainly, so that the program itself shows the error. Trials in children of a lost
//! server start again. The caller performs each [`ScheduleEffect`] in order, and answers with the resulting
//! [`ScheduleEvent`].

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use wire::exit::CANNOT;

use super::protocol::Answer;

/// The longest time that a server may import.
const IMPORT_TIMEOUT: Duration = Duration::from_mins(10);

/// The trials of a search that wait or run. Trials are numbers of the caller's.
#[derive(Clone, Debug)]
pub struct Schedule {
    server: Server,
    /// The largest number of children at a time.
    jobs: usize,
    timeout: Duration,
    next_id: u64,
    waiting: VecDeque<usize>,
    children: BTreeMap<u64, Child>,
    /// The trial that runs plainly.
    plain: Option<usize>,
}

/// The state of the fork server, see Note [Fork server states].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    Wanted,
    Importing { since: Duration },
    Ready,
    Gone,
}

/// A trial that runs as a child of the server.
#[derive(Clone, Copy, Debug)]
struct Child {
    trial: usize,
    pid: Option<i32>,
    since: Duration,
    timed_out: bool,
}

/// An input of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleEvent {
    /// Requests these trials.
    Wanted(Vec<usize>),
    /// Requests this trial to run plainly, with nothing else running. The server is not used again.
    WantedAlone(usize),
    /// The server answered.
    Answered(Answer),
    /// The server has ended.
    ServerGone,
    /// Time has passed without an answer.
    Tick,
    /// The plain trial has ended.
    PlainEnded,
    /// The user ends the search.
    Interrupted,
}

/// An output of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleEffect {
    /// Start the fork server.
    StartServer,
    /// End the fork server and its children.
    StopServer,
    /// Ask the server for a child.
    Fork {
        /// The id of the request, unique in a search.
        id: u64,
        /// The trial that the child runs.
        trial: usize,
    },
    /// End a child whose time is up.
    Kill {
        /// The child's process id.
        pid: i32,
    },
    /// Read the result of a child that has ended.
    Read {
        /// The id of the request.
        id: u64,
        /// The trial of the child.
        trial: usize,
        /// The child's exit status; a signal is negative.
        status: i32,
        /// True if the child was ended at its time limit.
        timed_out: bool,
    },
    /// Run a trial in a process of its own.
    RunPlainly {
        /// The trial.
        trial: usize,
    },
}

impl Schedule {
    /// An empty schedule. `can_fork`: a fork server can wait in place of the program.
    pub fn new(can_fork: bool, jobs: usize, timeout: Duration) -> Schedule {
        Schedule {
            server: if can_fork { Server::Wanted } else { Server::Gone },
            jobs,
            timeout,
            next_id: 0,
            waiting: VecDeque::new(),
            children: BTreeMap::new(),
            plain: None,
        }
    }

    /// True if no trial waits or runs.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.children.is_empty() && self.plain.is_none()
    }

    /// Takes an event at the time `now`, which counts from any fixed moment.
    pub fn step(&mut self, event: ScheduleEvent, now: Duration) -> Vec<ScheduleEffect> {
        let mut effects = match event {
            ScheduleEvent::Wanted(trials) => self.add(trials, now),
            ScheduleEvent::WantedAlone(trial) => {
                self.waiting.push_front(trial);
                self.lose_server()
            }
            ScheduleEvent::Answered(answer) => self.answer(&answer),
            ScheduleEvent::ServerGone => self.lose_server(),
            ScheduleEvent::Tick => self.check_time(now),
            ScheduleEvent::PlainEnded => {
                self.plain = None;
                Vec::new()
            }
            ScheduleEvent::Interrupted => self.end(),
        };
        effects.extend(self.start_waiting(now));
        effects
    }

    fn add(&mut self, trials: Vec<usize>, now: Duration) -> Vec<ScheduleEffect> {
        self.waiting.extend(trials);
        if self.server != Server::Wanted || self.waiting.is_empty() {
            return Vec::new();
        }
        self.server = Server::Importing { since: now };
        vec![ScheduleEffect::StartServer]
    }

    fn answer(&mut self, answer: &Answer) -> Vec<ScheduleEffect> {
        match answer {
            Answer::Ready => self.server = Server::Ready,
            Answer::Started { id, pid } => {
                if let Some(child) = self.children.get_mut(id) {
                    child.pid = Some(*pid);
                }
            }
            Answer::Ended { status: CANNOT, .. } => return self.lose_server(),
            Answer::Ended { id, status } => {
                let read = |child: Child| ScheduleEffect::Read {
                    id: *id,
                    trial: child.trial,
                    status: *status,
                    timed_out: child.timed_out,
                };
                return self.children.remove(id).map(read).into_iter().collect();
            }
        }
        Vec::new()
    }

    fn check_time(&mut self, now: Duration) -> Vec<ScheduleEffect> {
        if let Server::Importing { since } = self.server
            && now.saturating_sub(since) > IMPORT_TIMEOUT
        {
            return self.lose_server();
        }
        let timeout = self.timeout;
        let overdue =
            self.children.values_mut().filter(|child| !child.timed_out && now.saturating_sub(child.since) > timeout);
        let kill = |child: &mut Child| {
            let pid = child.pid?;
            child.timed_out = true;
            Some(ScheduleEffect::Kill { pid })
        };
        overdue.filter_map(kill).collect()
    }

    /// Children of a lost server wait again, before all others.
    fn lose_server(&mut self) -> Vec<ScheduleEffect> {
        let lost = std::mem::take(&mut self.children);
        for child in lost.values().rev() {
            self.waiting.push_front(child.trial);
        }
        self.stop_server()
    }

    fn stop_server(&mut self) -> Vec<ScheduleEffect> {
        let was = std::mem::replace(&mut self.server, Server::Gone);
        let is_running = matches!(was, Server::Importing { .. } | Server::Ready);
        if is_running { vec![ScheduleEffect::StopServer] } else { Vec::new() }
    }

    fn end(&mut self) -> Vec<ScheduleEffect> {
        self.waiting.clear();
        self.children.clear();
        self.plain = None;
        self.stop_server()
    }

    fn start_waiting(&mut self, now: Duration) -> Vec<ScheduleEffect> {
        match self.server {
            Server::Wanted | Server::Importing { .. } => Vec::new(),
            Server::Ready => {
                let free = self.jobs.saturating_sub(self.children.len()).min(self.waiting.len());
                let trials: Vec<usize> = self.waiting.drain(..free).collect();
                trials.into_iter().map(|trial| self.fork(trial, now)).collect()
            }
            Server::Gone if self.plain.is_some() => Vec::new(),
            Server::Gone => {
                self.plain = self.waiting.pop_front();
                self.plain.map(|trial| ScheduleEffect::RunPlainly { trial }).into_iter().collect()
            }
        }
    }

    fn fork(&mut self, trial: usize, now: Duration) -> ScheduleEffect {
        let id = self.next_id;
        self.next_id += 1;
        self.children.insert(id, Child { trial, pid: None, since: now, timed_out: false });
        ScheduleEffect::Fork { id, trial }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_mins(1);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn ready() -> ScheduleEvent {
        ScheduleEvent::Answered(Answer::Ready)
    }

    fn started(id: u64, pid: i32) -> ScheduleEvent {
        ScheduleEvent::Answered(Answer::Started { id, pid })
    }

    fn ended(id: u64, status: i32) -> ScheduleEvent {
        ScheduleEvent::Answered(Answer::Ended { id, status })
    }

    fn fork(id: u64, trial: usize) -> ScheduleEffect {
        ScheduleEffect::Fork { id, trial }
    }

    fn read(id: u64, trial: usize, status: i32, timed_out: bool) -> ScheduleEffect {
        ScheduleEffect::Read { id, trial, status, timed_out }
    }

    fn plainly(trial: usize) -> ScheduleEffect {
        ScheduleEffect::RunPlainly { trial }
    }

    /// Takes events at the times of their effects, and compares.
    fn check(schedule: &mut Schedule, steps: Vec<(u64, ScheduleEvent, Vec<ScheduleEffect>)>) {
        for (seconds, event, expected) in steps {
            let text = format!("{seconds} s: {event:?}");
            assert_eq!(schedule.step(event, at(seconds)), expected, "{text}");
        }
    }

    #[test]
    fn children_run_side_by_side_and_the_next_starts_when_one_ends() {
        let mut schedule = Schedule::new(true, 2, TIMEOUT);
        check(
            &mut schedule,
            vec![
                (0, ScheduleEvent::Wanted(vec![7, 8, 9]), vec![ScheduleEffect::StartServer]),
                (1, ScheduleEvent::Tick, vec![]),
                (2, ready(), vec![fork(0, 7), fork(1, 8)]),
                (2, started(0, 100), vec![]),
                (3, ended(1, 0), vec![read(1, 8, 0, false), fork(2, 9)]),
                (4, ended(2, 1), vec![read(2, 9, 1, false)]),
                (5, ended(0, -9), vec![read(0, 7, -9, false)]),
            ],
        );
        assert!(schedule.is_idle());
        // The server stays for the next trials; ids go on.
        check(&mut schedule, vec![(6, ScheduleEvent::Wanted(vec![0]), vec![fork(3, 0)])]);
    }

    #[test]
    fn a_child_whose_time_is_up_is_killed_once() {
        let mut schedule = Schedule::new(true, 2, TIMEOUT);
        check(
            &mut schedule,
            vec![
                (0, ScheduleEvent::Wanted(vec![0]), vec![ScheduleEffect::StartServer]),
                (10, ready(), vec![fork(0, 0)]),
                (75, ScheduleEvent::Tick, vec![]), // It has no process id yet.
                (75, started(0, 100), vec![]),
                (76, ScheduleEvent::Tick, vec![ScheduleEffect::Kill { pid: 100 }]),
                (77, ScheduleEvent::Tick, vec![]),
                (78, ended(0, -9), vec![read(0, 0, -9, true)]),
            ],
        );
    }

    #[test]
    fn trials_of_a_lost_server_run_plainly_in_their_order() {
        for loss in [ScheduleEvent::ServerGone, ended(1, CANNOT)] {
            let mut schedule = Schedule::new(true, 2, TIMEOUT);
            check(
                &mut schedule,
                vec![
                    (0, ScheduleEvent::Wanted(vec![0, 1, 2]), vec![ScheduleEffect::StartServer]),
                    (1, ready(), vec![fork(0, 0), fork(1, 1)]),
                    (2, loss, vec![ScheduleEffect::StopServer, plainly(0)]),
                    (3, ScheduleEvent::PlainEnded, vec![plainly(1)]),
                    (4, ScheduleEvent::PlainEnded, vec![plainly(2)]),
                    (5, ScheduleEvent::PlainEnded, vec![]),
                    (6, ScheduleEvent::Wanted(vec![3]), vec![plainly(3)]),
                ],
            );
        }
    }

    #[test]
    fn a_server_that_does_not_come_up_is_given_up() {
        let gone = [(601, ScheduleEvent::Tick), (1, ScheduleEvent::ServerGone)];
        for (seconds, event) in gone {
            let mut schedule = Schedule::new(true, 2, TIMEOUT);
            let steps = vec![
                (0, ScheduleEvent::Wanted(vec![0]), vec![ScheduleEffect::StartServer]),
                (seconds, event, vec![ScheduleEffect::StopServer, plainly(0)]),
            ];
            check(&mut schedule, steps);
        }
    }

    #[test]
    fn a_program_that_cannot_be_forked_needs_no_server() {
        let mut schedule = Schedule::new(false, 2, TIMEOUT);
        check(&mut schedule, vec![(0, ScheduleEvent::Wanted(vec![0, 1]), vec![plainly(0)])]);
    }

    #[test]
    fn a_trial_that_runs_alone_ends_the_server() {
        let mut schedule = Schedule::new(true, 2, TIMEOUT);
        check(
            &mut schedule,
            vec![
                (0, ScheduleEvent::Wanted(vec![0]), vec![ScheduleEffect::StartServer]),
                (1, ready(), vec![fork(0, 0)]),
                (2, ended(0, 0), vec![read(0, 0, 0, false)]),
                (3, ScheduleEvent::WantedAlone(0), vec![ScheduleEffect::StopServer, plainly(0)]),
                (4, ScheduleEvent::PlainEnded, vec![]),
            ],
        );
        assert!(schedule.is_idle());
    }

    #[test]
    fn an_interrupt_ends_everything() {
        let mut schedule = Schedule::new(true, 1, TIMEOUT);
        let start = vec![
            (0, ScheduleEvent::Wanted(vec![0, 1]), vec![ScheduleEffect::StartServer]),
            (1, ready(), vec![fork(0, 0)]),
            (2, ScheduleEvent::Interrupted, vec![ScheduleEffect::StopServer]),
        ];
        check(&mut schedule, start);
        assert!(schedule.is_idle());
        let mut plain = Schedule::new(false, 1, TIMEOUT);
        check(
            &mut plain,
            vec![(0, ScheduleEvent::Wanted(vec![0, 1]), vec![plainly(0)]), (1, ScheduleEvent::Interrupted, vec![])],
        );
        assert!(plain.is_idle());
        let mut cached = Schedule::new(true, 1, TIMEOUT);
        check(&mut cached, vec![(0, ScheduleEvent::Wanted(Vec::new()), vec![])]);
        assert!(cached.is_idle(), "no server for trials that are all known");
    }
}
