//! The configurations of a sweep, and the lines that they fall into (Note [Lines] in `crates/diagnose/src/sweep.rs`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use diagnose::{LinePoint, Setter};
use options::Grid;
use report::sweep::{SweepAxis, SweepPoint};
use report::words::quote_all;
use run::Conditions;
use serde_json::{Map, Value};

use crate::args::Sweep;
use crate::error::{Error, SweepError};

/// The usual time of a dry run, for a first word on a large grid.
const USUAL_SECONDS: u64 = 2;

/// The configurations, and how each is made.
pub(super) struct SweepPlan {
    names: Vec<String>,
    setters: Vec<Setter>,
    /// The values of each configuration.
    rows: Vec<Vec<Value>>,
    /// The index of the name along which lines run; `None` if every configuration runs.
    along: Option<usize>,
    command: Vec<OsString>,
}

/// Reads the grid or the file of configurations, and counts before anything runs.
pub(super) fn read_grid(arguments: &Sweep) -> Result<Grid, Error> {
    let grid = match &arguments.configs {
        Some(path) => Grid::of_list(&read_configs(path)?)
            .map_err(|problem| SweepError::Configs { path: path.clone(), problem: problem.to_string() })?,
        None => Grid::parse(&arguments.grid).map_err(SweepError::Grid)?,
    };
    match grid.count() {
        Some(count) if count <= arguments.max_points => Ok(grid),
        count => Err(Error::from(SweepError::TooMany {
            count,
            most: arguments.max_points,
            hours: count.unwrap_or(u64::MAX) / 3600 * USUAL_SECONDS,
        })),
    }
}

/// Reads a JSON list, or an object on each line.
fn read_configs(path: &Path) -> Result<Vec<Value>, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    if text.trim_start().starts_with('[') {
        let list = serde_json::from_str(&text);
        return list
            .map_err(|error| Error::from(SweepError::Configs { path: path.to_owned(), problem: error.to_string() }));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            let problem = format!("line {}: {error}", index + 1);
            Error::from(SweepError::Configs { path: path.to_owned(), problem })
        })
    };
    lines.map(parse).collect()
}

impl SweepPlan {
    /// The plan of a grid whose names have these setters.
    pub(super) fn new(grid: &Grid, setters: Vec<Setter>, command: &[OsString]) -> Result<SweepPlan, Error> {
        let names: Vec<String> = grid.names().into_iter().map(str::to_owned).collect();
        let rows = grid.points();
        check_values(&setters, &rows)?;
        let along = find_line_axis(&setters, &rows);
        Ok(SweepPlan { names, setters, rows, along, command: command.to_vec() })
    }

    /// The number of configurations.
    pub(super) fn count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The names with their settings and values.
    pub(super) fn axes(&self) -> Vec<SweepAxis> {
        let values = |index: usize| {
            let mut values: Vec<Value> = Vec::new();
            for row in &self.rows {
                if !values.contains(&row[index]) {
                    values.push(row[index].clone());
                }
            }
            values
        };
        let named = self.names.iter().zip(&self.setters).enumerate();
        named
            .map(|(index, (name, setter))| SweepAxis {
                name: name.clone(),
                key: setter.key().to_owned(),
                values: values(index),
            })
            .collect()
    }

    /// The configurations that `wants`, as lines. `runs_all`: no configuration is to be replayed.
    pub(super) fn lines(&self, runs_all: bool, wants: impl Fn(u64) -> bool) -> Vec<Vec<LinePoint>> {
        let along = self.along.filter(|_| !runs_all);
        let mut lines: BTreeMap<String, Vec<LinePoint>> = BTreeMap::new();
        for (number, row) in (0_u64..).zip(&self.rows) {
            let rest: Vec<&Value> =
                row.iter().enumerate().filter(|(index, _)| Some(*index) != along).map(|(_, v)| v).collect();
            let size = along.and_then(|index| row[index].as_u64());
            let point = LinePoint { number, size, changes: Setter::changes(&self.setters, row) };
            // Without an axis every configuration is a line of its own, so that tasks are small.
            let key = serde_json::to_string(&rest).unwrap_or_default();
            lines.entry(key).or_default().push(point);
        }
        let mut lines: Vec<Vec<LinePoint>> =
            lines.into_values().filter(|line| line.iter().any(|point| wants(point.number))).collect();
        lines.sort_by_key(|line| line.first().map(|point| point.number));
        lines
    }

    /// Adds the values and the command to a point that a worker has answered.
    pub(super) fn complete(&self, point: SweepPoint) -> SweepPoint {
        let row =
            usize::try_from(point.number).ok().and_then(|index| self.rows.get(index)).cloned().unwrap_or_default();
        let conditions = Conditions::on_device(Setter::changes(&self.setters, &row));
        let words: Vec<String> =
            conditions.command(&self.command).iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let settings = conditions.own_settings();
        let variables: Vec<String> =
            options::list_variables(&settings).map(|(name, value)| format!("{name}={value} ")).collect();
        let params: Map<String, Value> = self.names.iter().cloned().zip(row).collect();
        let oomph = env!("CARGO_PKG_VERSION").to_owned();
        SweepPoint { params, command: variables.concat() + &quote_all(&words), oomph, ..point }
    }
}

/// The batch, else the number with the most values: memory is likely to be a line in it.
fn find_line_axis(setters: &[Setter], rows: &[Vec<Value>]) -> Option<usize> {
    let distinct = |index: usize| {
        let mut values: Vec<u64> = rows.iter().map(|row| row[index].as_u64()).collect::<Option<_>>()?;
        values.sort_unstable();
        values.dedup();
        Some(values.len())
    };
    let numbers = (0..setters.len()).filter_map(|index| distinct(index).map(|count| (index, count)));
    let long = numbers.filter(|(_, count)| *count > 3);
    long.max_by_key(|(index, count)| (setters[*index].is_batch(), *count)).map(|(index, _)| index)
}

/// Checks the values of every configuration.
fn check_values(setters: &[Setter], rows: &[Vec<Value>]) -> Result<(), Error> {
    for row in rows {
        for (setter, value) in setters.iter().zip(row) {
            setter.check(value).map_err(SweepError::from)?;
        }
    }
    Ok(())
}
