//! `tune` on small programs that the model of the allocator records, whose figures are reckoned by hand.
#![expect(clippy::unwrap_used, reason = "test")]

use std::sync::atomic::{AtomicUsize, Ordering};

use allocator::settings::Settings;
use allocator::{Allocator, Rules, SimulatedDevice};
use diagnose::{EmptyCacheAt, ExplainInput, Gpu, InputContents, TuneCase, TuneError, Watch, tune};
use report::Standing;
use report::tune::{Effect, TuneReport};
use trace::run::{DeviceStats, EndRecord};
use trace::{Bytes, Event, EventIndex, Frame, Process, Release, Run, Snapshot, Stream, TorchVersions};

const MIB: u64 = 1 << 20;
const RELEASE: Release = Release { major: 2, minor: 13 };

/// The acts of a program: sizes in MiB, in order, each freed before the next; at the end nothing is held.
fn recorded(sizes: &[u64], conf: &str) -> Snapshot {
    let settings = Settings::parse(conf, RELEASE).unwrap();
    let device = SimulatedDevice::new(1 << 40, 0);
    let mut machine = Allocator::new(Rules::of(RELEASE), settings.clone(), device, Vec::<Event>::new());
    for mib in sizes {
        let block = machine.malloc(Bytes(mib * MIB), Stream::default()).unwrap();
        machine.free(block);
    }
    machine.empty_cache();
    let stated = trace::SnapshotSettings {
        conf: conf.to_owned(),
        expandable_segments: settings.expandable_segments,
        max_split_size: settings.max_split_size,
        ..trace::SnapshotSettings::default()
    };
    let torch = TorchVersions { from: RELEASE, before: Some(Release { major: 2, minor: 14 }) };
    Snapshot { traces: vec![machine.observer().clone()], settings: stated, torch, ..Snapshot::default() }
}

fn input(path: &str, contents: InputContents) -> ExplainInput {
    ExplainInput { path: path.to_owned(), rank: None, contents }
}

fn case(snapshots: Vec<Snapshot>) -> TuneCase {
    let inputs = snapshots.into_iter().map(|snapshot| input("a.pickle", InputContents::Snapshot(Box::new(snapshot))));
    TuneCase { inputs: inputs.collect(), ..TuneCase::default() }
}

fn tuned(case: &TuneCase) -> TuneReport {
    tune(case, &()).unwrap().report(None, 0.0)
}

fn device(mib: u64) -> Gpu {
    Gpu { name: "a device".to_owned(), total: Bytes(mib * MIB), context: Bytes::ZERO }
}

fn mib(bytes: Bytes) -> u64 {
    assert_eq!(bytes.0 % MIB, 0, "{bytes}");
    bytes.0 / MIB
}

fn recommended(report: &TuneReport) -> Option<(&str, u64)> {
    let recommended = report.recommended.as_ref()?;
    Some((recommended.setting.conf.as_str(), mib(recommended.setting.reserved_bytes)))
}

#[test]
fn the_saving_is_what_the_pages_of_the_largest_need() {
    // The second is larger than the first: by default each has a segment. Pages of 20 MiB serve both.
    let report = tuned(&case(vec![recorded(&[30, 40], "")]));
    assert_eq!((mib(report.current.reserved_bytes), mib(report.limit_bytes)), (70, 40));
    assert_eq!(recommended(&report), Some(("expandable_segments:True", 40)));
    assert_eq!(report.recommended.as_ref().map(|recommended| recommended.standing), Some(Standing::Verified));
    assert!(report.traces[0].agreement.exact && report.traces[0].whole, "{:?}", report.traces);
    // In 40 MiB the first is given back when the second is asked for.
    let needs = &report.needs;
    assert_eq!((needs.current_bytes.map(mib), needs.recommended_bytes.map(mib)), (Some(40), Some(40)));
    assert_eq!((report.findings.len(), report.findings[0].rule.name()), (1, "fragmentation"));
}

#[test]
fn what_is_in_force_and_best_is_left_alone() {
    let report = tuned(&case(vec![recorded(&[40, 30], "")]));
    assert_eq!(mib(report.current.reserved_bytes), 40);
    assert_eq!((recommended(&report), report.findings.len()), (None, 0));
}

#[test]
fn a_setting_that_costs_is_named_as_harmful() {
    // From 32 MiB on nothing is split, and a block that is larger by 20 MiB or more serves nothing.
    let report = tuned(&case(vec![recorded(&[64, 36], "max_split_size_mb:32")]));
    assert_eq!(mib(report.current.reserved_bytes), 100);
    assert_eq!(recommended(&report), Some(("", 64)));
    assert_eq!(report.findings[0].rule.name(), "allocator-setting-harmful");
    assert_eq!(report.recommended.unwrap().lines.bash, "unset PYTORCH_CUDA_ALLOC_CONF");
}

#[test]
fn on_windows_there_are_no_expandable_segments() {
    let mut snapshot = recorded(&[30, 40], "");
    let file = "C:\\Users\\ann\\train.py".to_owned();
    let frame = snapshot.stacks.intern_frame(Frame { function: "main".to_owned(), file, line: 1 });
    let stack = snapshot.stacks.intern_stack(&[frame]);
    snapshot.traces[0].iter_mut().for_each(|event| event.stack = stack);
    let report = tuned(&case(vec![snapshot]));
    assert!(report.settings.iter().all(|setting| !setting.conf.contains("expandable")), "{:?}", report.recommended);
    assert_eq!(report.guides[0].setting.conf, "expandable_segments:True");
    assert_eq!(report.guides[0].effect, Effect::Refused);
}

#[test]
fn settings_changed_at_run_time_are_named() {
    let mut snapshot = recorded(&[64, 36], "max_split_size_mb:32");
    snapshot.settings.conf = String::new();
    let report = tuned(&case(vec![snapshot]));
    assert_eq!((report.current.conf.as_str(), mib(report.current.reserved_bytes)), ("max_split_size_mb:32", 100));
}

#[test]
fn guides_are_compared_with_now() {
    let report = tuned(&case(vec![recorded(&[200, 150], "")]));
    let effect = |conf: &str| {
        let guide = report.guides.iter().find(|guide| guide.setting.conf == conf).unwrap();
        (guide.effect, guide.change_bytes / (1 << 20))
    };
    assert_eq!(effect("max_split_size_mb:128"), (Effect::Worse, 150));
    assert_eq!(effect("max_split_size_mb:256"), (Effect::Same, 0));
    assert_eq!(effect("garbage_collection_threshold:0.8"), (Effect::Same, 0));
}

#[test]
fn of_several_programs_the_worst_counts() {
    let report = tuned(&case(vec![recorded(&[30, 40], ""), recorded(&[50, 60], "")]));
    let by_trace: Vec<u64> = report.current.reserved_bytes_by_trace.iter().map(|&bytes| mib(bytes)).collect();
    assert_eq!((mib(report.current.reserved_bytes), by_trace, mib(report.limit_bytes)), (110, vec![70, 110], 60));
    assert_eq!(recommended(&report), Some(("expandable_segments:True", 60)));
}

#[test]
fn what_is_alive_at_once_and_does_not_fit_is_a_proof() {
    let case = TuneCase { device: Some(device(38)), ..case(vec![recorded(&[30, 40], "")]) };
    let report = tuned(&case);
    assert!(report.current.oom);
    assert_eq!((recommended(&report), report.findings[0].rule.name()), (None, "need-exceeds-device"));
    assert!(report.findings[0].message.starts_with("no setting of any allocator helps: 40.00 MiB"));
}

#[test]
fn emptying_the_cache_is_replayed_where_asked() {
    let places = vec![EmptyCacheAt::Event(EventIndex(2))];
    let case = TuneCase { empty_cache_at: places, ..case(vec![recorded(&[30, 40], "")]) };
    let tried = tuned(&case).empty_cache;
    let figures: Vec<(u64, u64)> = tried.iter().map(|one| (one.times, mib(one.setting.reserved_bytes))).collect();
    // Without the program's own call at the end nothing changes; after the first tensor its segment is given back.
    assert_eq!(figures, [(0, 70), (2, 40)]);
}

#[test]
fn a_place_that_there_is_not_is_an_error() {
    let snapshot = recorded(&[30], "");
    let events = snapshot.traces[0].len() as u64;
    let places = vec![EmptyCacheAt::Event(EventIndex(99))];
    let case = TuneCase { empty_cache_at: places, ..case(vec![snapshot]) };
    assert_eq!(tune(&case, &()).unwrap_err(), TuneError::NoSuchEvent { event: 99, events });
}

#[test]
fn what_cannot_be_replayed_is_named() {
    let of = |contents| TuneCase { inputs: vec![input("x", contents)], ..TuneCase::default() };
    let cases = [
        (of(InputContents::Text(Vec::new())), TuneError::Text("x".to_owned())),
        (of(InputContents::Snapshot(Box::default())), TuneError::NoHistory("x".to_owned())),
        (of(InputContents::Run(Run::default(), None)), TuneError::NoHistory("x".to_owned())),
    ];
    for (case, expected) in cases {
        assert_eq!(tune(&case, &()).unwrap_err(), expected);
    }
}

#[test]
fn the_same_case_gives_the_same_report() {
    let case = TuneCase { device: Some(device(200)), ..case(vec![recorded(&[21, 3, 40, 1, 77, 30, 5], "")]) };
    assert_eq!(tuned(&case), tuned(&case));
}

#[test]
fn every_setting_is_one_that_the_version_takes() {
    let case = TuneCase { device: Some(device(200)), ..case(vec![recorded(&[21, 3, 40, 1, 77, 30, 5], "")]) };
    let report = tuned(&case);
    assert!(report.settings.len() > 50, "{}", report.settings.len());
    for setting in &report.settings {
        assert!(Settings::parse(&setting.conf, RELEASE).is_ok(), "{}", setting.conf);
        assert!(setting.oom || setting.reserved_bytes >= report.limit_bytes, "{setting:?}");
    }
}

#[test]
fn a_program_that_sets_its_own_settings_is_not_taken_for_a_proof() {
    let tuning = tune(&case(vec![recorded(&[30, 40], "")]), &()).unwrap();
    let snapshot = Some(recorded(&[30, 40], "max_split_size_mb:32"));
    let run = Run { processes: vec![Process { snapshot, ..Process::default() }] };
    let recommended = tuning.report(Some(&run), 0.0).recommended.unwrap();
    assert!(
        recommended.how.contains("sets PYTORCH_CUDA_ALLOC_CONF itself (`max_split_size_mb:32`)"),
        "{}",
        recommended.how
    );
}

/// Ends the search after so many replays.
struct Impatient {
    left: AtomicUsize,
}

impl Watch for Impatient {
    fn progress(&self, _: usize, _: usize, _: Option<Bytes>) {
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    }

    fn is_over(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

#[test]
fn an_interrupted_search_keeps_what_it_has() {
    let case = case(vec![recorded(&[30, 40], "")]);
    // The first two replayed are the defaults and expandable segments.
    let report = tune(&case, &Impatient { left: AtomicUsize::new(2) }).unwrap().report(None, 0.0);
    assert!(report.search.interrupted);
    assert_eq!(recommended(&report), Some(("expandable_segments:True", 40)));
    assert_eq!(tune(&case, &Impatient { left: AtomicUsize::new(0) }).unwrap_err(), TuneError::Interrupted);
}

#[test]
fn a_run_under_the_setting_verifies_it_or_not() {
    let tuning = || tune(&case(vec![recorded(&[30, 40], "")]), &()).unwrap();
    let cases = [(40, 40, Standing::Verified), (42, 40, Standing::Estimated), (40, 38, Standing::Verified)];
    for (reserved, allocated, standing) in cases {
        let stats = DeviceStats {
            reserved_peak_bytes: reserved * MIB,
            allocated_peak_bytes: allocated * MIB,
            ..DeviceStats::default()
        };
        let end = EndRecord { devices: vec![stats], ..EndRecord::default() };
        let run = Run { processes: vec![Process { end: Some(end), ..Process::default() }] };
        let measured = tuning().report(Some(&run), 0.0);
        let recommended = measured.recommended.unwrap();
        assert_eq!(recommended.standing, standing, "{}", recommended.how);
        assert_eq!(recommended.measured.map(|measured| mib(measured.reserved_bytes)), Some(reserved));
        assert_eq!(measured.findings[0].remedies[0].standing, standing);
    }
}
