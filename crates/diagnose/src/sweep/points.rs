//! Points of a sweep that differ in one number: the runs of some, and replays of the others (Note [Lines]).

use std::collections::BTreeMap;

use report::Change;
use report::sweep::HowKnown;
use serde::{Deserialize, Serialize};

use super::answer::PointAnswer;
use crate::fit::{Ending, Sample, Trial};

/// A configuration of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinePoint {
    /// The number in the sweep.
    pub number: u64,
    /// The number in which the points of a line differ; `None` if every point runs.
    pub size: Option<u64>,
    /// The changes of the program.
    pub changes: Vec<Change>,
}

/// A line: points and their results.
#[derive(Clone, Debug)]
pub struct SweepLine {
    /// In the order of sizes.
    points: Vec<LinePoint>,
    runs: BTreeMap<usize, PointRun>,
    /// Pairs of points with an unknown middle.
    open: Vec<OpenSpan>,
    /// True for points whose answers were taken.
    answered: Vec<bool>,
}

/// Two points of a line, with unknown points between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenSpan {
    low: usize,
    high: usize,
}

/// The result of a point's run.
#[derive(Clone, Debug)]
enum PointRun {
    Measured { sample: Box<Sample>, seconds: f64, torch: Option<String> },
    Failed { message: String, seconds: f64, torch: Option<String> },
}

impl OpenSpan {
    fn middle(self) -> Option<usize> {
        (self.high > self.low + 1).then(|| self.low.midpoint(self.high))
    }
}

impl SweepLine {
    /// The line of the points.
    pub fn new(mut points: Vec<LinePoint>) -> SweepLine {
        points.sort_by_key(|point| point.size);
        let answered = vec![false; points.len()];
        let is_line = points.len() > 2 && points.iter().all(|point| point.size.is_some());
        let open = is_line.then_some(OpenSpan { low: 0, high: points.len() - 1 });
        SweepLine { points, runs: BTreeMap::new(), open: open.into_iter().collect(), answered }
    }

    /// The points, the smallest first.
    pub fn points(&self) -> &[LinePoint] {
        &self.points
    }

    /// The indices of the points to run next; empty when the line is known.
    pub fn next(&self) -> Vec<usize> {
        let is_line = self.points.iter().all(|point| point.size.is_some()) && self.points.len() > 2;
        let ends = [0, self.points.len().saturating_sub(1)];
        let wanted: Vec<usize> = match (is_line, self.open.is_empty()) {
            (false, _) => (0..self.points.len()).collect(),
            // The ends and their middle in one go.
            (true, _) if self.runs.is_empty() => {
                ends.into_iter().chain(self.open.iter().filter_map(|span| span.middle())).collect()
            }
            (true, _) => self.open.iter().filter_map(|span| span.middle()).collect(),
        };
        wanted.into_iter().filter(|index| !self.runs.contains_key(index)).collect()
    }

    /// Records the result of a run.
    pub fn learn(&mut self, index: usize, trial: &Trial) {
        let (seconds, torch) = (trial.seconds, trial.torch.clone());
        let run = match &trial.ending {
            Ending::Failed { message } => PointRun::Failed { message: message.clone(), seconds, torch },
            Ending::RanOut => {
                let message = "it needs more than 4 TiB".to_owned();
                PointRun::Failed { message, seconds, torch }
            }
            Ending::Done => {
                let size = self.points[index].size.unwrap_or_default();
                PointRun::Measured { sample: Box::new(Sample::of(size, trial)), seconds, torch }
            }
        };
        self.runs.insert(index, run);
        self.split();
    }

    /// Replaces a span with known ends and middle by two halves, or by nothing where the middle was foretold.
    fn split(&mut self) {
        let mut open = Vec::new();
        let mut waiting = std::mem::take(&mut self.open);
        while let Some(span) = waiting.pop() {
            let Some(middle) = span.middle() else { continue };
            if ![span.low, middle, span.high].iter().all(|index| self.runs.contains_key(index)) {
                open.push(span);
            } else if !self.is_foretold(span, middle) {
                waiting.push(OpenSpan { low: span.low, high: middle });
                waiting.push(OpenSpan { low: middle, high: span.high });
            }
        }
        open.sort_by_key(|span| span.low);
        self.open = open;
    }

    /// True if a replay of the ends foretells the middle, and every point between has a replay from the nearest runs.
    fn is_foretold(&self, span: OpenSpan, middle: usize) -> bool {
        let seen = self.sample(middle);
        let foretold = self.replay(span.low, span.high, middle);
        let is_same = foretold.zip(seen).is_some_and(|(foretold, seen)| foretold.usage == seen.usage);
        is_same
            && (span.low + 1..span.high).filter(|index| *index != middle).all(|index| self.replay_near(index).is_some())
    }

    fn sample(&self, index: usize) -> Option<&Sample> {
        match self.runs.get(&index)? {
            PointRun::Measured { sample, .. } => Some(sample),
            PointRun::Failed { .. } => None,
        }
    }

    fn replay(&self, low: usize, high: usize, at: usize) -> Option<Sample> {
        self.sample(low)?.foretell(self.sample(high)?, self.points[at].size?)
    }

    /// Replays a point from the nearest runs on both sides.
    fn replay_near(&self, index: usize) -> Option<Sample> {
        let (low, _) = self.runs.range(..index).next_back()?;
        let (high, _) = self.runs.range(index + 1..).next()?;
        self.replay(*low, *high, index)
    }

    /// Returns the new answers: of runs at once, of replays after the last run of the line.
    pub fn take_answers(&mut self) -> Vec<(LinePoint, PointAnswer)> {
        let is_over = self.next().is_empty();
        let mut answers = Vec::new();
        for index in (0..self.points.len()).filter(|index| !self.answered[*index]).collect::<Vec<_>>() {
            let answer = match self.runs.get(&index) {
                Some(PointRun::Measured { sample, seconds, torch }) => {
                    Some(PointAnswer::of(sample, HowKnown::Run, *seconds, torch.clone()))
                }
                Some(PointRun::Failed { message, seconds, torch }) => {
                    Some(PointAnswer::failed(message.clone(), *seconds, torch.clone()))
                }
                None if is_over => self.replayed(index),
                None => None,
            };
            if let Some(answer) = answer {
                self.answered[index] = true;
                answers.push((self.points[index].clone(), answer));
            }
        }
        answers
    }

    fn replayed(&self, index: usize) -> Option<PointAnswer> {
        let torch = self.runs.values().find_map(|run| match run {
            PointRun::Measured { torch, .. } => torch.clone(),
            PointRun::Failed { .. } => None,
        });
        Some(PointAnswer::of(&self.replay_near(index)?, HowKnown::Replayed, 0.0, torch))
    }
}
