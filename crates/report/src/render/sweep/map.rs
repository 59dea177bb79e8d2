//! Maps of a sweep: the need of each configuration by two of its settings, and where the border of each GPU runs.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{by_capacity, short_name};
use crate::sweep::{PointVerdict, SweepAxis, SweepPoint, SweepReport};

/// The most rows and columns of a map; more values are thinned out.
const MOST_ROWS: usize = 20;
const MOST_COLUMNS: usize = 8;
/// The most maps: one for each combination of the other settings.
const MOST_MAPS: usize = 4;
/// The width of a cell and of the names of rows.
const CELL: usize = 8;
const NAME: usize = 14;
/// The most of a long name that is shown.
const MOST_NAME: usize = 46;

/// The two settings of a map.
struct MapFrame<'a> {
    rows: &'a SweepAxis,
    columns: Option<&'a SweepAxis>,
    others: Vec<&'a SweepAxis>,
}

/// Returns the lines of all maps; empty for a list of configurations without axes.
pub(in super::super) fn list_maps(report: &SweepReport) -> Vec<String> {
    let Some(frame) = find_frame(report) else { return Vec::new() };
    let facets = list_facets(&frame.others);
    let mut lines = Vec::new();
    for facet in facets.iter().take(MOST_MAPS) {
        lines.extend(draw(report, &frame, facet));
    }
    if facets.len() > MOST_MAPS {
        lines.push(String::new());
        lines.push(format!(
            "{} more maps are not shown; points.jsonl has every configuration",
            facets.len() - MOST_MAPS
        ));
    }
    lines
}

/// The numbers with the most values are the rows, the next setting the columns.
fn find_frame(report: &SweepReport) -> Option<MapFrame<'_>> {
    let mut axes: Vec<&SweepAxis> = report.axes.iter().filter(|axis| axis.values.len() > 1).collect();
    let is_number = |axis: &SweepAxis| axis.values.iter().all(Value::is_number);
    axes.sort_by_key(|axis| (!is_number(axis), usize::MAX - axis.values.len()));
    let mut axes = axes.into_iter();
    let rows = axes.next()?;
    Some(MapFrame { rows, columns: axes.next(), others: axes.collect() })
}

/// All combinations of the other settings.
fn list_facets<'a>(others: &[&'a SweepAxis]) -> Vec<Vec<(&'a str, &'a Value)>> {
    others.iter().fold(vec![Vec::new()], |facets, axis| {
        let longer = |facet: &Vec<(&'a str, &'a Value)>, value: &'a Value| {
            [facet.as_slice(), &[(axis.name.as_str(), value)]].concat()
        };
        facets.iter().flat_map(|facet| axis.values.iter().map(move |value| longer(facet, value))).collect()
    })
}

fn draw(report: &SweepReport, frame: &MapFrame, facet: &[(&str, &Value)]) -> Vec<String> {
    let by_size = by_capacity(report);
    let Some(first) = by_size.first() else { return Vec::new() };
    let inside = |point: &&SweepPoint| facet.iter().all(|(name, value)| point.params.get(*name) == Some(value));
    let points: Vec<&SweepPoint> = report.points.iter().filter(inside).collect();
    let fixed: Vec<String> = facet.iter().map(|(name, value)| format!("{name}={}", options::to_text(value))).collect();
    let at = if fixed.is_empty() { String::new() } else { format!("{}: ", fixed.join(" ")) };
    let on = format!("{} ({})", short_name(&first.name), first.capacity_bytes);
    let mut lines = vec![
        String::new(),
        format!("{at}the need in GiB"),
        format!("# does not fit the {on},"),
        "~ fits only because PyTorch releases its cache, ! the program fails".to_owned(),
    ];
    let columns = thin(frame.columns.map(|axis| axis.values.as_slice()).unwrap_or_default(), MOST_COLUMNS);
    let width = find_width(&frame.rows.values);
    lines.extend(explain_columns(&columns));
    lines.push(head(frame.rows, frame.columns, &columns, width));
    let by_place: BTreeMap<(String, String), &SweepPoint> =
        points.iter().filter(|point| point.gpu == first.name).map(|point| (place(point, frame), *point)).collect();
    for row in thin(&frame.rows.values, MOST_ROWS) {
        let cells = columns_or_one(&columns).map(|column| cell(by_place.get(&(row.to_string(), column)).copied()));
        let name = shorten(&options::to_text(row), width - 1);
        lines.push(format!("  {name:<width$}{}", cells.collect::<String>()));
    }
    if by_size.len() > 1 && frame.rows.values.iter().all(Value::is_number) {
        lines.extend(borders(report, frame, &points, &columns));
    }
    lines
}

fn place(point: &SweepPoint, frame: &MapFrame) -> (String, String) {
    let text = |axis: &SweepAxis| point.params.get(&axis.name).map(Value::to_string).unwrap_or_default();
    (text(frame.rows), frame.columns.map(text).unwrap_or_default())
}

fn columns_or_one<'a>(columns: &'a [&Value]) -> Box<dyn Iterator<Item = String> + 'a> {
    if columns.is_empty() {
        Box::new(std::iter::once(String::new()))
    } else {
        Box::new(columns.iter().map(ToString::to_string))
    }
}

fn head(rows: &SweepAxis, columns: Option<&SweepAxis>, values: &[&Value], width: usize) -> String {
    let corner = columns.map_or_else(|| rows.name.clone(), |columns| format!("{} \\ {}", rows.name, columns.name));
    let values = write_names(values);
    format!("  {:<width$}{values}", shorten(&corner, width - 1))
}

/// The width of the names of rows.
fn find_width(values: &[Value]) -> usize {
    let longest = values.iter().map(|value| options::to_text(value).chars().count()).max();
    longest.map_or(NAME, |longest| (longest + 1).clamp(NAME, MOST_NAME))
}

/// The end of a long text, where paths and names of models differ.
fn shorten(text: &str, most: usize) -> String {
    let long = text.chars().count();
    if long <= most { text.to_owned() } else { text.chars().skip(long - most).collect() }
}

/// True if the names stand above their columns.
fn are_short(columns: &[&Value]) -> bool {
    columns.iter().all(|value| options::to_text(value).chars().count() < CELL)
}

/// The numbers of columns with long names.
fn explain_columns(columns: &[&Value]) -> Vec<String> {
    if are_short(columns) {
        return Vec::new();
    }
    let line = |(number, value): (usize, &&Value)| format!("  ({number}) {}", options::to_text(value));
    (1..).zip(columns).map(line).collect()
}

/// The names of columns, or their numbers.
fn write_names(values: &[&Value]) -> String {
    let are_short = are_short(values);
    let name = |(number, value): (usize, &&Value)| {
        let name = if are_short { options::to_text(value) } else { format!("({number})") };
        format!("{name:>CELL$}")
    };
    let names: Vec<String> = (1..).zip(values).map(name).collect();
    names.concat()
}

/// The need in GiB with the mark of its verdict.
fn cell(point: Option<&SweepPoint>) -> String {
    let Some(point) = point else { return format!("{:>CELL$}", "?") };
    let mark = match point.verdict {
        PointVerdict::Fits => ' ',
        PointVerdict::Tight => '~',
        PointVerdict::Oom => '#',
        PointVerdict::Failed => '!',
    };
    let need = point.need_bytes.map_or_else(String::new, |need| format!("{:.2}", need.0 as f64 / f64::from(1 << 30)));
    format!("{:>width$}{mark}", need, width = CELL - 1).trim_end_matches(' ').to_owned()
        + if mark == ' ' { " " } else { "" }
}

/// The largest value of the rows that fits each GPU.
fn borders(report: &SweepReport, frame: &MapFrame, points: &[&SweepPoint], columns: &[&Value]) -> Vec<String> {
    let mut lines = vec![String::new(), format!("The largest {} that fits", frame.rows.name)];
    lines.push(format!("  {:<30}{}", "GPU", write_names(columns)));
    for gpu in by_capacity(report) {
        let largest = columns_or_one(columns).map(|column| {
            let fitting = points.iter().filter(|point| point.gpu == gpu.name && point.verdict.is_good());
            let sizes = fitting
                .filter(|point| place(point, frame).1 == column)
                .filter_map(|point| point.params.get(&frame.rows.name));
            let most = sizes
                .max_by(|one, other| one.as_f64().unwrap_or_default().total_cmp(&other.as_f64().unwrap_or_default()));
            format!("{:>CELL$}", most.map_or_else(|| "-".to_owned(), options::to_text))
        });
        let name: String = short_name(&gpu.name).chars().take(28).collect();
        lines.push(format!("  {name:<30}{}", largest.collect::<String>()));
    }
    lines
}

/// Evenly chosen values, with both ends.
fn thin(values: &[Value], most: usize) -> Vec<&Value> {
    if values.len() <= most {
        return values.iter().collect();
    }
    (0..most).filter_map(|index| values.get(index * (values.len() - 1) / (most - 1))).collect()
}
