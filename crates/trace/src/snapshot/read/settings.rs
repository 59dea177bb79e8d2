//! Reads `allocator_settings`, which PyTorch writes since 2.3.

use super::fields::{FieldValue, WrongValue};
use crate::bytes::Bytes;
use crate::snapshot::SnapshotSettings;
use crate::snapshot::torch::{Seen, SnapshotKey};

pub(super) fn read(value: FieldValue<'_>, seen: &mut Seen) -> Result<SnapshotSettings, WrongValue> {
    let mut settings = SnapshotSettings::default();
    for (key, value) in value.fields()? {
        read_one(&mut settings, seen, key, value).map_err(|error| error.inside(key))?;
    }
    Ok(settings)
}

fn read_one(
    settings: &mut SnapshotSettings,
    seen: &mut Seen,
    key: &str,
    value: FieldValue<'_>,
) -> Result<(), WrongValue> {
    match key {
        "PYTORCH_CUDA_ALLOC_CONF" | "PYTORCH_ALLOC_CONF" => value.string()?.clone_into(&mut settings.conf),
        "expandable_segments" => settings.expandable_segments = value.bool()?,
        "max_split_size" => settings.max_split_size = max_split_size(value)?,
        "garbage_collection_threshold" => {
            settings.garbage_collection_threshold = Some(value.number()?).filter(|&share| share > 0.0);
        }
        "release_lock_on_cudamalloc" => settings.release_lock_on_cudamalloc = value.bool()?,
        "roundup_power2_divisions" => settings.roundup_power2_divisions = divisions(value)?,
        "graph_capture_record_stream_reuse" => seen.add(SnapshotKey::GraphCaptureRecordStreamReuse),
        "max_round_threshold" => seen.add(SnapshotKey::MaxRoundThreshold),
        _ => {}
    }
    Ok(())
}

/// -1 stands for no limit.
fn max_split_size(value: FieldValue<'_>) -> Result<Option<Bytes>, WrongValue> {
    if value.plain().as_int() == Some(-1) { Ok(None) } else { value.byte_count().map(Some) }
}

/// `{'1': 0, '2': 4, …, '32768': 0}`: 0 and 1 stand for no rounding beyond 512 bytes.
fn divisions(value: FieldValue<'_>) -> Result<Vec<(u64, u64)>, WrongValue> {
    let mut divisions = Vec::new();
    for (key, value) in value.fields()? {
        let boundary = key.parse().map_err(|_| WrongValue::new("a boundary in MiB as its key", value).inside(key))?;
        match value.byte_count().map_err(|error| error.inside(key))? {
            Bytes(0 | 1) => {}
            Bytes(n) => divisions.push((boundary, n)),
        }
    }
    Ok(divisions)
}
