//! `oomph watch`: an answer at each save. The children of one fork server read the sources anew; the packages stay imported.

mod change;
mod saves;

use std::time::{Instant, SystemTime};

use base::{Words, interrupt};
use diagnose::{LinePoint, SweepGpu, SweepLine, Trial, Variant};
use drive::Program;
use drive::dry_run::trial_runner::TrialRunner;
use report::sweep::{PointVerdict, SweepPoint};
use trace::Bytes;

use self::change::{LineTexts, list_changes};
use self::saves::WatchedFiles;
use crate::args::WatchSaves;
use crate::effects::search_progress::SearchProgress;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{gpu_choice, output, program};

/// The answer to a save.
struct SaveAnswer {
    point: SweepPoint,
    texts: LineTexts,
    seconds: f64,
}

/// Watches and prints. `after_dashes`: the program was written after a `--`.
pub(crate) fn run(arguments: &WatchSaves, after_dashes: bool) -> Result<ExitStatus, Error> {
    let words = Words::new(arguments.program.clone(), after_dashes);
    let choice = gpu_choice::choose(&arguments.gpu)?;
    let mut program = program::prepare((&arguments.gpu, &choice), None, &arguments.run, &words)?;
    program.set_others(arguments.others.others.unwrap_or_default())?;
    program.is_quiet = true;
    let others = arguments.others.others.unwrap_or_default();
    interrupt::begin_examination();
    let mut runner = TrialRunner::new(&program, 1, false, false, Variant::need(Vec::new()))?;
    let mut files = WatchedFiles::default();
    let mut last: Option<SaveAnswer> = None;
    let mut verdict = PointVerdict::Failed;
    let mut what = "first look".to_owned();
    for number in 0_u64.. {
        let began = SystemTime::now();
        let Some((answer, trial)) = ask(&mut runner, &program, others)? else { break };
        files.follow(&trial.sources, words.script(), began);
        show(arguments, &what, &answer, last.as_ref())?;
        verdict = answer.point.verdict;
        if verdict != PointVerdict::Failed {
            last = Some(answer);
        }
        if arguments.saves.is_some_and(|most| number >= most) {
            break;
        }
        let Some(saved) = files.wait() else { break };
        what = format!("{} saved", saved.display());
    }
    Ok(if verdict.is_good() { ExitStatus::Fits } else { ExitStatus::Found })
}

/// Runs the program; `None` at Ctrl-C.
fn ask(runner: &mut TrialRunner, program: &Program, others: Bytes) -> Result<Option<(SaveAnswer, Trial)>, Error> {
    let started = Instant::now();
    let mut found = None;
    let variant = Variant { recorded: true, ..Variant::need(Vec::new()) };
    // The first answer takes the imports, which are shown.
    let progress = SearchProgress::of_runs();
    let goes_on = runner.run(&[variant], &mut |_, trial| found = Some(trial))?;
    drop(progress);
    let Some(trial) = found.filter(|_| goes_on) else { return Ok(None) };
    let mut line = SweepLine::new(vec![LinePoint { number: 0, size: None, changes: Vec::new() }]);
    line.learn(0, &trial);
    let profile = &program.profile;
    let gpu =
        SweepGpu { name: profile.name.clone(), capacity: profile.total_bytes - others, context: profile.context_bytes };
    let answers = line.take_answers();
    let point = answers.first().map(|(_, answer)| answer.judge(&gpu, profile.context_bytes)).unwrap_or_default();
    let texts = LineTexts::read(&trial.line_bytes);
    Ok(Some((SaveAnswer { point, texts, seconds: started.elapsed().as_secs_f64() }, trial)))
}

fn show(arguments: &WatchSaves, what: &str, answer: &SaveAnswer, last: Option<&SaveAnswer>) -> Result<(), Error> {
    let comparable = last.filter(|_| answer.point.verdict != PointVerdict::Failed);
    let changes = comparable.map(|last| list_changes(&last.texts, &answer.texts)).unwrap_or_default();
    let before = last.and_then(|last| last.point.need_bytes);
    if arguments.json {
        return output::verbatim(&change::write_json(what, answer, before, &changes)?);
    }
    output::answer(&change::write_text(what, answer, before, &changes))
}
