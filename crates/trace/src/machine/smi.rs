//! The XML of `nvidia-smi -q -x` (its DTD: `nvidia_device_v12.dtd`, and `nvidia_device_v4.dtd` to `v11` of older drivers).

use std::str::FromStr;

use super::element::{Element, parse};
use super::error::SmiError;
use super::{GpuProcess, GpuSample, GpuUse, MachineSample, MigSample};
use crate::bytes::Bytes;
use crate::text::to_utf8;

/// Reads the output of `nvidia-smi -q -x`, in UTF-8 or, as Windows PowerShell writes it, in UTF-16.
pub fn read_smi(file: &[u8]) -> Result<MachineSample, SmiError> {
    let log = parse(String::from_utf8_lossy(&to_utf8(file)).trim_start_matches('\u{FEFF}'))?;
    if log.name != "nvidia_smi_log" {
        return Err(SmiError::NotALog { found: Some(log.name) });
    }
    let gpus = (0..).zip(log.list("gpu")).map(|(index, gpu)| read_gpu(index, gpu)).collect();
    Ok(MachineSample { driver: log.text_at(&["driver_version"]).map(str::to_owned), gpus })
}

fn read_gpu(index: u32, gpu: &Element) -> GpuSample {
    let text = |path: &[&str]| gpu.text_at(path).unwrap_or_default().to_owned();
    let power = ["gpu_power_readings", "power_readings"].iter().find_map(|group| {
        let draws = ["instant_power_draw", "power_draw", "average_power_draw"];
        draws.iter().find_map(|draw| gpu.text_at(&[group, draw]))
    });
    GpuSample {
        index,
        name: text(&["product_name"]),
        uuid: text(&["uuid"]),
        total: gpu.text_at(&["fb_memory_usage", "total"]).and_then(read_size),
        used: gpu.text_at(&["fb_memory_usage", "used"]).and_then(read_size),
        utilization_percent: gpu.text_at(&["utilization", "gpu_util"]).and_then(read_number),
        temperature_celsius: gpu.text_at(&["temperature", "gpu_temp"]).and_then(read_number),
        power_watts: power.and_then(read_number),
        mig: list(gpu, "mig_devices", "mig_device").map(read_mig).collect(),
        // Drivers before 396 list `compute_processes` alone.
        processes: join_kinds(
            list(gpu, "processes", "process_info")
                .chain(list(gpu, "compute_processes", "process_info"))
                .filter_map(read_process),
        ),
        problem: None,
    }
}

fn list<'a>(gpu: &'a Element, group: &str, name: &'a str) -> impl Iterator<Item = &'a Element> {
    gpu.child(group).into_iter().flat_map(move |group| group.list(name))
}

fn read_mig(device: &Element) -> MigSample {
    MigSample {
        name: None,
        gpu_instance: device.text_at(&["gpu_instance_id"]).and_then(read_number),
        total: device.text_at(&["fb_memory_usage", "total"]).and_then(read_size),
        used: device.text_at(&["fb_memory_usage", "used"]).and_then(read_size),
    }
}

fn read_process(process: &Element) -> Option<GpuProcess> {
    Some(GpuProcess {
        pid: read_number(process.text_at(&["pid"])?)?,
        kind: match process.text_at(&["type"]).unwrap_or_default() {
            "G" => GpuUse::Graphics,
            "C+G" | "G+C" => GpuUse::Both,
            _ => GpuUse::Compute,
        },
        program: process.text_at(&["process_name"]).map(str::to_owned),
        used: process.text_at(&["used_memory"]).and_then(read_size),
        utilization_percent: None,
        gpu_instance: process.text_at(&["gpu_instance_id"]).and_then(read_number),
    })
}

/// Joins the two rows of a process that uses a GPU for both: drivers before `C+G` list it twice.
fn join_kinds(rows: impl Iterator<Item = GpuProcess>) -> Vec<GpuProcess> {
    let mut joined: Vec<GpuProcess> = Vec::new();
    for row in rows {
        let same = |it: &&mut GpuProcess| (it.pid, it.gpu_instance) == (row.pid, row.gpu_instance);
        match joined.iter_mut().find(same) {
            Some(known) if known.kind != row.kind => {
                (known.kind, known.used) = (GpuUse::Both, known.used.max(row.used));
            }
            Some(known) => known.used = known.used.max(row.used),
            None => joined.push(row),
        }
    }
    joined
}

/// Reads the number before a unit, without its decimals: `63.24 W` is 63.
fn read_number<N: FromStr>(text: &str) -> Option<N> {
    let digits = text.split_whitespace().next()?.split('.').next()?;
    digits.parse().ok()
}

/// Reads `40536 MiB`.
fn read_size(text: &str) -> Option<Bytes> {
    let (number, unit) = text.split_once(' ')?;
    let shift = match unit.trim() {
        "B" => 0,
        "KiB" | "KB" => 10,
        "MiB" | "MB" => 20,
        "GiB" | "GB" => 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(inside: &str) -> String {
        format!(
            "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvidia_device_v12.dtd\">\n<nvidia_smi_log>{inside}</nvidia_smi_log>\n"
        )
    }

    fn check(inside: &str, expected: &GpuSample) {
        let read = read_smi(log(&format!("<gpu id=\"0:1:0.0\">{inside}</gpu>")).as_bytes());
        assert_eq!(read.map(|sample| sample.gpus), Ok(vec![expected.clone()]), "{inside}");
    }

    #[test]
    fn figures_without_a_value_are_none() {
        let known = GpuSample { total: Some(Bytes(40 << 30)), used: Some(Bytes(3 << 20)), ..GpuSample::default() };
        let memory = |total: &str, used: &str| {
            format!("<fb_memory_usage><total>{total}</total><used>{used}</used></fb_memory_usage>")
        };
        check(&memory("40960 MiB", "3 MiB"), &known);
        for text in [
            "N/A",
            "[N/A]",
            "[Not Supported]",
            "",
            "Unknown Error",
            "GPU requires reset",
            "12 bananas",
            "99999999999999999 MiB",
        ] {
            check(&memory(text, text), &GpuSample::default());
        }
        let warm = GpuSample {
            power_watts: Some(63),
            utilization_percent: Some(7),
            temperature_celsius: Some(41),
            ..GpuSample::default()
        };
        check(
            "<utilization><gpu_util>7 %</gpu_util></utilization><temperature><gpu_temp>41 C</gpu_temp></temperature>\
             <power_readings><power_draw>63.94 W</power_draw></power_readings>",
            &warm,
        );
    }

    #[test]
    fn a_process_with_two_rows_is_one() {
        let row = |kind: &str, used: &str| {
            format!(
                "<process_info><pid>7</pid><type>{kind}</type><process_name>a &amp; b</process_name><used_memory>{used}</used_memory></process_info>"
            )
        };
        let process = |kind, used: Option<u64>| GpuProcess {
            pid: 7,
            kind,
            program: Some("a & b".to_owned()),
            used: used.map(|mib| Bytes(mib << 20)),
            utilization_percent: None,
            gpu_instance: None,
        };
        let cases = [
            (row("C", "5 MiB"), process(GpuUse::Compute, Some(5))),
            (row("C+G", "N/A"), process(GpuUse::Both, None)),
            (row("G", "5 MiB") + &row("C", "8 MiB"), process(GpuUse::Both, Some(8))),
        ];
        for (rows, expected) in cases {
            let sample = GpuSample { processes: vec![expected], ..GpuSample::default() };
            check(&format!("<processes>{rows}</processes>"), &sample);
        }
        let old = GpuSample { processes: vec![process(GpuUse::Compute, Some(5))], ..GpuSample::default() };
        check(&format!("<compute_processes>{}</compute_processes>", row("", "5 MiB")), &old);
    }

    #[test]
    fn other_files_are_named_by_their_outermost_element() {
        let cases = [
            (
                "<html><body/></html>".to_owned(),
                "expected the output of `nvidia-smi -q -x`, an element `nvidia_smi_log`; found `html`",
            ),
            (String::new(), "expected the output of `nvidia-smi -q -x`, an element `nvidia_smi_log`"),
            ("<nvidia_smi_log><gpu>".to_owned(), "the file ends in the middle"),
            ("<a>".repeat(100), "the elements are nested too deep"),
        ];
        for (text, expected) in cases {
            assert_eq!(read_smi(text.as_bytes()).map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
        assert!(matches!(read_smi(b"<a></b>"), Err(SmiError::Xml { .. })));
    }
}
