//! The tasks of a sweep on Ray or Slurm.

use std::collections::BTreeMap;
use std::fs;

use base::Words;
use drive::engine::{self, EngineEvent, EngineRequest};
use report::sweep::SweepPoint;
use report::words::count;

use super::SweepCounts;
use super::task::SweepTask;
use crate::args::Sweep;
use crate::error::{Error, SweepError};
use crate::output;

/// Takes the points of a configuration, one for each GPU, and counts.
pub(super) type TakeCounted<'a> = &'a mut dyn FnMut(Vec<SweepPoint>, &mut SweepCounts) -> Result<(), Error>;

/// Has an engine do the tasks, and passes on the points of each.
pub(super) fn run(
    arguments: &Sweep,
    words: &Words,
    folder: &std::path::Path,
    tasks: &[SweepTask],
    counts: &mut SweepCounts,
    take: TakeCounted,
) -> Result<(), Error> {
    let name = if arguments.slurm { "slurm_engine" } else { "ray_engine" };
    let request = request(arguments, words, folder, tasks)?;
    let mut failure = None;
    let mut lost: Vec<String> = Vec::new();
    let ended = engine::run(name, arguments.run.python.as_deref(), request, &mut |event| match event {
        EngineEvent::Started { place } => {
            output::say(&format!("oomph: {} on {place}", count(tasks.len(), "task", "tasks")));
        }
        EngineEvent::Done { lines, .. } => match group(&lines) {
            Ok(grouped) => {
                for points in grouped {
                    failure = failure.take().or(take(points, counts).err());
                }
            }
            Err(why) => lost.push(why),
        },
        EngineEvent::Lost { why, .. } => lost.push(why),
        EngineEvent::End => {}
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    if let Some(why) = ended {
        return Err(Error::from(SweepError::Engine(why)));
    }
    if let Some(first) = lost.first() {
        counts.notes.push(format!("{} lost: {first}", count(lost.len(), "task was", "tasks were")));
    }
    Ok(())
}

/// The points of each configuration, one for each GPU; an error for a line that is no point, as of another version of oomph.
fn group(lines: &[String]) -> Result<Vec<Vec<SweepPoint>>, String> {
    let read = |line: &String| {
        serde_json::from_str(line).map_err(|error| format!("a worker answered `{line}`, expected a point: {error}"))
    };
    let mut by_number: BTreeMap<u64, Vec<SweepPoint>> = BTreeMap::new();
    for point in lines.iter().map(read).collect::<Result<Vec<SweepPoint>, String>>()? {
        by_number.entry(point.number).or_default().push(point);
    }
    Ok(by_number.into_values().collect())
}

fn request(
    arguments: &Sweep,
    words: &Words,
    folder: &std::path::Path,
    tasks: &[SweepTask],
) -> Result<EngineRequest, Error> {
    let mut argv = vec![std::env::current_exe().map_err(Error::Output)?.to_string_lossy().into_owned()];
    argv.extend(["sweep", "--worker", "--jobs", "1"].map(str::to_owned));
    argv.extend(arguments.run.to_words());
    if let Some(others) = arguments.others.others {
        argv.extend(["--others".to_owned(), format!("{}B", others.0)]);
    }
    argv.extend(words.to_list());
    let folder = fs::canonicalize(folder).map_err(|source| Error::Unreadable { path: folder.to_owned(), source })?;
    Ok(EngineRequest {
        argv,
        cwd: std::env::current_dir().map_err(Error::Output)?,
        env: BTreeMap::new(),
        tasks: tasks.iter().map(serde_json::to_string).collect::<Result<_, _>>()?,
        folder,
        address: arguments.ray.clone().unwrap_or_default(),
        host_bytes: arguments.host_memory.0,
        cpus: 1,
        options: arguments.sbatch.clone(),
    })
}
