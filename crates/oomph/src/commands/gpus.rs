//! `oomph gpus`: lists the known GPUs, or shows one with the source of each figure.

use std::fmt::Write as _;

use gpus::{Field, Profile, Provenance};
use serde::Serialize;
use serde_json::Value;
use trace::Bytes;

use crate::args::Gpus;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{gpu_choice, output};

/// Prints the list, or one GPU.
pub(crate) fn run(arguments: &Gpus) -> Result<ExitStatus, Error> {
    let text = match &arguments.name {
        Some(name) if arguments.json => pretty(gpu_choice::find(name)?)?,
        Some(name) => one(gpu_choice::find(name)?)?,
        None if arguments.json => pretty(&gpus::all())?,
        None => list(),
    };
    output::answer(&text)?;
    Ok(ExitStatus::Fits)
}

fn pretty(value: &impl Serialize) -> Result<String, Error> {
    Ok(report::document::to_text(value)?)
}

fn list() -> String {
    let mut text = format!("{:<36} {:>11} {:>10} {:>5} {:>5}\n", "GPU", "memory", "context", "cc", "SMs");
    for gpu in gpus::all() {
        let star = if gpu.provenance(Field::TotalBytes).0 == Provenance::Estimated { "*" } else { " " };
        let cc = gpu.compute_capability.to_string();
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "{:<36} {:>10}{star} {:>10} {cc:>5} {:>5}",
            gpu.name,
            gpu.total_bytes.to_string(),
            gpu.context_bytes.to_string(),
            gpu.multiprocessors
        );
    }
    text.push_str("\nMemory is what CUDA reports as total; * marks an estimate. The context is what CUDA takes\nof it before the program does, always estimated so far. `oomph gpus NAME` shows the sources.\n");
    text
}

fn one(gpu: &Profile) -> Result<String, Error> {
    let mut text = format!("{}\n", gpu.name);
    let values = serde_json::to_value(gpu)?;
    for field in Field::ALL {
        let (provenance, source) = gpu.provenance(field);
        let key = field.key();
        let shown = readable(key, &values[key]);
        let _ = write!(text, "\n  {key:<40} {shown}\n    {}: {source}\n", word(provenance));
    }
    Ok(text)
}

/// A figure for people: sizes in the largest unit, `24 GiB` and not `24.00 GiB`.
fn readable(key: &str, value: &Value) -> String {
    match value.as_u64() {
        Some(bytes) if key.ends_with("_bytes") => Bytes(bytes).to_string().replace(".00 ", " "),
        _ => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}

fn word(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Measured => "measured",
        Provenance::Published => "published",
        Provenance::Estimated => "estimated",
        Provenance::Given => "given",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_shown_with_sizes_that_people_read() {
        let gpu = gpus::find("a100-sxm4-80gb").expect("the table has it");
        let text = one(gpu).unwrap_or_default();
        for line in
            ["total_bytes 79.32 GiB", "l2_bytes 40 MiB", "shared_memory_per_block_bytes 48 KiB", "multiprocessors 108"]
        {
            let (key, value) = line.split_once(' ').unwrap_or_default();
            assert!(text.contains(&format!("  {key:<40} {value}\n")), "{line}: {text}");
        }
        let values = serde_json::to_value(gpu).unwrap_or_default();
        assert_eq!(values["total_bytes"].as_u64(), Some(85_167_439_872));
        for field in Field::ALL {
            assert!(!values[field.key()].is_null(), "{}", field.key());
        }
    }
}
