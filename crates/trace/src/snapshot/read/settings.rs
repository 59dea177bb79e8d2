//! Reads `allocator_settings`, which PyTorch writes since 2.3.

use super::fields::{self, Fields, Place, WrongValue};
use crate::bytes::Bytes;
use crate::pickle::Value;
use crate::snapshot::Settings;

pub(super) fn read(value: Value<'_>) -> Result<Settings, WrongValue> {
    let mut settings = Settings::default();
    for (key, value) in Fields::of(value)? {
        read_one(&mut settings, key, value).within(key)?;
    }
    Ok(settings)
}

fn read_one(settings: &mut Settings, key: &str, value: Value<'_>) -> Result<(), WrongValue> {
    match key {
        "PYTORCH_CUDA_ALLOC_CONF" | "PYTORCH_ALLOC_CONF" => {
            fields::text(value)?.clone_into(&mut settings.conf);
        }
        "expandable_segments" => settings.expandable_segments = fields::bool(value)?,
        "max_split_size" => settings.max_split_size = max_split_size(value)?,
        "roundup_power2_divisions" => settings.roundup_power2_divisions = divisions(value)?,
        _ => {}
    }
    Ok(())
}

/// -1 stands for no limit.
fn max_split_size(value: Value<'_>) -> Result<Option<Bytes>, WrongValue> {
    if value.as_int() == Some(-1) { Ok(None) } else { fields::bytes(value).map(Some) }
}

/// `{'1': 0, '2': 4, …, '32768': 0}`: 0 and 1 stand for no rounding beyond 512 bytes.
fn divisions(value: Value<'_>) -> Result<Vec<(u64, u64)>, WrongValue> {
    let mut divisions = Vec::new();
    for (key, value) in Fields::of(value)? {
        let boundary = key.parse().map_err(|_| WrongValue::new("a boundary in MiB as its key", value)).within(key)?;
        match fields::bytes(value).within(key)? {
            Bytes(0 | 1) => {}
            Bytes(n) => divisions.push((boundary, n)),
        }
    }
    Ok(divisions)
}
