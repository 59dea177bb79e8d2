//! `memory_summary`, `memory_stats` and `nvidia-smi`, in their forms and versions.

use trace::Bytes;
use trace::text::{Amount, Artifact, MemorySummary, Metric, NvidiaSmi, PoolSize, StatedBytes, read};

use crate::expect::prefixed;
use crate::sizes::{exactly, size};

const SUMMARY: &str = "\
|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 1                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 2            |        cudaMalloc retries: 3         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |  20480 MiB |  22528 MiB |     12 GiB | 786432 B   |
|       from large pool |  20000 MiB |  22000 MiB |     11 GiB | 786000 B   |
|       from small pool |    480 MiB |    528 MiB |      1 GiB |    432 B   |
|---------------------------------------------------------------------------|
| GPU reserved memory   |  23000 MiB |  23500 MiB |     24 GiB |      0 B   |
|---------------------------------------------------------------------------|
| Allocations           |     812    |     900    |    4567 K  |    4566 K  |
|---------------------------------------------------------------------------|
| Oversize allocations  |       0    |       0    |       0    |       0    |
|===========================================================================|
";

fn summary(text: &str) -> MemorySummary {
    match read(text.as_bytes()).pop() {
        Some(Artifact::MemorySummary(summary)) => summary,
        other => panic!("{other:?}"),
    }
}

fn amounts(summary: &MemorySummary, metric: Metric, pool: PoolSize) -> [StatedBytes; 4] {
    let row = summary.row(metric, pool).unwrap();
    [row.current, row.peak, row.allocated, row.freed].map(|Amount(amount)| amount)
}

#[test]
fn the_rows_of_memory_summary_are_ranges_since_it_cuts_off() {
    let summary = summary(SUMMARY);
    assert_eq!(
        (summary.device_index, summary.ooms, summary.retries, summary.rows.len()),
        (Some(1), Some(2), Some(3), 6)
    );
    assert_eq!(
        amounts(&summary, Metric::AllocatedBytes, PoolSize::All),
        [
            size(21_474_836_480, 21_474_836_480, 21_475_885_055),
            size(23_622_320_128, 23_622_320_128, 23_623_368_703),
            size(12_884_901_888, 12_884_901_888, 13_958_643_711),
            exactly(786_432),
        ]
    );
    assert_eq!(amounts(&summary, Metric::AllocatedBytes, PoolSize::Small)[3], exactly(432));
    assert_eq!(
        amounts(&summary, Metric::Allocations, PoolSize::All),
        [exactly(812), exactly(900), size(4_567_000, 4_567_000, 4_567_999), size(4_566_000, 4_566_000, 4_566_999)]
    );
    assert_eq!(amounts(&summary, Metric::OversizeAllocations, PoolSize::All), [exactly(0); 4]);
    assert!(summary.row(Metric::ActiveBytes, PoolSize::All).is_none());
}

#[test]
fn memory_summary_is_read_behind_prefixes_in_json_and_for_several_devices() {
    let whole = summary(SUMMARY).rows;
    for prefix in ["[rank3]: ", "2024-05-01 10:00:00,123 INFO ", "app-1  | ", "    "] {
        let text = format!("start\n{}done\n", prefixed(SUMMARY, prefix));
        assert_eq!(summary(&text).rows, whole, "{prefix}");
    }
    assert_eq!(summary(&format!("{{\"m\": \"{}\"}}\n", SUMMARY.replace('\n', "\\n"))).rows, whole);
    assert_eq!(summary(&SUMMARY.replace('\n', "\r\n")).rows, whole);
    let two = format!("{SUMMARY}\n{}", SUMMARY.replace("device ID 1", "device ID 2"));
    let devices: Vec<_> = read(two.as_bytes())
        .into_iter()
        .map(|artifact| match artifact {
            Artifact::MemorySummary(summary) => (summary.line, summary.device_index, summary.rows.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(devices, [(2, Some(1), 6), (20, Some(2), 6)]);
}

#[test]
fn memory_summary_of_1_13_has_other_units() {
    let old = SUMMARY.replace("MiB", "MB ").replace("GiB", "GB ");
    assert_eq!(summary(&old).rows, summary(SUMMARY).rows);
}

#[test]
fn a_cut_memory_summary_has_the_rows_before_the_cut() {
    let end = SUMMARY.find("|       from small").unwrap();
    assert_eq!(summary(&SUMMARY[..end + 40]).rows, summary(SUMMARY).rows[..2]);
}

fn check_stats(text: &str) {
    let found = read(text.as_bytes());
    let [Artifact::MemoryStats(stats)] = &found[..] else { panic!("{text}\n{found:?}") };
    assert_eq!(stats.get("active.all.allocated"), Some(12), "{text}");
    assert_eq!(stats.get("reserved_bytes.all.peak"), Some(4_294_967_296), "{text}");
    assert_eq!((stats.get("max_split_size"), stats.values["max_split_size"]), (None, -1), "{text}");
    assert_eq!(stats.values.len(), 5, "{text}");
}

#[test]
fn memory_stats_are_read_as_python_and_json_print_them() {
    let pairs = [
        ("active.all.allocated", "12"),
        ("active.all.current", "3"),
        ("max_split_size", "-1"),
        ("num_ooms", "0"),
        ("reserved_bytes.all.peak", "4294967296"),
    ];
    let join = |form: &dyn Fn(&str, &str) -> String, glue: &str| {
        pairs.iter().map(|(key, value)| form(key, value)).collect::<Vec<_>>().join(glue)
    };
    check_stats(&format!("stats\nOrderedDict([{}])\nnext\n", join(&|key, value| format!("('{key}', {value})"), ", ")));
    check_stats(&format!("stats\nOrderedDict({{{}}})\n", join(&|key, value| format!("'{key}': {value}"), ", ")));
    check_stats(&format!("stats\n{{{}}}\n", join(&|key, value| format!("'{key}': {value}"), ",\n ")));
    check_stats(&format!("stats\n{{{}}}\n", join(&|key, value| format!("\"{key}\": {value}"), ", ")));
    check_stats(&format!("stats\n{{\n{}\n}}\n", join(&|key, value| format!("    \"{key}\": {value}"), ",\n")));
    check_stats(&format!("stats\n\"{{{}}}\"\n", join(&|key, value| format!("\\\"{key}\\\": {value}"), ", ")));
    check_stats(&format!("stats\n{}\n", join(&|key, value| format!("{key}: {value}"), "\n")));
}

#[test]
fn memory_stats_stand_on_the_line_of_their_first_key() {
    let found = read(b"{\n\"active.all.allocated\": 1,\n\"active.all.current\": 1, \"a.b\": 2, \"c.d\": 3}");
    assert_eq!(found.iter().map(Artifact::first_line).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_few_keys_in_a_sentence_are_no_memory_stats() {
    assert_eq!(read(b"look at stats['active.all.current'] and 'active.all.peak': 3"), []);
}

fn smi(text: &str) -> NvidiaSmi {
    match read(text.as_bytes()).pop() {
        Some(Artifact::NvidiaSmi(smi)) => smi,
        other => panic!("{text}\n{other:?}"),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as the readers give it")]
fn mib(number: u64) -> Option<StatedBytes> {
    Some(StatedBytes {
        nearest: Bytes::from_mib(number),
        lowest: Bytes::from_mib(number - 1),
        highest: Bytes::from_mib(number + 1),
    })
}

const NEW_TABLE: &str = "\
Wed May  1 10:00:00 2024
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA GeForce RTX 4090        Off |   00000000:01:00.0  On |                  Off |
|  0%   45C    P8             20W /  450W |   21024MiB /  24564MiB |      3%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:41:00.0 Off |                   On |
| N/A   31C    P0             60W /  400W |      45MiB /  81920MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MIG devices:                                                                            |
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|      Shared           |
|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|                  |                                  |        ECC|                       |
|==================+==================================+===========+=======================|
|  1    2   0   0  |              12MiB / 40192MiB    | 42      0 |  3   0    2    0    0 |
|                  |                 0MiB / 65535MiB  |           |                       |
+------------------+----------------------------------+-----------+-----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A      1811      G   /usr/lib/xorg/Xorg                            210MiB |
|    0   N/A  N/A     31337      C   python train.py                             20800MiB |
|    1     2    0      4242      C   python                                        N/A    |
+-----------------------------------------------------------------------------------------+
loss 0.25
";

fn check_new_table(text: &str) {
    let smi = smi(text);
    assert_eq!((smi.driver.as_deref(), smi.cuda.as_deref()), (Some("550.54.15"), Some("12.4")));
    let gpus: Vec<_> =
        smi.gpus.iter().map(|gpu| (gpu.index, gpu.name.as_deref(), gpu.used_bytes, gpu.total_bytes)).collect();
    assert_eq!(
        gpus,
        [
            (Some(0), Some("NVIDIA GeForce RTX 4090"), mib(21024), mib(24564)),
            (Some(1), Some("NVIDIA A100-SXM4-80GB"), mib(45), mib(81920)),
        ]
    );
    assert_eq!(smi.gpus[0].bus_id.as_deref(), Some("00000000:01:00.0"));
    let parts: Vec<_> = smi.gpus[1]
        .mig_devices
        .iter()
        .map(|part| (part.gpu_instance, part.index, part.used_bytes, part.total_bytes))
        .collect();
    assert_eq!(parts, [(2, 0, mib(12), mib(40192))]);
    let processes = smi.processes.unwrap();
    let processes: Vec<_> = processes
        .iter()
        .map(|one| (one.gpu_index, one.pid, one.kind.as_deref(), one.name.as_str(), one.used_bytes))
        .collect();
    assert_eq!(
        processes,
        [
            (Some(0), Some(1811), Some("G"), "/usr/lib/xorg/Xorg", mib(210)),
            (Some(0), Some(31337), Some("C"), "python train.py", mib(20800)),
            (Some(1), Some(4242), Some("C"), "python", None),
        ]
    );
}

#[test]
fn the_table_of_nvidia_smi_is_read_with_its_parts_and_processes() {
    check_new_table(NEW_TABLE);
    check_new_table(&NEW_TABLE.replace('\n', "\r\n"));
    check_new_table(&prefixed(NEW_TABLE, "[rank0]: "));
    check_new_table(&prefixed(NEW_TABLE, "2024-05-01 10:00:00 "));
}

#[test]
fn the_table_of_2018_and_an_empty_list_of_processes_are_read() {
    let text = "\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 410.79       Driver Version: 410.79       CUDA Version: 10.0     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla K80           Off  | 00000000:00:04.0 Off |                    0 |
| N/A   37C    P8    26W / 149W |   9000MiB / 11441MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+

+-----------------------------------------------------------------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0      1234      C   python                                      8990MiB |
+-----------------------------------------------------------------------------+
";
    let old = smi(text);
    assert_eq!((old.gpus[0].name.as_deref(), old.gpus[0].total_bytes), (Some("Tesla K80"), mib(11441)));
    let processes = old.processes.unwrap();
    assert_eq!((processes.len(), processes[0].pid, processes[0].used_bytes), (1, Some(1234), mib(8990)));
    let row = text.lines().find(|line| line.contains("1234")).unwrap();
    let empty =
        smi(&text.replace(row, "|  No running processes found                                                 |"));
    assert_eq!(empty.processes, Some(Vec::new()));
}

#[test]
fn nvidia_smi_q_is_read() {
    let text = "
==============NVSMI LOG==============

Timestamp                                 : Wed May  1 10:00:00 2024
Driver Version                            : 550.54.15
CUDA Version                              : 12.4

Attached GPUs                             : 1
GPU 00000000:01:00.0
    Product Name                          : NVIDIA GeForce RTX 4090
    MIG Mode
        Current                           : N/A
    FB Memory Usage
        Total                             : 24564 MiB
        Reserved                          : 400 MiB
        Used                              : 21024 MiB
        Free                              : 3140 MiB
    BAR1 Memory Usage
        Total                             : 256 MiB
        Used                              : 5 MiB
        Free                              : 251 MiB
    Processes
        GPU instance ID                   : N/A
        Process ID                        : 31337
            Type                          : C
            Name                          : python train.py
            Used GPU Memory               : 20800 MiB

epoch 3
";
    let smi = smi(text);
    let gpu = &smi.gpus[0];
    assert_eq!(
        (gpu.total_bytes, gpu.reserved_bytes, gpu.used_bytes, gpu.free_bytes),
        (mib(24564), mib(400), mib(21024), mib(3140))
    );
    let process = &smi.processes.unwrap()[0];
    assert_eq!((process.pid, process.used_bytes, process.name.as_str()), (Some(31337), mib(20800), "python train.py"));
}

#[test]
fn lists_of_nvidia_smi_are_read_with_and_without_units_and_heads() {
    let gpus = smi(
        "index, name, memory.total [MiB], memory.used [MiB], memory.free [MiB]\n0, NVIDIA L4, 23034 MiB, 20000 MiB, 2600 MiB\n1, NVIDIA L4, 23034 MiB, [N/A], 23000 MiB\n",
    );
    assert_eq!(
        (gpus.gpus.len(), gpus.gpus[0].used_bytes, gpus.gpus[1].used_bytes, gpus.processes),
        (2, mib(20000), None, None)
    );
    let bare = smi("memory.used [MiB], memory.total [MiB]\n20000, 23034\n");
    assert_eq!((bare.gpus[0].used_bytes, bare.gpus[0].total_bytes), (mib(20000), mib(23034)));
    let processes =
        smi("pid, process_name, used_gpu_memory [MiB]\n31337, python, 20800 MiB\n4242, /usr/bin/a b, [N/A]\n")
            .processes
            .unwrap();
    assert_eq!(
        (processes[0].used_bytes, processes[1].used_bytes, processes[1].name.as_str()),
        (mib(20800), None, "/usr/bin/a b")
    );
    let headless = smi("31337, python, 20800 MiB\n4242, python3, 512 MiB\n").processes.unwrap();
    assert_eq!((headless.len(), headless[1].pid, headless[1].used_bytes), (2, Some(4242), mib(512)));
    let headless = smi("0, NVIDIA L4, 23034 MiB, 20000 MiB\n");
    assert_eq!((headless.gpus[0].total_bytes, headless.gpus[0].used_bytes), (mib(23034), None));
}
