//! The records of the contract (`wire`), read back: the phantom's writer against the reader, and the keys of the agent's records.
#![expect(clippy::unwrap_used, reason = "a test")]

use serde_json::{Map, Value, json};
use trace::Record;
use trace::run::{PhantomRecord, read_phantom_records, read_records};
use wire::record::{DEVICE_STATS, JOURNAL, JournalEntry, MARKS, RecordKind, TAG, WORK};

#[test]
fn every_entry_of_the_phantoms_journal_is_read_as_it_was_written() {
    let text = "a \"quoted\"\\ text,\nand a second line: 2 × \u{1}";
    let owned = || text.to_owned();
    let cases = [
        (
            JournalEntry::Phantom { pid: 7, devices: 2, total_bytes: 1 << 40 },
            PhantomRecord::Phantom { pid: 7, devices: 2, total_bytes: 1 << 40 },
        ),
        (
            JournalEntry::Memory { device: 1, owner: text, delta: -512, used_bytes: u64::MAX },
            PhantomRecord::Memory { device: 1, owner: owned(), delta: -512, used_bytes: u64::MAX },
        ),
        (
            JournalEntry::Refused { device: 0, owner: text, bytes: 3 },
            PhantomRecord::Refused { device: 0, owner: owned(), bytes: 3 },
        ),
        (
            JournalEntry::Workspace { library: text, address: 1 << 44, bytes: 9 },
            PhantomRecord::Workspace { library: owned(), address: 1 << 44, bytes: 9 },
        ),
        (
            JournalEntry::Assumption { id: "x", text, bytes: 0 },
            PhantomRecord::Assumption { id: "x".to_owned(), text: owned(), bytes: 0 },
        ),
        (JournalEntry::Missing { symbol: text }, PhantomRecord::Missing { symbol: owned() }),
    ];
    assert_eq!(cases.len(), JOURNAL.len(), "one case for each kind");
    for (entry, expected) in cases {
        let (records, problems) = read_phantom_records(format!("{entry}\n").as_bytes());
        assert_eq!((records, problems), (vec![expected], Vec::new()), "{entry}");
    }
}

/// A value that the reader takes for a key of the agent's records.
fn sample(kind: &RecordKind, key: &str) -> Value {
    match (kind.tag, key) {
        (_, "argv") => json!(["train.py"]),
        (_, "ancestors") => json!([71, 1]),
        (_, "tensors") => json!([["parameter", 0, 1, 2]]),
        (_, "devices") => json!([counters(DEVICE_STATS)]),
        (_, "stats") => counters(DEVICE_STATS),
        (_, "work") => {
            let mut work = counters(WORK);
            work["flops"] = json!({"float32": 5});
            work
        }
        (_, "frames") => json!([["main", "train.py", 3]]),
        (_, "caught_at") => json!(["train.py", 7]),
        (_, "fraction") => json!(0.5),
        ("untrained", "reason") => json!("no-step"),
        (_, "phase") => json!("forward"),
        (_, "action") => json!({"kind": "scale-loss", "steps": 4}),
        (_, "applied" | "alters") | ("error", "oom") => json!(true),
        ("remedy" | "batch", "remedy")
        | ("untrained", "optimizer")
        | (
            _,
            "script_dir" | "capability" | "built_for" | "python" | "executable" | "torch" | "cuda" | "when" | "module"
            | "op" | "file" | "reason" | "id" | "text" | "source" | "name" | "lowers" | "type" | "message"
            | "traceback" | "snapshot",
        ) => json!("text"),
        _ => json!(1),
    }
}

fn counters(keys: &[&str]) -> Value {
    Value::Object(keys.iter().map(|key| ((*key).to_owned(), json!(1))).collect())
}

fn object(kind: &RecordKind) -> Map<String, Value> {
    let tag = [(TAG.to_owned(), json!(kind.tag))];
    let keys = kind.keys.iter().chain(kind.optional);
    tag.into_iter().chain(keys.map(|key| ((*key).to_owned(), sample(kind, key)))).collect()
}

fn read(object: &Map<String, Value>) -> Result<Record, String> {
    let (mut records, problems) = read_records(format!("{}\n", Value::Object(object.clone())).as_bytes());
    records.pop().ok_or_else(|| problems[0].to_string())
}

#[test]
fn the_agents_records_have_the_keys_of_the_contract_and_no_others() {
    for kind in MARKS {
        let written = object(kind);
        let record = read(&written).unwrap_or_else(|problem| panic!("{}: {problem}", kind.tag));
        assert_eq!(serde_json::to_value(&record).unwrap(), Value::Object(written), "{}", kind.tag);
    }
}

#[test]
fn optional_keys_may_be_absent() {
    for kind in MARKS {
        let mut written = object(kind);
        for key in kind.optional {
            written.remove(*key);
        }
        assert_eq!(read(&written).map(|_| ()), Ok(()), "{}", kind.tag);
    }
}
