//! Actions of remedies as JSON, as the agent's functions write them.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use serde_json::{Value, json};
use trace::run::{RemedyAction, RemedyRecord};

#[test]
fn every_kind_is_read_as_the_agent_writes_it() {
    for kind in RemedyAction::KINDS {
        let mut object = json!({"kind": kind.name});
        for (name, python) in kind.fields {
            object[name] = match *python {
                "str" => json!("a"),
                "int" => json!(4),
                _ => json!(["a", "b"]),
            };
        }
        let action: RemedyAction = serde_json::from_value(object.clone()).unwrap();
        assert_eq!(serde_json::to_value(action).unwrap(), object);
    }
}

#[test]
fn a_record_holds_an_action_where_the_remedy_took_effect() {
    let read = |action: Value| -> Option<RemedyAction> {
        let mut record = json!({"kind": "remedy", "remedy": "gradient-accumulation", "applied": true, "text": "", "file": "", "line": 1});
        record.as_object_mut().unwrap().extend(action.as_object().unwrap().clone());
        let record: RemedyRecord = serde_json::from_value(record).unwrap();
        record.action
    };
    assert_eq!(read(json!({})), None);
    assert_eq!(read(json!({"action": {"kind": "scale-loss", "steps": 4}})), Some(RemedyAction::ScaleLoss { steps: 4 }));
}
