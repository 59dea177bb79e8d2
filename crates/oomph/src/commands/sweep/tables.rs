//! `points.parquet` beside `points.jsonl`: the same points as columns, for pandas, Polars and DuckDB.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use options::to_text;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use report::sweep::SweepPoint;
use serde_json::Value;

use super::folder::SweepFolder;
use crate::error::{Error, SweepError};

const FILE: &str = "points.parquet";

/// The values of a column; `None` for an absent value.
enum TableColumn {
    Numbers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

/// Writes the table of all points.
pub(super) fn write(folder: &SweepFolder, points: &[SweepPoint]) -> Result<(), Error> {
    let path = folder.path().join(FILE);
    let columns = list_columns(points);
    write_columns(&path, &columns).map_err(|error| SweepError::Table { path, problem: error.to_string() }.into())
}

/// The parameters as columns of their own, then the answers.
fn list_columns(points: &[SweepPoint]) -> Vec<(String, TableColumn)> {
    let names: Vec<String> = points.first().map(|point| point.params.keys().cloned().collect()).unwrap_or_default();
    let parameters = names.into_iter().map(|name| {
        let values: Vec<Option<&Value>> = points.iter().map(|point| point.params.get(&name)).collect();
        (name, of_values(&values))
    });
    let number = |value: fn(&SweepPoint) -> Option<i64>| TableColumn::Numbers(points.iter().map(value).collect());
    let text = |value: fn(&SweepPoint) -> Option<String>| TableColumn::Texts(points.iter().map(value).collect());
    let answers = [
        ("number", number(|point| i64::try_from(point.number).ok())),
        ("gpu", text(|point| Some(point.gpu.clone()))),
        ("verdict", text(|point| word(&point.verdict))),
        ("need_bytes", number(|point| point.need_bytes.and_then(|bytes| i64::try_from(bytes.0).ok()))),
        ("spare_bytes", number(|point| point.spare_bytes)),
        ("capacity_bytes", number(|point| i64::try_from(point.capacity_bytes.0).ok())),
        ("allocated_bytes", number(|point| point.allocated_bytes.and_then(|bytes| i64::try_from(bytes.0).ok()))),
        ("reserved_bytes", number(|point| point.reserved_bytes.and_then(|bytes| i64::try_from(bytes.0).ok()))),
        ("command", text(|point| Some(point.command.clone()))),
        ("how", text(|point| word(&point.how))),
        ("seconds", TableColumn::Reals(points.iter().map(|point| Some(point.seconds)).collect())),
        ("torch", text(|point| point.torch.clone())),
        ("oomph", text(|point| Some(point.oomph.clone()))),
        ("error", text(|point| point.error.clone())),
    ];
    let parameters: Vec<(String, TableColumn)> = parameters.collect();
    // A parameter may have the name of an answer.
    let is_taken = |name: &str| answers.iter().any(|(answer, _)| *answer == name);
    let renamed: Vec<(String, TableColumn)> = parameters
        .into_iter()
        .map(|(name, column)| (if is_taken(&name) { format!("params.{name}") } else { name }, column))
        .collect();
    renamed.into_iter().chain(answers.into_iter().map(|(name, column)| (name.to_owned(), column))).collect()
}

/// The word of a value that serialises to one.
fn word(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn of_values(values: &[Option<&Value>]) -> TableColumn {
    let all = |is: fn(&Value) -> bool| values.iter().flatten().all(|value| is(value));
    if all(Value::is_i64) {
        TableColumn::Numbers(values.iter().map(|value| value.and_then(Value::as_i64)).collect())
    } else if all(Value::is_number) {
        TableColumn::Reals(values.iter().map(|value| value.and_then(Value::as_f64)).collect())
    } else {
        TableColumn::Texts(values.iter().map(|value| value.map(to_text)).collect())
    }
}

fn write_columns(path: &Path, columns: &[(String, TableColumn)]) -> Result<(), ParquetError> {
    let fields = columns.iter().map(|(name, column)| field(name, column)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("points").with_fields(fields).build()?);
    let file = File::create(path)?;
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::builder().build()))?;
    let mut group = writer.next_row_group()?;
    let mut columns = columns.iter();
    while let (Some(mut column), Some((_, values))) = (group.next_column()?, columns.next()) {
        match values {
            TableColumn::Numbers(values) => {
                let (levels, present) = split(values, |value| *value);
                column.typed::<Int64Type>().write_batch(&present, Some(&levels), None)?;
            }
            TableColumn::Reals(values) => {
                let (levels, present) = split(values, |value| *value);
                column.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
            }
            TableColumn::Texts(values) => {
                let (levels, present) = split(values, |value| ByteArray::from(value.as_str()));
                column.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn field(name: &str, column: &TableColumn) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match column {
        TableColumn::Numbers(_) => (Physical::INT64, None),
        TableColumn::Reals(_) => (Physical::DOUBLE, None),
        TableColumn::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(field.with_logical_type(logical).build()?))
}

/// The levels of definition, 0 for an absent value, and the present values.
fn split<T, U>(values: &[Option<T>], convert: impl Fn(&T) -> U) -> (Vec<i16>, Vec<U>) {
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (levels, values.iter().flatten().map(convert).collect())
}
