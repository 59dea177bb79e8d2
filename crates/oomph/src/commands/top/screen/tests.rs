//! The screen in terminals of many sizes.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use report::top::TopProcess;
use report::top::{TopGpu, TopRecorded};
use trace::{Bytes, Phase};

use super::*;
use crate::commands::top::details::Details;

const GIB: u64 = 1 << 30;

fn gpu(index: u32) -> TopGpu {
    TopGpu {
        index,
        name: "NVIDIA GeForce RTX 3060".to_owned(),
        total_bytes: Some(Bytes(12 * GIB)),
        used_bytes: Some(Bytes(6 * GIB)),
        utilization_percent: Some(85),
        temperature_celsius: Some(61),
        power_watts: Some(120),
        ..TopGpu::default()
    }
}

fn process(pid: u32) -> TopProcess {
    let recorded = TopRecorded {
        allocated_bytes: Bytes(3 * GIB),
        reserved_bytes: Bytes(5 * GIB),
        cached_bytes: Bytes(2 * GIB),
        inactive_split_bytes: Some(Bytes(GIB / 2)),
        phase: Some(Phase::Forward),
        steps: 1204,
        step_seconds: Some(0.31),
        growth_per_step_bytes: Some(Bytes(3 << 19)),
        steps_to_error: Some(5400),
        seconds_to_error: Some(1674.0),
        ..TopRecorded::default()
    };
    TopProcess {
        gpu: Some(0),
        pid,
        user: Some("ada".to_owned()),
        command: Some("python train.py --batch-size 8".to_owned()),
        used_bytes: Some(Bytes(5 * GIB)),
        utilization_percent: Some(80),
        cpu_percent: Some(99.6),
        recorded: (pid % 2 == 1).then_some(recorded),
        ..TopProcess::default()
    }
}

fn view(gpus: u32, processes: u32) -> View {
    let report = TopReport {
        gpus: (0..gpus).map(gpu).collect(),
        processes: (1..=processes).map(process).collect(),
        remarks: vec!["GPU 0 is nearly full".to_owned()],
        ..TopReport::default()
    };
    let mut view = View { report, is_ready: true, ..View::default() };
    view.sort();
    view
}

fn show(view: &mut View, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, view, true)).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content.chunks(usize::from(width.max(1)));
    rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned()).collect()
}

#[test]
fn a_terminal_of_80_columns_shows_all_figures() {
    let rows = show(&mut view(1, 1), 80, 14);
    let words = |row: &str| row.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&rows[0]), words("GPU NAME MEMORY BUSY TEMP POWER"));
    assert_eq!(words(&rows[1])[..9], words("0 GeForce RTX 3060 6.00 of 12.0 GiB 85 % 61 °C 120 W")[..9]);
    let below = [
        "! GPU 0 is nearly full",
        "",
        "    PID  USER       GPU    MEMORY   BUSY     CPU  COMMAND (1 process)",
        "      1  ada          0  5.00 GiB   80 %   100 %  python train.py --batch-size 8",
        "    5.00 GiB reserved, 3.00 GiB allocated, 2.00 GiB cache (512 MiB in fragments)",
        "    step 1,204 at 0.31 s, forward, +1.50 MiB each step: full in 28 min",
    ];
    assert_eq!(rows[2..8], below);
    assert_eq!(rows[13], "q quit  Enter open  / filter  s sort  k end it  h help");
}

#[test]
fn no_size_is_too_small() {
    for (width, height) in [(1, 1), (20, 5), (5, 20), (60, 10), (80, 24), (200, 60), (300, 2)] {
        for (gpus, processes) in [(0, 0), (1, 1), (8, 64), (64, 500)] {
            for page in [Page::Processes, Page::Process(1), Page::Help] {
                let mut view = view(gpus, processes);
                (view.page, view.scroll) = (page, 7);
                let rows = show(&mut view, width, height);
                assert_eq!(rows.len(), usize::from(height));
            }
        }
    }
}

#[test]
fn a_tiny_terminal_shows_the_selected_process() {
    let rows = show(&mut view(1, 3), 20, 5);
    assert!(rows.iter().any(|row| row.trim_start().starts_with("1  ")), "{rows:#?}");
}

#[test]
fn the_selected_process_is_in_view() {
    for place in [0, 1, 17, 63] {
        let mut view = view(8, 64);
        view.select(place);
        let rows = show(&mut view, 80, 24);
        let wanted = format!("{:>7}  ada", place + 1);
        assert!(rows.iter().any(|row| row.starts_with(&wanted)), "{place}: {rows:#?}");
    }
}

#[test]
fn details_and_problems_are_named() {
    let mut view = view(1, 1);
    view.page = Page::Process(1);
    assert!(show(&mut view, 80, 24).contains(&"reading …".to_owned()));
    view.details = Some(Details { pid: 1, text: "step 1: 1.00 GiB allocated\n".to_owned() });
    assert!(show(&mut view, 80, 24).contains(&"step 1: 1.00 GiB allocated".to_owned()));
    view.page = Page::Process(99);
    assert_eq!(show(&mut view, 80, 24)[0], "process 99 has ended");
    (view.page, view.problem) = (Page::Processes, Some("the driver is gone".to_owned()));
    assert_eq!(show(&mut view, 80, 24)[23], "! no new figures: the driver is gone");
}
