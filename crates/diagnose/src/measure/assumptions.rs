//! The records of a run in the report's types.

use report::{Assumption, Location, ValueShape};
use trace::{Bytes, Run};

/// Returns the modelled assumptions; of several processes' assumptions, the largest amount.
pub(crate) fn list_assumptions(run: &Run) -> Vec<Assumption> {
    let agents = run.processes.iter().flat_map(|process| &process.assumptions);
    let agents = agents.map(|assumed| (&assumed.id, &assumed.text, Bytes::ZERO));
    let phantoms = run.processes.iter().flat_map(|process| &process.ledger.figures);
    let phantoms = phantoms.map(|figure| (&figure.id, &figure.text, Bytes(figure.bytes)));
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
    let shapes = run.processes.iter().flat_map(|process| &process.value_shapes).map(|shape| ValueShape {
        op: shape.op.clone(),
        location: Location { file: shape.file.clone(), line: shape.line, column: None },
        count: shape.count,
        fraction: shape.fraction,
    });
    shapes.collect()
}
