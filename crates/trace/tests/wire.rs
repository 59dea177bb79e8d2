//! The records of the contract (`wire`), read back: the phantom's writer against the reader, and the agent's records as the table has them.
#![expect(clippy::unwrap_used, reason = "a test")]

use serde_json::Value;
use trace::Record;
use trace::run::{read_phantom_records, read_records};
use wire::record::{JOURNAL, JournalEntry, MARKS, Presence, TAG};

#[test]
fn every_entry_of_the_phantoms_journal_is_read_as_it_was_written() {
    let text = "a \"quoted\"\\ text,\nand a second line: 2 × \u{1}";
    let cases = [
        JournalEntry::Phantom { pid: 7, devices: 2, total_bytes: 1 << 40 },
        JournalEntry::Memory { device: 1, owner: text, delta: -512, used_bytes: u64::MAX },
        JournalEntry::Refused { device: 0, owner: text, bytes: 3 },
        JournalEntry::Workspace { library: text, address: 1 << 44, bytes: 9 },
        JournalEntry::Assumption { id: "x", text, bytes: 0 },
        JournalEntry::Missing { symbol: text },
    ];
    assert_eq!(cases.len(), JOURNAL.len(), "one case for each kind");
    for entry in cases {
        let (records, problems) = read_phantom_records(format!("{entry}\n").as_bytes());
        assert_eq!((records.len(), problems), (1, Vec::new()), "{entry}");
        let written: Value = serde_json::from_str(&entry.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&records[0]).unwrap(), written);
    }
}

fn read(line: &str) -> Record {
    let (mut records, problems) = read_records(line.as_bytes());
    assert_eq!(problems, [], "{line}");
    records.remove(0)
}

#[test]
fn the_agents_records_have_the_keys_of_the_contract_and_no_others() {
    for kind in MARKS {
        let line = kind.sample(|_| true);
        let written: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(written[TAG], kind.tag);
        assert_eq!(serde_json::to_value(read(&line)).unwrap(), written);
    }
}

#[test]
fn keys_that_came_later_and_optional_keys_may_be_absent() {
    for kind in MARKS {
        let line = kind.sample(|key| key.presence == Presence::Always);
        let with_others = kind.sample(|_| true);
        let is_same = kind.keys.iter().all(|key| key.presence == Presence::Always);
        assert_eq!(read(&line) == read(&with_others), is_same, "{line}");
    }
}
