//! Reading reports back: reports of any content, documents of other versions, and refused documents with the place of
//! the problem.
#![expect(clippy::unwrap_used, reason = "test")]

use causes::CauseId;
use proptest::prelude::*;
use report::document::{JsonReport, ReadError, read};
use report::explain::{DeviceMemory, ExplainReport, Extent, Holder, MemoryPart};
use report::fit::FitReport;
use report::render::json::write;
use report::{
    Assumption, Breakdown, Caught, CheckReport, Condition, Contents, Evidence, Finding, Gpu, Growth, LifeReport,
    Location, Need, Oom, Part, Peak, Place, Recovery, Remark, Remedy, ScannedBatches, Severity, ShortenedLoop, Site,
    SiteFrame, SizeSearch, StageUse, Standing, Stopped, Then, Usage, Value, ValueShape, Verdict,
};
use serde::de::DeserializeOwned;
use serde_json::json;
use trace::run::StopCause;
use trace::{Bytes, Phase, ShortenedReason};

/// The values that a strategy draws for a report.
#[derive(Clone, Debug)]
struct Draw {
    text: String,
    bytes: u64,
    negative: i64,
    number: u32,
    ratio: f64,
    is_set: bool,
    kind: u8,
}

fn draws() -> impl Strategy<Value = Draw> {
    let ratio = prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL;
    // The spare memory has a sign, so that sizes have 63 bits.
    (any::<String>(), 0..1u64 << 63, any::<i64>(), any::<u32>(), ratio, any::<bool>(), 0..6u8).prop_map(
        |(text, bytes, negative, number, ratio, is_set, kind)| Draw {
            text,
            bytes,
            negative,
            number,
            ratio,
            is_set,
            kind,
        },
    )
}

impl Draw {
    fn text(&self) -> String {
        self.text.clone()
    }

    /// The value, in half of all reports.
    fn maybe<T>(&self, value: T) -> Option<T> {
        self.is_set.then_some(value)
    }

    fn location(&self) -> Location {
        Location { file: self.text(), line: self.number, column: self.maybe(self.number) }
    }

    fn usage(&self) -> Usage {
        let [allocated_bytes, reserved_bytes, device_bytes] = [1, 2, 3].map(|part| Bytes(self.bytes / part));
        Usage { allocated_bytes, reserved_bytes, device_bytes }
    }

    fn place(&self) -> Place {
        let phases = [Phase::Setup, Phase::Data, Phase::Forward, Phase::Backward, Phase::Optimizer, Phase::Other];
        let phase = self.maybe(phases[usize::from(self.kind)]);
        let (module, root) = (self.maybe(self.text()), self.maybe(self.text()));
        Place { step: self.maybe(self.number), phase, stage: self.maybe(trace::LifeStage::Evaluation), module, root }
    }

    fn breakdown(&self) -> Breakdown {
        let part = |category, divisor| Part { category, bytes: Bytes(self.bytes / divisor) };
        let parts = vec![part(Contents::OptimizerState, 2), part(Contents::Unattributed, 3)];
        Breakdown::new(parts.iter().map(|part| part.bytes).sum(), parts).unwrap()
    }

    fn site(&self) -> Site {
        let frame = SiteFrame { function: self.text(), file: self.text(), line: self.number, own: self.is_set };
        Site {
            bytes: Bytes(self.bytes),
            count: self.bytes,
            category: Contents::Activations,
            location: self.maybe(self.location()),
            frames: vec![frame],
            place: self.place(),
        }
    }

    fn verdict(&self) -> Verdict {
        let search = SizeSearch {
            lowers: Some(self.text()),
            tried: vec![64, 32],
            settled: Some(16),
            caught_at: self.location(),
            errors: self.bytes,
            recovery: Recovery::OtherWay,
            refused_at: Some(self.location()),
        };
        let spare_bytes = Bytes(self.bytes);
        match self.kind % 4 {
            0 => Verdict::Fits { spare_bytes, search: self.maybe(search) },
            3 => Verdict::FitsSoFar {
                spare_bytes,
                search: self.maybe(search),
                stopped: self.maybe(self.text()),
                conditions: vec![
                    Condition::NotRun { what: self.text(), location: self.maybe(self.location()) },
                    Condition::Growing {
                        bytes_per_step: Bytes(self.bytes),
                        location: self.maybe(self.location()),
                        full_at: self.maybe(self.number),
                    },
                    Condition::Untrained { bytes: Bytes(self.bytes) },
                    Condition::Rising,
                ],
            },
            1 => Verdict::Oom { spare_bytes: self.negative, assumed: Vec::new() },
            _ => Verdict::Incomplete { reason: self.text(), spare_bytes: self.negative },
        }
    }

    fn stopped(&self) -> Stopped {
        let causes = [StopCause::Interrupt, StopCause::Terminate, StopCause::Hangup, StopCause::Timeout];
        Stopped {
            by: causes[usize::from(self.kind) % causes.len()],
            after_seconds: f64::from(self.number),
            step: self.maybe(self.number),
            phase: self.maybe(Phase::Forward),
            module: self.maybe(self.text()),
            location: self.maybe(self.location()),
        }
    }

    fn oom(&self) -> Oom {
        let then = match self.kind % 3 {
            0 => Then::WentOn { steps: self.number },
            1 => Then::Ended { status: None },
            _ => Then::Ended { status: Some(-1) },
        };
        Oom {
            requested_bytes: self.maybe(Bytes(self.bytes)),
            rank: self.maybe(self.number),
            place: self.place(),
            location: self.maybe(self.location()),
            message: self.text(),
            caught: self.maybe(Caught { location: self.maybe(self.location()), errors: self.bytes, then }),
        }
    }

    fn finding(&self) -> Finding {
        let value = match self.kind % 3 {
            0 => Value::Bytes(Bytes(self.bytes)),
            1 => Value::Count(self.bytes),
            _ => Value::Text(self.text()),
        };
        Finding {
            without: None,
            rule: if self.is_set { CauseId::GrowingCollection } else { CauseId::Fragmentation },
            severity: if self.is_set { Severity::Error } else { Severity::Info },
            message: self.text(),
            location: self.maybe(self.location()),
            evidence: vec![Evidence { what: self.text(), value, source: self.text().into() }],
            remedies: vec![Remedy {
                remedy: self.text(),
                standing: Standing::Advice,
                before_bytes: self.maybe(Bytes(self.bytes)),
                after_bytes: None,
                how: self.text(),
            }],
        }
    }

    fn need(&self) -> Need {
        let filling = report::Filling { place: self.place(), breakdown: self.breakdown(), sites: vec![self.site()] };
        Need {
            usage: self.usage(),
            unlimited_bytes: self.maybe(Bytes(7)),
            expandable_bytes: None,
            at_least: self.maybe(self.text()),
            filling: self.maybe(filling),
        }
    }

    fn life(&self) -> LifeReport {
        let stage = StageUse {
            stage: trace::LifeStage::WorstBatches,
            step: self.maybe(self.number),
            begins_step: None,
            peak_allocated_bytes: Bytes(self.bytes),
            peak_reserved_bytes: Bytes(self.bytes),
            peak_device_bytes: Bytes(self.bytes),
            only_there_bytes: Bytes(0),
            only_there_location: None,
            location: self.maybe(self.location()),
            begins_at: self.maybe(self.location()),
            fits: self.maybe(self.is_set),
        };
        let shortened = ShortenedLoop {
            location: self.maybe(self.location()),
            passes: self.bytes,
            total: self.maybe(self.bytes),
            reason: ShortenedReason::Largest,
        };
        let batches = ScannedBatches {
            location: None,
            scanned: self.bytes,
            total: self.maybe(self.bytes),
            largest: self.maybe(self.bytes),
            shape: self.text(),
            bound: self.text(),
        };
        LifeReport { stages: vec![stage], shortened: vec![shortened], batches: vec![batches] }
    }

    fn report(&self) -> CheckReport {
        let growth = Growth {
            keeper: None,
            loop_at: self.maybe(Location { file: self.text(), line: self.number, column: None }),
            bytes_per_iteration: Bytes(self.bytes),
            first_iteration: self.number,
            of_iterations: self.maybe(self.bytes),
            full_at: self.maybe(self.number),
            location: None,
        };
        CheckReport {
            life: self.life(),
            mistake: None,
            made_up_data: Vec::new(),
            unapplied: Vec::new(),
            version: self.text(),
            torch: self.maybe(self.text()),
            gpu: Gpu {
                name: self.text(),
                total_bytes: Bytes(self.bytes),
                others_bytes: Bytes::ZERO,
                context_bytes: Bytes(1),
                usable_bytes: Bytes(0),
                assumed: self.is_set,
            },
            verdict: self.verdict(),
            steps: self.number,
            only_first_step: self.is_set,
            untrained_bytes: self.maybe(Bytes(self.bytes)),
            peak: Peak { usage: self.usage(), place: self.place() },
            need: self.need(),
            oom: self.maybe(self.oom()),
            breakdown: self.breakdown(),
            sites: vec![self.site()],
            growth: self.maybe(growth),
            stop: self.maybe(self.stopped()),
            findings: vec![self.finding()],
            assumptions: vec![Assumption { id: self.text(), text: self.text(), bytes: Bytes(self.bytes) }],
            value_shapes: vec![ValueShape {
                op: self.text(),
                location: self.location(),
                count: self.bytes,
                fraction: self.ratio,
            }],
            ranks: Vec::new(),
            notes: vec![Remark::note(self.text())],
            effects: None,
            seconds: self.ratio,
            next: self.maybe(vec![self.text(), self.text()]),
            larger: None,
            folder: self.text(),
        }
    }
}

proptest! {
    #[test]
    fn any_report_is_read_back_as_it_was_written(draw in draws()) {
        let text = write(&draw.report()).unwrap();
        let again: CheckReport = read(text.as_bytes()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(write(&again).unwrap(), text);
    }

    #[test]
    fn no_bytes_make_reading_panic(bytes in any::<Vec<u8>>(), text in "[\\[\\]{}\":,0-9a-z_.-]{0,60}") {
        prop_assert!(read::<CheckReport>(&bytes).is_err());
        prop_assert!(read::<ExplainReport>(text.as_bytes()).is_err());
    }
}

fn text() -> String {
    write(&ExplainReport { version: "0.1.0".to_owned(), ..ExplainReport::default() }).unwrap()
}

#[test]
fn a_document_of_this_version_or_without_a_version_is_read() {
    let without = text().replacen("\"schema_version\": 1,", "", 1);
    for text in [text(), without, text().replacen('{', "{\"a key of a later oomph\": [1],", 1)] {
        assert_eq!(read::<ExplainReport>(text.as_bytes()).unwrap().version, "0.1.0");
    }
}

#[test]
fn a_document_of_a_newer_version_is_refused_whatever_it_holds() {
    for text in
        [text().replacen("\"schema_version\": 1", "\"schema_version\": 2", 1), r#"{"schema_version": 2}"#.to_owned()]
    {
        let error = read::<ExplainReport>(text.as_bytes()).unwrap_err();
        assert!(matches!(error, ReadError::Newer { found: 2, newest: 1 }), "{error}");
        let expected = "the report has schema_version 2, this oomph reads up to 1: a newer oomph wrote it";
        assert_eq!(error.to_string(), expected);
    }
}

/// Checks that a document is refused with a place and a text.
fn check_refused<R: JsonReport + DeserializeOwned>(document: &str, path: &str, problem: &str) {
    match read::<R>(document.as_bytes()) {
        Err(ReadError::Content { path: found, source, .. }) => {
            assert_eq!(found, path, "{source}");
            assert!(source.to_string().contains(problem), "{source}");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("{document} was read"),
    }
}

/// The document of an empty `explain` report with another value under a key.
fn with(key: &str, value: serde_json::Value) -> String {
    let mut document: serde_json::Value = serde_json::from_str(&text()).unwrap();
    document[key] = value;
    document.to_string()
}

#[test]
fn a_refusal_names_the_place_in_the_document() {
    check_refused::<CheckReport>("", ".", "EOF while parsing");
    check_refused::<CheckReport>("{}", ".", "missing field `version`");
    check_refused::<CheckReport>("{} {}", ".", "trailing characters");
    check_refused::<ExplainReport>("{} {}", ".", "trailing characters");
    check_refused::<FitReport>(r#"{"schema_version": -1}"#, "schema_version", "expected u64");
    check_refused::<FitReport>(r#"{"version": 1}"#, "version", "expected a string");
    check_refused::<ExplainReport>(&with("notes", json!(["a", 1])), "notes[1]", "expected a string");
    let input = json!({"path": "a", "kind": "film", "torch": null, "rank": null});
    check_refused::<ExplainReport>(&with("inputs", json!([input])), "inputs[0].kind", "unknown variant `film`");
    let memory = json!({"total_bytes": 2, "extent": "device", "when": "", "parts": [{"holder": "free", "bytes": 1}]});
    check_refused::<ExplainReport>(
        &with("memory", memory),
        "memory",
        "the parts add up to 1 bytes, expected the total of 2",
    );
    let deep = "[".repeat(100_000);
    check_refused::<ExplainReport>(&text().replacen("[]", &deep, 1), "inputs", "expected value");
}

#[test]
fn the_holders_of_memory_are_read_back() {
    let parts = [(Holder::Allocated(None), 1), (Holder::Allocated(Some(Contents::Inputs)), 2), (Holder::Free, 4)];
    let parts = parts.map(|(holder, bytes)| MemoryPart { holder, bytes: Bytes(bytes) }).to_vec();
    let memory = DeviceMemory::new(Bytes(7), Extent::Allowed, "at the error".to_owned(), parts).unwrap();
    let report = ExplainReport { memory: Some(memory), ..ExplainReport::default() };
    let again: ExplainReport = read(write(&report).unwrap().as_bytes()).unwrap();
    assert_eq!(again, report);
}
