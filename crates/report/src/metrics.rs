//! The figures of a running program, and their two forms: a line of JSON, and Prometheus' text.

use std::fmt::Write;

use serde::Serialize;

/// The figures of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProcessMetrics {
    /// The process.
    pub pid: u32,
    /// Its rank in a job, else 0.
    pub rank: u32,
    /// True for a further process of the same rank, which the pid tells apart.
    #[serde(skip)]
    pub is_further: bool,
    /// The completed optimizer steps.
    pub steps: u32,
    /// True if the process has ended.
    pub ended: bool,
    /// The phase of the last allocation; `None` if allocations are not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<&'static str>,
    /// The time of an optimizer step, over the last steps; `None` before the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_seconds: Option<f64>,
    /// The wait for the `DataLoader`, over the same steps; `None` without a loader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loader: Option<LoaderMetrics>,
    /// The runs of trackers that the process logs to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trackers: Vec<TrackerRun>,
    /// The devices that the process uses.
    pub devices: Vec<DeviceMetrics>,
}

/// The run of a tracker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TrackerRun {
    /// The library, such as `mlflow`.
    pub library: String,
    /// The id of the run.
    pub run: String,
    /// The name of the run; empty if it has none.
    pub name: String,
    /// The project, or the address of the store.
    pub place: String,
}

/// The wait for a `DataLoader`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LoaderMetrics {
    /// The share of the time of a step.
    pub wait_share: f64,
    /// `num_workers`.
    pub workers: u32,
    /// `pin_memory`.
    pub pins_memory: bool,
}

/// The figures of a process on one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceMetrics {
    /// The device, as the process counts.
    pub device: u32,
    /// The name that the driver states.
    pub name: String,
    /// The memory of the device.
    pub total_bytes: u64,
    /// The allocated memory.
    pub allocated_bytes: u64,
    /// The reserved memory.
    pub reserved_bytes: u64,
    /// The most allocated so far.
    pub allocated_peak_bytes: u64,
    /// The most reserved so far.
    pub reserved_peak_bytes: u64,
    /// The reserved memory that no block uses: reserved less allocated.
    pub cache_bytes: u64,
    /// The memory of the device less the spare memory: the most reserved so far, and the memory outside of PyTorch. `None` until the free memory
    /// is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need_bytes: Option<u64>,
    /// The memory that was free before the program, less the most reserved so far; `None` until it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_bytes: Option<u64>,
    /// The free memory in segments that have other blocks in use, after the last recorded step: no `empty_cache` releases it. `None` if no
    /// record states it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inactive_split_bytes: Option<u64>,
    /// The requests for which the cache was released; `None` if no record states them yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alloc_retries: Option<u64>,
    /// The growth; `None` if the memory does not grow from step to step.
    #[serde(flatten)]
    pub growth: Option<StepGrowth>,
}

/// A steady growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepGrowth {
    /// The growth in a step.
    #[serde(rename = "growth_per_step_bytes")]
    pub per_step_bytes: u64,
    /// The number of further steps, of which the last runs out of memory.
    #[serde(rename = "steps_to_error")]
    pub steps_to_error: u64,
}

/// Writes a line of JSON, at `seconds` since 1970.
pub fn write_line(seconds: f64, process: &ProcessMetrics) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct TimedMetrics<'a> {
        time: f64,
        #[serde(flatten)]
        process: &'a ProcessMetrics,
    }
    // Milliseconds: more digits than the figures are exact to.
    let time = (seconds * 1000.0).round() / 1000.0;
    Ok(serde_json::to_string(&TimedMetrics { time, process })? + "\n")
}

/// A metric of Prometheus': the name without the prefix, the kind, the help.
type Metric = (&'static str, &'static str, &'static str);

const STEPS: Metric = ("steps_total", "counter", "Completed optimizer steps.");
type DeviceMetric = (Metric, fn(&DeviceMetrics) -> Option<u64>);
const OF_DEVICES: [DeviceMetric; 12] = [
    (("device_bytes", "gauge", "Memory of the device."), |it| Some(it.total_bytes)),
    (("allocated_bytes", "gauge", "Allocated memory."), |it| Some(it.allocated_bytes)),
    (("reserved_bytes", "gauge", "Reserved memory."), |it| Some(it.reserved_bytes)),
    (("allocated_peak_bytes", "gauge", "The most allocated so far."), |it| Some(it.allocated_peak_bytes)),
    (("reserved_peak_bytes", "gauge", "The most reserved so far."), |it| Some(it.reserved_peak_bytes)),
    (("cache_bytes", "gauge", "Reserved memory that no block uses."), |it| Some(it.cache_bytes)),
    (("need_bytes", "gauge", "Memory of the device less the spare memory."), |it| it.need_bytes),
    (("spare_bytes", "gauge", "Memory that was free before, less the most reserved so far."), |it| it.spare_bytes),
    (("inactive_split_bytes", "gauge", "Free memory in segments that have other blocks in use."), |it| {
        it.inactive_split_bytes
    }),
    (("alloc_retries_total", "counter", "Requests for which the cache was released."), |it| it.alloc_retries),
    (("growth_per_step_bytes", "gauge", "Growth of the allocated memory in a step."), |it| {
        Some(it.growth?.per_step_bytes)
    }),
    (("steps_to_error", "gauge", "Steps until memory runs out at this growth."), |it| Some(it.growth?.steps_to_error)),
];

/// Writes the text that Prometheus reads (exposition format 0.0.4).
pub fn write_prometheus(processes: &[ProcessMetrics]) -> String {
    let mut text = String::new();
    let steps = processes.iter().map(|process| (label_process(process), u64::from(process.steps)));
    write_metric(&mut text, STEPS, steps);
    for (metric, figure) in OF_DEVICES {
        let on_devices = processes.iter().flat_map(|process| process.devices.iter().map(move |it| (process, it)));
        let samples = on_devices.filter_map(|(process, device)| {
            Some((format!("{},device=\"{}\"", label_process(process), device.device), figure(device)?))
        });
        write_metric(&mut text, metric, samples);
    }
    text
}

fn label_process(process: &ProcessMetrics) -> String {
    let pid = if process.is_further { format!(",pid=\"{}\"", process.pid) } else { String::new() };
    format!("rank=\"{}\"{pid}", process.rank)
}

/// Writes a metric with its samples; nothing without a sample.
fn write_metric(text: &mut String, (name, kind, help): Metric, samples: impl Iterator<Item = (String, u64)>) {
    let mut samples = samples.peekable();
    if samples.peek().is_none() {
        return;
    }
    // Writing to a text cannot fail.
    let _ = writeln!(text, "# HELP oomph_{name} {help}\n# TYPE oomph_{name} {kind}");
    for (labels, value) in samples {
        let _ = writeln!(text, "oomph_{name}{{{labels}}} {value}");
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn process(pid: u32, is_further: bool, growth: Option<StepGrowth>) -> ProcessMetrics {
        let device = DeviceMetrics {
            device: 1,
            name: "NVIDIA T4".to_owned(),
            total_bytes: 100,
            allocated_bytes: 40,
            reserved_bytes: 50,
            allocated_peak_bytes: 60,
            reserved_peak_bytes: 70,
            cache_bytes: 10,
            alloc_retries: growth.map(|_| 2),
            growth,
            ..DeviceMetrics::default()
        };
        ProcessMetrics { pid, rank: 3, is_further, steps: 9, devices: vec![device], ..ProcessMetrics::default() }
    }

    const GROWTH: StepGrowth = StepGrowth { per_step_bytes: 5, steps_to_error: 9 };

    #[test]
    fn a_line_has_the_growth_only_if_there_is_growth() {
        let device = r#"{"device":1,"name":"NVIDIA T4","total_bytes":100,"allocated_bytes":40,"reserved_bytes":50,"allocated_peak_bytes":60,"reserved_peak_bytes":70,"cache_bytes":10"#;
        let cases = [(None, ""), (Some(GROWTH), r#","alloc_retries":2,"growth_per_step_bytes":5,"steps_to_error":9"#)];
        for (growth, rest) in cases {
            let expected = format!(
                "{{\"time\":17.123,\"pid\":7,\"rank\":3,\"steps\":9,\"ended\":false,\"devices\":[{device}{rest}}}]}}\n"
            );
            assert_eq!(write_line(17.123_456, &process(7, false, growth)).unwrap(), expected);
        }
    }

    #[test]
    fn a_metric_names_its_samples_once() {
        let text = write_prometheus(&[process(7, false, None), process(8, true, Some(GROWTH))]);
        let of = |name: &str| text.lines().filter(|line| line.contains(name)).collect::<Vec<_>>();
        let steps = [
            "# HELP oomph_steps_total Completed optimizer steps.",
            "# TYPE oomph_steps_total counter",
            "oomph_steps_total{rank=\"3\"} 9",
            "oomph_steps_total{rank=\"3\",pid=\"8\"} 9",
        ];
        assert_eq!(of("steps_total"), steps);
        let growth = [
            "# HELP oomph_growth_per_step_bytes Growth of the allocated memory in a step.",
            "# TYPE oomph_growth_per_step_bytes gauge",
            "oomph_growth_per_step_bytes{rank=\"3\",pid=\"8\",device=\"1\"} 5",
        ];
        assert_eq!(of("growth_per_step"), growth);
        assert_eq!(write_prometheus(&[]), "");
    }
}
