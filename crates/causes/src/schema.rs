//! The JSON schema of a cause: its name, with the summary of each.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::id::CauseId;
use crate::table::TABLE;

impl JsonSchema for CauseId {
    fn schema_name() -> Cow<'static, str> {
        "Cause".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = TABLE.iter().map(|spec| json!({ "const": spec.name, "description": spec.summary }));
        let mut schema = Schema::default();
        schema.insert("description".to_owned(), json!("The name of a cause."));
        schema.insert("oneOf".to_owned(), names.collect::<Value>());
        schema
    }
}
