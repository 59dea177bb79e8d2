//! A machine of two GPUs, its rows and remarks.

use trace::Record;
use trace::run::{DeviceStats, GpuRecord, LoaderWait, ProcessRecord, StepRecord};

use super::*;

const GIB: u64 = 1 << 30;

fn gpu(index: u32, processes: Vec<GpuProcess>) -> GpuSample {
    let (total, used) = (Some(Bytes(24 * GIB)), Some(Bytes(9 * GIB)));
    let (name, uuid) = (format!("GPU {index}"), format!("GPU-{index}0aa"));
    GpuSample { index, name, uuid, total, used, utilization_percent: Some(10), processes, ..GpuSample::default() }
}

fn process(pid: u32, used: u64) -> GpuProcess {
    let used = Some(Bytes(used * GIB));
    GpuProcess { pid, kind: GpuUse::Compute, program: None, used, utilization_percent: None, gpu_instance: None }
}

fn host(cpu_millis: u64, visible: Option<&str>) -> HostProcess {
    let command = vec!["python".to_owned(), "train.py".to_owned()];
    let user = Some("ada".to_owned());
    HostProcess { user, command, cpu_millis, visible_devices: visible.map(str::to_owned), ..HostProcess::default() }
}

/// A process with a step each second, from `first_gib` on by `growth_gib` a step.
fn meter(pid: u32, growth_gib: u64, loader: Option<&LoaderWait>) -> Meter {
    let mut meter = Meter::default();
    meter.note_record(&Record::Process(ProcessRecord { pid, ..ProcessRecord::default() }));
    meter.note_record(&Record::Gpu(GpuRecord {
        total_bytes: 24 * GIB,
        free_bytes: Some(23 * GIB),
        ..GpuRecord::default()
    }));
    for step in 1..=6 {
        let allocated = (1 + growth_gib * u64::from(step)) * GIB;
        let stats = DeviceStats {
            allocated_bytes: allocated,
            allocated_peak_bytes: allocated,
            reserved_bytes: 9 * GIB,
            reserved_peak_bytes: 9 * GIB,
            inactive_split_bytes: GIB,
            ..DeviceStats::default()
        };
        let loader = loader.cloned().map(|loader| LoaderWait { wait_ns: loader.wait_ns * u64::from(step), ..loader });
        let monotonic_ns = u64::from(step) * 1_000_000_000;
        let devices = vec![stats];
        meter.note_record(&Record::Step(StepRecord { step, monotonic_ns, devices, loader, ..StepRecord::default() }));
    }
    meter
}

fn machine(recorded: Vec<Meter>, visible: Option<&str>) -> MachineView {
    let gpus = vec![gpu(0, vec![process(7, 1), process(8, 8)]), gpu(1, vec![process(7, 2)])];
    let host = BTreeMap::from([(7, host(500, visible)), (8, host(500, None))]);
    MachineView {
        is_live: true,
        gpus: MachineSample { driver: None, gpus },
        host,
        recorded,
        monotonic_ns: 7_000_000_000,
    }
}

#[test]
fn a_process_stands_at_each_of_its_gpus_by_memory() {
    let report = Top::new("1").report(&machine(vec![], None));
    let rows: Vec<_> =
        report.processes.iter().map(|it| (it.gpu, it.pid, it.used_bytes.map(|used| used.0 / GIB))).collect();
    assert_eq!(rows, [(Some(0), 8, Some(8)), (Some(0), 7, Some(1)), (Some(1), 7, Some(2))]);
    assert_eq!(report.processes[0].command.as_deref(), Some("python train.py"));
}

#[test]
fn processor_time_is_known_from_the_second_look_on() {
    let mut top = Top::new("1");
    let mut now = machine(vec![], None);
    assert_eq!(top.report(&now).processes[0].cpu_percent, None);
    now.monotonic_ns += 2_000_000_000;
    if let Some(host) = now.host.get_mut(&8) {
        host.cpu_millis += 500;
    }
    let shares: Vec<_> = top.report(&now).processes.iter().map(|it| it.cpu_percent).collect();
    assert_eq!(shares, [Some(25.0), Some(0.0), Some(0.0)]);
}

#[test]
fn a_recording_stands_at_the_gpu_that_its_device_is() {
    let cases = [
        (None, [None, Some(9), None]),
        (Some("1,0"), [None, None, Some(9)]),
        (Some("GPU-10aa"), [None, None, Some(9)]),
        (Some("GPU-00aa,GPU-10aa"), [None, Some(9), None]),
    ];
    for (visible, expected) in cases {
        let report = Top::new("1").report(&machine(vec![meter(7, 0, None)], visible));
        let reserved = report.processes.iter().map(|it| it.recorded.as_ref().map(|it| it.reserved_bytes.0 / GIB));
        assert_eq!(reserved.collect::<Vec<_>>(), expected, "{visible:?}");
    }
}

#[test]
fn a_recording_that_the_driver_does_not_list_has_a_row() {
    let mut now = machine(vec![meter(9, 0, None)], None);
    now.gpus.gpus.truncate(1);
    let report = Top::new("1").report(&now);
    let rows: Vec<_> = report.processes.iter().map(|it| (it.gpu, it.pid, it.used_bytes.is_some())).collect();
    assert_eq!(rows, [(Some(0), 8, true), (Some(0), 7, true), (Some(0), 9, false)]);
    let recorded = report.processes[2].recorded.clone().unwrap_or_default();
    assert_eq!((recorded.allocated_bytes.0, recorded.cached_bytes.0), (GIB, 8 * GIB));
    assert_eq!((recorded.step_seconds, recorded.since_step_seconds), (Some(1.0), Some(1.0)));
}

fn check(recorded: Meter, change: impl Fn(&mut MachineView), expected: &[&str]) {
    let mut now = machine(vec![recorded], Some("0"));
    change(&mut now);
    let report = Top::new("1").report(&now);
    assert_eq!(report.remarks, expected);
}

#[test]
fn remarks_name_the_process_and_the_next_step() {
    let loader = |workers, pins_memory| LoaderWait { wait_ns: 600_000_000, workers, pins_memory };
    check(meter(7, 0, None), |_| {}, &[]);
    check(
        meter(7, 1, None),
        |_| {},
        &[
            "pid 7 grows by 1.00 GiB each step and runs out of memory in 17 steps: `oomph explain --pid 7` names the line",
        ],
    );
    check(
        meter(7, 0, Some(&loader(0, false))),
        |_| {},
        &[
            "GPU 0 is busy 10 % of the time: pid 7 waits for data 60 % of the time; its `DataLoader` has `num_workers=0`, so nothing is loaded during a step: try 4 workers, and `pin_memory=True` makes the copies faster",
        ],
    );
    check(
        meter(7, 0, Some(&loader(8, true))),
        |now| now.gpus.gpus[0].utilization_percent = None,
        &["pid 7 waits for data 60 % of the time; its `DataLoader` has `num_workers=8`: more may help"],
    );
    check(meter(7, 0, Some(&loader(0, true))), |now| now.gpus.gpus[0].utilization_percent = Some(80), &[]);
    check(
        meter(7, 0, None),
        |now| now.monotonic_ns = 100_000_000_000,
        &["pid 7 has made no optimizer step for 94 s; a step took 1.00 s before"],
    );
    check(
        meter(7, 0, None),
        |now| now.gpus.gpus[0].used = Some(Bytes(23 * GIB)),
        &["GPU 0 is nearly full, and pid 7 keeps 8.00 GiB free in its cache, where no other process can use it"],
    );
    check(
        meter(7, 0, None),
        |now| drop(now.host.remove(&8)),
        &["1 process is not visible from here: in another container, or ended just now"],
    );
    check(
        meter(7, 0, None),
        |now| now.gpus.gpus[1].problem = Some("the GPU is lost".to_owned()),
        &["GPU 1: the GPU is lost; `dmesg | grep -i xid` has the kernel's words"],
    );
}
