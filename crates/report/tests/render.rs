//! The renderers against pages that were written by hand.
#![expect(clippy::unwrap_used, reason = "test")]

mod reread;
mod samples;

use report::explain::{DeviceMemory, Extent, HistoryPeak, Holder, MemoryPart, Picture, TotalsPoint};
use report::render::terminal::{Detail, Look, Styles};
use report::render::{Format, Report, html, render};
use report::{
    CheckReport, Contents, DevicePicture, Filling, Need, Peak, Place, Remark, RunPicture, Stopped, Usage, Verdict,
};
use trace::run::StopCause;
use trace::{Bytes, Phase};

use samples::{at, breakdown, fits, full, place, site};

fn written(report: &dyn Report, format: Format) -> String {
    render(report, format, Look::default()).unwrap()
}

fn plain(report: &CheckReport) -> String {
    written(report, Format::Terminal)
}

/// The report without `-v`.
fn brief(report: &CheckReport) -> String {
    render(report, Format::Terminal, Look { detail: Detail::Brief, ..Look::default() }).unwrap()
}

#[test]
fn the_short_report_has_some_fifteen_lines() {
    assert_eq!(brief(&fits()), include_str!("golden/brief_fits.txt"));
    let filling = Filling {
        place: place(2, Phase::Backward, "lm_head"),
        breakdown: breakdown(&[(Contents::Activations, 25_000), (Contents::Parameters, 1000)]),
        sites: vec![site(24_000, 2, 41)],
    };
    let report = CheckReport {
        need: Need { filling: Some(filling), ..full().need },
        next: Some(["oomph", "fit", "--gpu", "rtx-4090", "train.py"].map(str::to_owned).to_vec()),
        ..full()
    };
    assert_eq!(brief(&report), include_str!("golden/brief_oom.txt"));
}

#[test]
fn a_program_that_fits() {
    assert_eq!(plain(&fits()), include_str!("golden/fits.txt"));
}

#[test]
fn a_program_that_does_not_fit() {
    assert_eq!(plain(&full()), include_str!("golden/oom.txt"));
}

#[test]
fn no_line_is_wider_than_80_columns_however_long_the_names() {
    let mut report = full();
    let long = "deeply/".repeat(40) + "train.py";
    report.folder = String::new();
    report.gpu.name = "GPU ".repeat(60);
    report.peak.place.module = Some("layer.".repeat(50));
    report.sites[0].frames[0].file.clone_from(&long);
    report.sites[0].location.as_mut().unwrap().file.clone_from(&long);
    report.findings[0].location.as_mut().unwrap().file = long;
    for line in plain(&report).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn colour_adds_escapes_and_nothing_else() {
    let look = Look { styles: Styles::colored(), ..Look::default() };
    let colored = render(&full(), Format::Terminal, look).unwrap();
    assert!(colored.contains("\u{1b}["));
    assert_eq!(without_escapes(&colored), plain(&full()));
}

fn without_escapes(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |plain, piece| plain + piece.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn json_has_the_keys_of_the_contract_with_plain_integers() {
    let value: serde_json::Value = serde_json::from_str(&written(&full(), Format::Json)).unwrap();
    let cases = [
        ("/version", serde_json::json!("0.1.0")),
        ("/torch", serde_json::json!("2.11.0+cu130")),
        ("/gpu/name", serde_json::json!("NVIDIA GeForce RTX 4090")),
        ("/gpu/total_bytes", serde_json::json!(24_200u64 << 20)),
        ("/verdict", serde_json::json!("oom")),
        ("/steps", serde_json::json!(0)),
        ("/peak/allocated_bytes", serde_json::json!(2048u64 << 20)),
        ("/peak/reserved_bytes", serde_json::json!(2560u64 << 20)),
        ("/peak/device_bytes", serde_json::json!(3000u64 << 20)),
        ("/peak/phase", serde_json::json!("backward")),
        ("/need/device_bytes", serde_json::json!(27_040u64 << 20)),
        ("/oom/requested_bytes", serde_json::json!(2048u64 << 20)),
        ("/oom/step", serde_json::json!(1)),
        ("/oom/phase", serde_json::json!("forward")),
        ("/breakdown/0/category", serde_json::json!("activations")),
        ("/breakdown/0/bytes", serde_json::json!(1280u64 << 20)),
        ("/sites/0/count", serde_json::json!(12)),
        ("/sites/0/frames/1/line", serde_json::json!(41)),
        ("/findings/0/rule", serde_json::json!("growing-collection")),
        ("/findings/0/severity", serde_json::json!("warning")),
        ("/findings/0/location/column", serde_json::Value::Null),
        ("/findings/0/evidence/0/value", serde_json::json!(512)),
        ("/findings/0/remedies/0/standing", serde_json::json!("estimated")),
        ("/assumptions/0/id", serde_json::json!("cudnn-convolution-workspace")),
        ("/ranks/1/rank", serde_json::json!(1)),
        ("/seconds", serde_json::json!(4.25)),
    ];
    for (pointer, expected) in cases {
        assert_eq!(value.pointer(pointer), Some(&expected), "{pointer}");
    }
}

#[test]
fn an_incomplete_run_says_why_and_has_null_where_nothing_is_known() {
    let reason = "stopped after 60 s".to_owned();
    let report = CheckReport { verdict: Verdict::Incomplete { reason, spare_bytes: 0 }, torch: None, ..fits() };
    let value: serde_json::Value = serde_json::from_str(&written(&report, Format::Json)).unwrap();
    assert_eq!(value["verdict"], "incomplete");
    assert_eq!(value["reason"], "stopped after 60 s");
    assert!(value["torch"].is_null() && value["oom"].is_null());
    assert!(plain(&report).starts_with("incomplete: stopped after 60 s\n"));
}

#[test]
fn concise_lines_stand_alone() {
    let cases = [
        (fits(), "fits RTX 4090: 20.70 GiB to spare (takes 2.93 of 23.63 GiB)\n"),
        (
            full(),
            "does not fit 2 × RTX 4090: needs 26.41 GiB on the fullest, has 23.63: 2.77 GiB too little. \
             Largest: activations 1.25 GiB, of these 1.00 GiB at train.py:41.\n\
             train.py:60: warning[growing-collection] each step leaves 512 B behind, made at train.py:60\n",
        ),
    ];
    for (report, expected) in cases {
        assert_eq!(written(&report, Format::Concise), expected);
    }
}

#[test]
fn github_shows_the_verdict_and_each_finding_at_its_line() {
    let notice = "::notice title=oomph check::fits RTX 4090: 20.70 GiB to spare (takes 2.93 of 23.63 GiB)\n";
    let verdict = "::error title=oomph check::does not fit 2 × RTX 4090: needs 26.41 GiB on the fullest, has 23.63: \
                   2.77 GiB too little. Largest: activations 1.25 GiB, of these 1.00 GiB at train.py:41.\n";
    let finding = "::warning file=train.py,line=60,title=growing-collection::each step leaves 512 B behind, made at \
                   train.py:60%0Akeep the number, not the tensor: losses.append(loss.item())\n";
    assert_eq!(written(&fits(), Format::Github), notice);
    assert_eq!(written(&full(), Format::Github), verdict.to_owned() + finding);
}

#[test]
fn markdown_is_a_heading_and_a_list() {
    let fits_text = "### oomph check: fits RTX 4090: 20.70 GiB to spare (takes 2.93 of 23.63 GiB)\n";
    let verdict = "### oomph check: does not fit 2 × RTX 4090: needs 26.41 GiB on the fullest, has 23.63: 2.77 GiB too \
                   little. Largest: activations 1.25 GiB, of these 1.00 GiB at train.py:41.\n\n";
    let finding = "- **warning** `growing-collection` `train.py:60` each step leaves 512 B behind, made at train.py:60\n  \
                   - keep the number, not the tensor: `losses.append(loss.item())`\n";
    assert_eq!(written(&fits(), Format::Markdown), fits_text);
    assert_eq!(written(&full(), Format::Markdown), verdict.to_owned() + finding);
}

#[test]
fn reports_are_read_back() {
    let filling = Filling { place: Place::default(), breakdown: full().breakdown, sites: full().sites };
    reread::check(&fits());
    reread::check(&full());
    reread::check(&CheckReport { need: Need { filling: Some(filling), ..full().need }, ..full() });
}

#[test]
fn a_stopped_program_without_a_step_is_incomplete_with_its_memory() {
    let stopped = Stopped {
        by: StopCause::Timeout,
        after_seconds: 60.0,
        step: Some(1),
        phase: Some(Phase::Forward),
        module: None,
        location: Some(at(33)),
    };
    let usage = Usage { device_bytes: Bytes::from_gib(8), reserved_bytes: Bytes::from_gib(7), ..Usage::default() };
    let report = CheckReport {
        verdict: Verdict::Incomplete { reason: "the program was stopped".to_owned(), spare_bytes: 1 },
        peak: Peak { usage, place: Place::default() },
        stop: Some(stopped),
        unapplied: Vec::new(),
        ..full()
    };
    let look = Look { detail: Detail::Full, ..Look::default() };
    let text = render(&report, Format::Terminal, look).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with("incomplete: the program was stopped; 8.00 GiB of 23.63 GiB so far"), "{text}");
    // A killed process left no counters of PyTorch's.
    assert!(text.contains("peak 8.00 GiB on the device (7.00 GiB reserved)"), "{text}");
}

#[test]
fn a_need_that_was_not_seen_whole_is_a_lower_bound_in_every_format() {
    let mut report = full();
    report.need.at_least = Some("in the run without a limit the program raised ValueError at train.py:9".to_owned());
    let words = "at least 26.41 GiB on the device (25.39 GiB allocated, 25.98 GiB reserved)";
    assert!(html::check(&report, &RunPicture::default()).contains(words));
    assert!(plain(&report).contains("needs    at least 26.41 GiB on the device"), "{}", plain(&report));
    assert!(!written(&report, Format::Concise).contains("needs 26.41 GiB"));
    let json: serde_json::Value = serde_json::from_str(&written(&report, Format::Json)).unwrap();
    assert_eq!(json["need"]["at_least"].as_str(), report.need.at_least.as_deref());
}

#[test]
fn the_page_says_what_the_terminal_says() {
    let mut report = full();
    report.notes = vec![Remark::note("<script>alert(1)</script>".to_owned())];
    let page = html::check(&report, &RunPicture::default());
    for words in [
        "does not fit 2 × RTX 4090: needs 26.41 GiB on the fullest, has 23.63: 2.77 GiB too little.",
        "26.41 GiB on the device (25.39 GiB allocated, 25.98 GiB reserved)",
        "each step leaves 512 B behind",
        "peak 2.00 GiB → 1.95 GiB",
        "train.py:41",
        "rank 1",
        "At the peak of allocated memory",
        "Made by these lines (alive at the peak, largest first)",
        "in torch/nn/modules/linear.py:134 forward",
        "(cudnn-convolution-workspace, up to 64.00 MiB)",
        "&lt;script&gt;alert(1)",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("<script"));
}

/// A run of two devices, of which the first grows to 20 GiB.
fn drawn(is_unlimited: bool) -> RunPicture {
    let point = |event, mib| TotalsPoint {
        event,
        time_us: None,
        allocated_bytes: Bytes::from_mib(mib),
        reserved_bytes: Bytes::from_mib(mib),
    };
    let picture = Picture { totals: vec![point(0, 512), point(7, 20_480)], ..Picture::default() };
    let peak = HistoryPeak { allocated_bytes: Bytes::from_mib(20_480), event: Some(7), ..HistoryPeak::default() };
    let device = |rank| DevicePicture {
        rank,
        events: 8,
        peak: peak.clone(),
        picture: picture.clone(),
        ..DevicePicture::default()
    };
    let part = |holder, mib| MemoryPart { holder, bytes: Bytes::from_mib(mib) };
    let parts = vec![part(Holder::Allocated(Some(Contents::Activations)), 26_000), part(Holder::OutsidePytorch, 1040)];
    let when = "at the need, without a limit".to_owned();
    let memory = DeviceMemory::new(Bytes::from_mib(27_040), Extent::Used, when, parts).ok();
    RunPicture { is_unlimited, memory, devices: vec![device(3), device(0)] }
}

/// The data that the script of a page draws.
fn page_data(page: &str) -> serde_json::Value {
    let data = page.split("id=\"page-data\">").nth(1).and_then(|rest| rest.split("</script>").next());
    serde_json::from_str(data.unwrap()).unwrap()
}

#[test]
fn the_page_draws_the_run_whose_peak_is_the_need() {
    let filling = Filling { sites: vec![site(24_000, 2, 41)], ..Filling::default() };
    let report = CheckReport { need: Need { filling: Some(filling), ..full().need }, ..full() };
    let page = html::check(&report, &drawn(true));
    for words in [
        "Where the memory in use was at the need, without a limit",
        "Memory over time</h2>\n<p class=\"summary\">The run without a limit, whose peak is the need.</p>",
        "Segments at the peak",
        "In 8 events at most 20.00 GiB were allocated",
        "Allocated at these lines (alive at the need, largest first)",
        "<th scope=\"row\">rank 3, cuda:0</th>",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let data = page_data(&page);
    let names: Vec<&serde_json::Value> =
        data["devices"].as_array().unwrap().iter().map(|device| &device["name"]).collect();
    assert_eq!(names, ["rank 3, cuda:0", "rank 0, cuda:0"]);
    assert_eq!(data["devices"][0]["total_words"], "the CUDA context leaves");
    assert_eq!(data["devices"][0]["total_bytes"], 23_760u64 << 20);
    assert_eq!(data["devices"][0]["columns"]["total.event"]["length"], 2);
}

#[test]
fn the_page_names_the_gpu_of_a_run_within_its_limit() {
    let page = html::check(&fits(), &drawn(false));
    assert!(page.contains("<p class=\"summary\">The run on NVIDIA GeForce RTX 4090.</p>"));
    assert!(!page.contains("At the need"));
}
