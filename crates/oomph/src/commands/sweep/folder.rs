//! The folder of a sweep: its points, one JSON object a line, written as they become known, so that a stopped sweep goes on.
//!
//! `sweep.json` names the sweep: its program, grid, GPUs and sources. Another sweep, or another call of the same at work, is refused; a sweep
//! whose sources have changed begins anew.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use diagnose::Trial;
use drive::Program;
use drive::dry_run::run_cache::name_of;
use drive::records::{self, KnownFile};
use report::sweep::SweepPoint;
use run::cache::hash;
use serde::{Deserialize, Serialize};

use crate::args::Sweep;
use crate::error::{Error, SweepError};

/// Raised when the meaning of the files changes.
const FORMAT: u32 = 1;
const IDENTITY: &str = "sweep.json";
/// The points, one JSON object a line.
const POINTS: &str = "points.jsonl";
const LOCK: &str = "lock";

/// All that must be equal for a later call to go on.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SweepIdentity {
    format: u32,
    /// A hash of the program, the grid and the GPUs.
    key: String,
    torch: Option<String>,
    sources: Vec<KnownFile>,
}

/// An open folder, held by this process.
pub(super) struct SweepFolder {
    path: PathBuf,
    points: Vec<SweepPoint>,
    known: BTreeSet<(u64, String)>,
    file: File,
    notes: Vec<String>,
    /// Held until the end.
    _lock: File,
}

impl SweepFolder {
    /// Opens the folder of a sweep, or makes it, with the points that are known.
    pub(super) fn open(arguments: &Sweep, program: &Program, unchanged: &Trial) -> Result<SweepFolder, Error> {
        let key = key(arguments, program);
        let path = match &arguments.out {
            Some(path) => path.clone(),
            None => records::folder_of("sweeps", &key).map_err(|source| unwritable(Path::new("sweeps"), source))?,
        };
        fs::create_dir_all(&path).map_err(|source| unwritable(&path, source))?;
        let lock = lock(&path)?;
        let sources = unchanged.sources.iter().filter_map(|file| Some((file.clone(), records::digest(file)?)));
        let identity =
            SweepIdentity { format: FORMAT, key, torch: unchanged.torch.clone(), sources: sources.collect() };
        let (points, notes) = take_known(&path, &identity, arguments)?;
        let known = points.iter().map(|point| (point.number, point.gpu.clone())).collect();
        let file = rewrite(&path, &identity, &points)?;
        Ok(SweepFolder { path, points, known, file, notes, _lock: lock })
    }

    /// True if the configuration is known on the GPU.
    pub(super) fn has(&self, number: u64, gpu: &str) -> bool {
        self.known.contains(&(number, gpu.to_owned()))
    }

    /// Adds points.
    pub(super) fn add(&mut self, points: Vec<SweepPoint>) -> Result<(), Error> {
        let new: Vec<SweepPoint> =
            points.into_iter().filter(|point| self.known.insert((point.number, point.gpu.clone()))).collect();
        let mut text = String::new();
        for point in &new {
            text += &serde_json::to_string(point)?;
            text.push('\n');
        }
        self.points.extend(new);
        self.file.write_all(text.as_bytes()).map_err(|source| unwritable(&self.path.join(POINTS), source))
    }

    /// All points, in the order of the configurations.
    pub(super) fn points(&self) -> Vec<SweepPoint> {
        let mut points = self.points.clone();
        points.sort_by(|one, other| (one.number, &one.gpu).cmp(&(other.number, &other.gpu)));
        points
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Remarks for the report.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Reads the points of an earlier call of the same sweep; none where its sources have changed.
fn take_known(
    path: &Path,
    identity: &SweepIdentity,
    arguments: &Sweep,
) -> Result<(Vec<SweepPoint>, Vec<String>), Error> {
    let file = path.join(IDENTITY);
    let Ok(text) = fs::read(&file) else { return Ok((Vec::new(), Vec::new())) };
    let before: SweepIdentity =
        serde_json::from_slice(&text).map_err(|error| Error::Damaged { path: file, problem: error.to_string() })?;
    if before.key != identity.key && arguments.out.is_some() {
        return Err(Error::from(SweepError::OtherSweep(path.to_owned())));
    }
    if arguments.no_cache {
        return Ok((Vec::new(), Vec::new()));
    }
    if before != *identity {
        let why = "the program's files or PyTorch changed since the last call: every configuration was asked again";
        return Ok((Vec::new(), vec![why.to_owned()]));
    }
    let text = fs::read_to_string(path.join(POINTS)).unwrap_or_default();
    // The last line of a killed call may be cut.
    Ok((text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(), Vec::new()))
}

/// Writes the identity and the known points, and returns the file for more.
fn rewrite(path: &Path, identity: &SweepIdentity, points: &[SweepPoint]) -> Result<File, Error> {
    let mut text = String::new();
    for point in points {
        text += &serde_json::to_string(point)?;
        text.push('\n');
    }
    for (name, text) in [(IDENTITY, serde_json::to_string(identity)?), (POINTS, text)] {
        let file = path.join(name);
        crate::effects::publish::write_whole(&file, &text)?;
    }
    let file = path.join(POINTS);
    OpenOptions::new().append(true).open(&file).map_err(|source| unwritable(&file, source))
}

fn lock(path: &Path) -> Result<File, Error> {
    let name = path.join(LOCK);
    let file = File::create(&name).map_err(|source| unwritable(&name, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::from(SweepError::Busy(path.to_owned()))),
        Err(TryLockError::Error(source)) => Err(unwritable(&name, source)),
    }
}

fn unwritable(path: &Path, source: std::io::Error) -> Error {
    Error::Unwritable { path: path.to_owned(), source }
}

/// The name of a sweep. The engine and the number of jobs do not count.
fn key(arguments: &Sweep, program: &Program) -> String {
    let Sweep { gpu, vram, others, grid, configs, run, run_all, .. } = arguments;
    let file = configs.as_deref().and_then(records::digest);
    hash(&(FORMAT, name_of(program), format!("{gpu:?} {vram:?} {others:?} {grid:?} {file:?} {run:?} {run_all}")))
}
