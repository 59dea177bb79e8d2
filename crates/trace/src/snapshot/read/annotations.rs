//! Reads `external_annotations`, which PyTorch writes since 2.5: beginnings and ends of `record_function` and similar
//! ranges.

use std::collections::HashMap;
use std::sync::Arc;

use super::fields::{FieldValue, WrongValue};
use crate::ids::{DeviceIndex, Time};
use crate::pickle::StrId;
use crate::snapshot::{Annotation, Stage};

pub(super) fn read(list: FieldValue<'_>) -> Result<Vec<Annotation>, WrongValue> {
    let mut names = HashMap::new();
    let mut annotations = Vec::new();
    for (index, value) in list.items()?.enumerate() {
        let annotation = read_annotation(value, &mut names).map_err(|error| error.inside_item(index))?;
        annotations.extend(annotation);
    }
    Ok(annotations)
}

/// `None` for an annotation without stage or name: any program may write to this dict.
fn read_annotation(
    value: FieldValue<'_>,
    names: &mut HashMap<StrId, Arc<str>>,
) -> Result<Option<Annotation>, WrongValue> {
    let (mut name, mut stage, mut device, mut time) = (None, None, None, None);
    for (key, value) in value.fields()? {
        match key {
            "name" => name = Some(value.str_id().map_err(|error| error.inside(key))?),
            "stage" => stage = stage_of(value),
            "device" => device = value.u32().ok().map(DeviceIndex),
            "time_us" => time = value.address().ok().and_then(|micros| Time::from_micros(micros.0)),
            _ => {}
        }
    }
    Ok(name.zip(stage).map(|(name, stage)| {
        let name = names.entry(name).or_insert_with(|| Arc::from(value.arena().resolve_text(name))).clone();
        Annotation { name, stage, device, time }
    }))
}

fn stage_of(value: FieldValue<'_>) -> Option<Stage> {
    match value.as_str()? {
        "START" => Some(Stage::Start),
        "END" => Some(Stage::End),
        _ => None,
    }
}
