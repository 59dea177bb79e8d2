//! Messages alone: the first line of the table that holds decides (Note [Messages] in `rules/message_numbers.rs`), on both sides of its borders.

use trace::text::StatedOom;

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
