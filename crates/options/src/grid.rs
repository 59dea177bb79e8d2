//! A grid of configurations in the words of `--grid`: axes with values, and a point for each combination.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::values::of_text;

/// The most values of one range: a longer one is a slip.
const MOST_VALUES: usize = 100_000;

/// A setting and its values in a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The name, as the user wrote it.
    pub name: String,
    /// The values, in the user's order.
    pub values: Vec<Value>,
}

/// The configurations of a sweep: all combinations of the axes' values, or a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Grid {
    /// Every value of an axis with every value of the other axes; the last axis varies first.
    Axes(Vec<Axis>),
    /// The configurations of a file, all with the same names.
    Listed {
        /// The names.
        names: Vec<String>,
        /// The values of each configuration, in the order of the names.
        rows: Vec<Vec<Value>>,
    },
}

/// A slip in the words of a grid, or in a file of configurations.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GridError {
    /// Words without `NAME=`.
    #[error("`{0}` has no name before its values; expected `NAME=VALUE,VALUE` or `NAME=8..128x2`")]
    NoName(String),
    /// A name without a value.
    #[error("`{0}` has no value; expected `{0}=VALUE,VALUE`")]
    NoValue(String),
    /// A name twice.
    #[error("`{0}` is there twice")]
    Twice(String),
    /// A range without values, or without an end.
    #[error(
        "`{0}` is no range; expected whole numbers `8..128x2` (times 2), `8..128+8` (plus 8) or `8..16`, the smaller first"
    )]
    NoRange(String),
    /// A range with too many values.
    #[error("`{0}` has more than {MOST_VALUES} values")]
    TooLong(String),
    /// An entry of a file is no configuration.
    #[error("configuration {number} is {found}, expected an object of names and values")]
    NoObject {
        /// The number, from 1.
        number: usize,
        /// The kind of the value.
        found: &'static str,
    },
    /// A configuration with other names than the first.
    #[error("configuration {number} has other names than the first: `{found}`, expected `{expected}`")]
    OtherNames {
        /// The number, from 1.
        number: usize,
        /// The names.
        found: String,
        /// The names of the first.
        expected: String,
    },
    /// A file without a configuration.
    #[error("there is no configuration")]
    Empty,
}

impl Grid {
    /// Reads grids such as `batch=8..128x2,dtype=bf16,fp32`: a word with `=` begins an axis.
    pub fn parse(texts: &[String]) -> Result<Grid, GridError> {
        let mut axes: Vec<Axis> = Vec::new();
        for text in texts {
            let mut is_first = true;
            for word in text.split(',').map(str::trim) {
                let value = match word.split_once('=').filter(|(name, _)| !name.is_empty()) {
                    Some((name, value)) => {
                        add_axis(&mut axes, name)?;
                        value
                    }
                    // `--NAME=VALUE` splits at the sign; a first word without a sign has no name.
                    None if is_first => return Err(GridError::NoName(word.to_owned())),
                    None => word,
                };
                is_first = false;
                if let Some(axis) = axes.last_mut() {
                    add_values(axis, value)?;
                }
            }
        }
        Ok(Grid::Axes(axes))
    }

    /// Reads a list of objects, one for each configuration.
    pub fn of_list(list: &[Value]) -> Result<Grid, GridError> {
        let mut rows = Vec::with_capacity(list.len());
        let first = object(1, list.first().ok_or(GridError::Empty)?)?;
        let names: Vec<String> = first.keys().cloned().collect();
        for (index, value) in list.iter().enumerate() {
            let found = object(index + 1, value)?;
            let row: Option<Vec<Value>> = names.iter().map(|name| found.get(name).cloned()).collect();
            rows.push(row.filter(|_| found.len() == names.len()).ok_or_else(|| GridError::OtherNames {
                number: index + 1,
                found: found.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
                expected: names.join(", "),
            })?);
        }
        Ok(Grid::Listed { names, rows })
    }

    /// The names of the settings.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Grid::Axes(axes) => axes.iter().map(|axis| axis.name.as_str()).collect(),
            Grid::Listed { names, .. } => names.iter().map(String::as_str).collect(),
        }
    }

    /// The number of configurations; `None` beyond 2⁶⁴.
    pub fn count(&self) -> Option<u64> {
        match self {
            Grid::Axes(axes) => axes.iter().try_fold(1_u64, |all, axis| all.checked_mul(axis.values.len() as u64)),
            Grid::Listed { rows, .. } => Some(rows.len() as u64),
        }
    }

    /// The values of every configuration, in the order of the names.
    pub fn points(&self) -> Vec<Vec<Value>> {
        match self {
            Grid::Axes(axes) => axes.iter().fold(vec![Vec::new()], |points, axis| {
                let longer =
                    |point: &Vec<Value>, value: &Value| [point.as_slice(), std::slice::from_ref(value)].concat();
                points.iter().flat_map(|point| axis.values.iter().map(move |value| longer(point, value))).collect()
            }),
            Grid::Listed { rows, .. } => rows.clone(),
        }
    }
}

fn object(number: usize, value: &Value) -> Result<&Map<String, Value>, GridError> {
    let found = match value {
        Value::Object(object) => return Ok(object),
        Value::Array(_) => "a list",
        Value::String(_) => "a text",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a truth value",
        Value::Null => "null",
    };
    Err(GridError::NoObject { number, found })
}

fn add_axis(axes: &mut Vec<Axis>, name: &str) -> Result<(), GridError> {
    if axes.iter().any(|axis| axis.name == name) {
        return Err(GridError::Twice(name.to_owned()));
    }
    axes.push(Axis { name: name.to_owned(), values: Vec::new() });
    Ok(())
}

fn add_values(axis: &mut Axis, text: &str) -> Result<(), GridError> {
    if text.is_empty() {
        return Err(GridError::NoValue(axis.name.clone()));
    }
    let found = match read_range(text) {
        Some(range) => range?.into_iter().map(Value::from).collect(),
        None => vec![of_text(text)],
    };
    let mut seen: BTreeSet<String> = axis.values.iter().map(Value::to_string).collect();
    axis.values.extend(found.into_iter().filter(|value| seen.insert(value.to_string())));
    Ok(())
}

/// Reads `8..128x2`, `8..128+8` or `8..16`; `None` for a text that is no range.
fn read_range(text: &str) -> Option<Result<Vec<u64>, GridError>> {
    let (first, rest) = text.split_once("..")?;
    // A path such as `../data` is a value.
    let first: u64 = first.parse().ok()?;
    let wrong = || Err(GridError::NoRange(text.to_owned()));
    let (last, step): (&str, Option<RangeStep>) = match rest.split_once(['x', '+']) {
        Some((last, by)) => (
            last,
            by.parse().ok().map(|by| if rest.contains('x') { RangeStep::Times(by) } else { RangeStep::Plus(by) }),
        ),
        None => (rest, Some(RangeStep::Plus(1))),
    };
    let (Ok(last), Some(step)) = (last.parse::<u64>(), step.filter(|step| step.moves_on(first))) else {
        return Some(wrong());
    };
    if last < first {
        return Some(wrong());
    }
    let values = std::iter::successors(Some(first), |value| step.next(*value)).take_while(|value| *value <= last);
    let values: Vec<u64> = values.take(MOST_VALUES + 1).collect();
    Some(if values.len() > MOST_VALUES { Err(GridError::TooLong(text.to_owned())) } else { Ok(values) })
}

/// The way from a value of a range to the next.
#[derive(Clone, Copy)]
enum RangeStep {
    Times(u64),
    Plus(u64),
}

impl RangeStep {
    fn moves_on(self, first: u64) -> bool {
        match self {
            RangeStep::Times(by) => by > 1 && first > 0,
            RangeStep::Plus(by) => by > 0,
        }
    }

    fn next(self, value: u64) -> Option<u64> {
        match self {
            RangeStep::Times(by) => value.checked_mul(by),
            RangeStep::Plus(by) => value.checked_add(by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[&str]) -> Result<String, GridError> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let Grid::Axes(axes) = Grid::parse(&texts)? else { panic!("words are axes") };
        let shown = axes.iter().map(|axis| {
            let values: Vec<String> = axis.values.iter().map(Value::to_string).collect();
            format!("{}=[{}]", axis.name, values.join(" "))
        });
        Ok(shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn words_become_axes() {
        let check = |texts: &[&str], expected: &str| assert_eq!(parse(texts), Ok(expected.to_owned()), "{texts:?}");
        check(&["batch=8..128x2"], "batch=[8 16 32 64 128]");
        check(
            &["batch=8..24+8,seq=512,1024,dtype=bf16,fp32"],
            r#"batch=[8 16 24] seq=[512 1024] dtype=["bf16" "fp32"]"#,
        );
        check(&["n=3..5", "amp=true,false"], "n=[3 4 5] amp=[true false]");
        check(&["--batch=8, 16"], "--batch=[8 16]");
        check(&["c.yaml#train.batch=4,8", "$BATCH=1"], "c.yaml#train.batch=[4 8] $BATCH=[1]");
        check(&["data=../a,../b", "lr=0.1,1e-3"], r#"data=["../a" "../b"] lr=[0.1 0.001]"#);
        check(&["b=8,8..16x2"], "b=[8 16]");
    }

    #[test]
    fn a_slip_is_named() {
        let check = |texts: &[&str], expected: &str| {
            assert_eq!(
                parse(texts).map_err(|error| error.to_string()[..expected.len()].to_owned()),
                Err(expected.to_owned())
            );
        };
        check(&["8,16"], "`8` has no name before its values");
        check(&[""], "`` has no name before its values");
        check(&["batch="], "`batch` has no value");
        check(&["batch=8,,16"], "`batch` has no value");
        check(&["batch=8", "batch=9"], "`batch` is there twice");
        check(&["batch=128..8"], "`128..8` is no range");
        check(&["batch=8..128x1"], "`8..128x1` is no range");
        check(&["batch=0..8x2"], "`0..8x2` is no range");
        check(&["batch=8..x2"], "`8..x2` is no range");
        check(&["batch=8..9999999"], "`8..9999999` has more than 100000 values");
    }

    #[test]
    fn every_combination_is_a_point() {
        let grid = Grid::parse(&["a=1,2".to_owned(), "b=x,y".to_owned()]).expect("a grid");
        let shown: Vec<String> = grid.points().iter().map(|point| Value::from(point.clone()).to_string()).collect();
        assert_eq!(shown, [r#"[1,"x"]"#, r#"[1,"y"]"#, r#"[2,"x"]"#, r#"[2,"y"]"#]);
        assert_eq!(grid.count(), Some(4));
    }

    #[test]
    fn a_list_of_configurations_has_one_set_of_names() {
        let check = |text: &str, expected: Result<usize, &str>| {
            let list: Vec<Value> = serde_json::from_str(text).expect("a list");
            let found = Grid::of_list(&list).map(|grid| grid.points().len()).map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned), "{text}");
        };
        check(r#"[{"a": 1, "b": 2}, {"b": 3, "a": 4}]"#, Ok(2));
        check("[]", Err("there is no configuration"));
        check("[1]", Err("configuration 1 is a number, expected an object of names and values"));
        check(
            r#"[{"a": 1}, {"a": 1, "b": 2}]"#,
            Err("configuration 2 has other names than the first: `a, b`, expected `a`"),
        );
    }
}
