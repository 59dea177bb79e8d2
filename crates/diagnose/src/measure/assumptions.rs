//! The records of a run in the report's types.

use report::{Assumption, Location, ValueShape};
use trace::{Bytes, PhantomRecord, Record, Run};

use super::run_records::{phantom_records, records};

/// Returns the modelled assumptions; of several processes' assumptions, the largest amount.
pub(crate) fn list_assumptions(run: &Run) -> Vec<Assumption> {
    let agents = records(run).filter_map(|record| match record {
        Record::Assumption { id, text } => Some((id, text, Bytes::ZERO)),
        _ => None,
    });
    let phantoms = phantom_records(run).filter_map(|record| match record {
        PhantomRecord::Assumption { id, text, bytes } => Some((id, text, Bytes(*bytes))),
        _ => None,
    });
    let all = agents.chain(phantoms);
    let mut assumptions: Vec<Assumption> = Vec::new();
    for (id, text, bytes) in all {
        match assumptions.iter_mut().find(|known| known.id == *id) {
            Some(known) => known.bytes = known.bytes.max(bytes),
            None => assumptions.push(Assumption { id: id.clone(), text: text.clone(), bytes }),
        }
    }
    assumptions
}

/// Returns the lines where values decided shapes.
pub(crate) fn value_shapes(run: &Run) -> Vec<ValueShape> {
    let shapes = records(run).filter_map(|record| match record {
        Record::ValueShape { op, file, line, count, fraction } => Some(ValueShape {
            op: op.clone(),
            location: Location { file: file.clone(), line: *line, column: None },
            count: *count,
            fraction: *fraction,
        }),
        _ => None,
    });
    shapes.collect()
}
