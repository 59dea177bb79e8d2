//! Messages alone: the first line of the table that holds decides (Note [Messages] in `rules/message_numbers.rs`), on both sides of its borders.

use trace::Bytes;
use trace::text::{StatedBytes, StatedOom};

use super::{gib, of_texts, rules, stated, with_others};

/// The first finding about a message, by a device of 23.64 GiB.
fn check(oom: StatedOom, expected: &str) {
    let report = of_texts(vec![oom]);
    assert_eq!(rules(&report).first(), Some(&expected), "{:#?}", report.findings);
}

#[test]
fn a_request_with_room_on_the_device_is_unclear_or_limited() {
    check(stated(0.02, 1.0, 22.4, 22.0, 0.1), "unclear");
    let report = of_texts(vec![stated(0.02, 1.0, 22.4, 22.0, 0.1)]);
    assert_eq!(report.findings[0].message, "20.48 MiB were refused with 1.00 GiB of the device free");
    let limited = |limit| StatedOom { allowed_bytes: gib(limit), ..stated(0.5, 11.0, 12.5, 11.8, 0.1) };
    check(limited(12.0), "small-gpu-fraction");
    check(limited(13.0), "unclear");
}

#[test]
fn half_of_the_device_is_one_request() {
    check(stated(11.9, 4.0, 19.5, 18.9, 0.1), "one-huge-request");
    check(stated(11.7, 4.0, 19.5, 18.9, 0.1), "need-exceeds-device");
}

#[test]
fn a_tenth_of_the_device_in_the_cache_is_fragmentation() {
    check(stated(1.0, 0.2, 23.3, 20.2, 2.5), "fragmentation");
    check(stated(1.0, 0.2, 23.3, 21.4, 1.3), "need-exceeds-device");
    // Less than a percent of the device: the tensors fill it.
    check(StatedOom { process_bytes: None, ..stated(0.02, 0.01, 0.0, 22.63, 0.18) }, "need-exceeds-device");
}

#[test]
fn others_have_what_the_request_lacks() {
    check(with_others(stated(0.5, 0.2, 19.3, 18.5, 0.3), &[(1234, 4.1)]), "other-process-memory");
    check(with_others(stated(0.5, 0.2, 21.4, 20.6, 0.3), &[(1234, 2.0)]), "need-exceeds-device");
    // Even the whole device is too small.
    check(with_others(stated(6.0, 0.2, 19.3, 18.5, 0.3), &[(1234, 4.1)]), "need-exceeds-device");
    // In a container, the own process is listed as another one.
    check(with_others(stated(1.0, 0.1, 22.9, 22.3, 0.1), &[(12, 22.9)]), "need-exceeds-device");
}

#[test]
fn memory_that_no_figure_explains_is_of_others() {
    let alone = |allocated| StatedOom { process_bytes: None, ..stated(0.5, 0.1, 0.0, allocated, 0.2) };
    check(alone(16.0), "other-process-memory");
    check(alone(22.4), "need-exceeds-device");
}

#[test]
fn a_process_has_memory_outside_pytorch() {
    check(stated(1.0, 0.2, 23.3, 20.0, 0.1), "non-pytorch-memory");
    check(stated(1.0, 0.2, 23.3, 21.9, 0.1), "need-exceeds-device");
}

#[test]
fn the_sum_is_in_the_evidence() {
    let report = of_texts(vec![with_others(stated(0.5, 0.2, 19.3, 18.5, 0.3), &[(1234, 4.1)])]);
    let rows: Vec<String> = report.findings[0].evidence.iter().map(|row| row.value.to_string()).collect();
    let sum = "18.50 GiB allocated + 512.00 MiB requested + 512.00 MiB outside PyTorch + 4.10 GiB of other processes";
    assert!(rows.iter().any(|row| row.starts_with(sum)), "{rows:?}");
}

/// An amount as public issues have it.
fn stated_bytes(words: &str) -> Option<StatedBytes> {
    let (number, unit) = words.split_once(' ')?;
    let unit = if unit == "GiB" { f64::from(1 << 30) } else { f64::from(1 << 20) };
    let bytes = format!("{:.0}", number.parse::<f64>().ok()? * unit).parse().ok()?;
    Some(Bytes(bytes).into())
}

/// Figures of public issues, and the cause by the table, worked out by hand before the table was run on them. Request, device, allocated, free, and
/// reserved less allocated.
#[test]
fn figures_of_public_issues() {
    let cases = [
        ("pytorch/pytorch#59778", ["2.26 GiB", "6.00 GiB", "781.59 MiB", "3.03 GiB", "488.17 MiB"], "unclear"),
        ("OPIXray#5", ["264.00 MiB", "2.00 GiB", "788.51 MiB", "145.93 MiB", "255.97 MiB"], "fragmentation"),
        ("Zero-DCE#52", ["1.71 GiB", "6.00 GiB", "3.49 GiB", "1.04 GiB", "0.01 GiB"], "unclear"),
        ("NeuroLens#2", ["55.57 GiB", "12.00 GiB", "984.52 MiB", "9.02 GiB", "463.48 MiB"], "one-huge-request"),
        ("GenerativeGraph#5", ["1.00 MiB", "11.17 GiB", "10.90 GiB", "0.56 MiB", "30.96 MiB"], "need-exceeds-device"),
        ("stable-diffusion#702", ["192.00 MiB", "4.00 GiB", "3.08 GiB", "0 MiB", "0.39 GiB"], "unclear"),
        ("MGFN#35", ["1.70 GiB", "6.00 GiB", "2.93 GiB", "0 MiB", "2.30 GiB"], "fragmentation"),
        ("sd-webui-replacer#74", ["27.12 GiB", "11.99 GiB", "16.16 GiB", "0 MiB", "144.59 MiB"], "one-huge-request"),
        ("pytorch/pytorch#16417", ["12.50 MiB", "10.92 GiB", "8.57 MiB", "9.28 GiB", "4.68 MiB"], "unclear"),
        ("vdsr_pytorch#2", ["512.00 MiB", "15.90 GiB", "13.13 GiB", "415.88 MiB", "1.67 GiB"], "fragmentation"),
        ("MADDoG#11", ["2.87 GiB", "14.76 GiB", "8.77 GiB", "19.75 MiB", "4.94 GiB"], "fragmentation"),
        ("mmsegmentation#944", ["1006.00 MiB", "10.91 GiB", "9.18 GiB", "569.81 MiB", "0.31 GiB"], "unclear"),
        ("FastFlow#4", ["74.00 MiB", "11.91 GiB", "10.79 GiB", "12.94 MiB", "0.42 GiB"], "need-exceeds-device"),
    ];
    for (issue, figures, expected) in cases {
        let [requested, total, allocated, free, cached] = figures.map(stated_bytes);
        let oom = StatedOom {
            requested_bytes: requested,
            total_bytes: total,
            allocated_bytes: allocated,
            free_bytes: free,
            reserved_unallocated_bytes: cached,
            message: issue.to_owned(),
            ..StatedOom::default()
        };
        check(oom, expected);
    }
}

#[test]
fn what_no_figure_explains_is_said() {
    let report = of_texts(vec![StatedOom { process_bytes: None, ..stated(1.0, 0.5, 0.0, 20.0, 0.3) }]);
    assert_eq!(rules(&report)[0], "unclear");
    let message = &report.findings[0].message;
    assert!(
        message.starts_with("20.00 GiB allocated and 1.00 GiB requested are 21.00 GiB of 23.64 GiB; 2.84 GiB are"),
        "{message}"
    );
}
