//! The JSON schemas of what oomph writes and reads as JSON, `docs/schema`: from the types and their doc comments.

use lint::{BaselineJson, OomphToml};
use report::against::AgainstReport;
use report::check::CheckReport;
use report::document::JsonReport;
use report::explain::ExplainReport;
use report::failure::ErrorDocument;
use report::fit::FitReport;
use report::lint::LintReport;
use report::now::NowReport;
use report::real_run::RunReport;
use report::sweep::SweepReport;
use report::top::TopReport;
use report::tune::TuneReport;
use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::output::Output;

pub(crate) fn write() -> Vec<Output> {
    vec![
        of_report::<AgainstReport>("docs/schema/against.json"),
        of_report::<CheckReport>("docs/schema/check.json"),
        Output::file(
            "docs/schema/error.json",
            to_text(&of::<ErrorDocument>("The error of a command with --json", Contract::Serialize)),
        ),
        of_report::<ExplainReport>("docs/schema/explain.json"),
        of_report::<FitReport>("docs/schema/fit.json"),
        of_report::<LintReport>("docs/schema/lint.json"),
        of_report::<NowReport>("docs/schema/now.json"),
        of_report::<RunReport>("docs/schema/run.json"),
        of_report::<TopReport>("docs/schema/top.json"),
        of_report::<SweepReport>("docs/schema/sweep.json"),
        of_report::<TuneReport>("docs/schema/tune.json"),
        Output::file("docs/schema/gpus.json", to_text(&of::<GpusAnswer>("oomph gpus --json", Contract::Serialize))),
        Output::file(
            "docs/schema/baseline.json",
            to_text(&of::<BaselineJson>("The baseline of oomph lint", Contract::Serialize)),
        ),
        Output::file("docs/schema/oomph-toml.json", to_text(&of::<OomphToml>("oomph.toml", Contract::Deserialize))),
    ]
}

/// The answer of `oomph gpus --json`: all models, or with a name one of them.
#[derive(JsonSchema, serde::Serialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema of the type is used")]
enum GpusAnswer {
    /// The named GPU.
    One(gpus::Profile),
    /// All known GPUs.
    All(Vec<gpus::Profile>),
}

/// The schema of a report, whose first properties are those of `report::Report`.
fn of_report<R: JsonReport + JsonSchema>(path: &'static str) -> Output {
    let mut schema = of::<R>(&format!("oomph {} --json", R::COMMAND), Contract::Serialize);
    for (key, value) in [("properties", json!({})), ("required", json!([]))] {
        schema.ensure_object().entry(key).or_insert(value);
    }
    for (index, (key, property)) in list_head::<R>().into_iter().enumerate() {
        if let Some(properties) = schema.get_mut("properties").and_then(|found| found.as_object_mut()) {
            properties.shift_remove(key);
            properties.shift_insert(index, key.to_owned(), property);
        }
        if let Some(required) = schema.get_mut("required").and_then(|found| found.as_array_mut()) {
            required.retain(|required| required != key);
            required.insert(index, json!(key));
        }
    }
    Output::file(path, to_text(&schema))
}

/// The properties that `report::render::json::write` adds.
fn list_head<R: JsonReport>() -> Vec<(&'static str, Value)> {
    let version = json!({
        "description": "The version of this schema: raised when a key changes its meaning or vanishes, not when a key is added.",
        "const": R::SCHEMA_VERSION,
    });
    let verdicts = R::VERDICTS.iter();
    let verdicts = verdicts.map(|(word, meaning)| json!({"type": "string", "const": word, "description": meaning}));
    let head = [
        ("schema_version", version),
        (
            "headline",
            json!({"type": "string", "description": "The answer, as the first paragraph of every format has it: for `check` the verdict with its margin, the cause and the change."}),
        ),
        ("verdict", json!({"description": "The answer in one word.", "oneOf": verdicts.collect::<Vec<_>>()})),
        (
            "spare_bytes",
            json!({
                "type": ["integer", "null"],
                "description": "The device's memory less the need: negative if the program needs more. `null` for a command without a device.",
            }),
        ),
        (
            "next",
            json!({
                "type": ["array", "null"],
                "items": {"type": "string"},
                "description": "The next command, one word each, without quotes; `null` without one.",
            }),
        ),
    ];
    head.into()
}

/// The schema of a type as it is written or read, with descriptions in the words of JSON.
fn of<T: JsonSchema>(title: &str, contract: Contract) -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.contract = contract);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(describe_in_json).transform(&mut schema);
    schema.insert("title".to_owned(), json!(title));
    schema
}

/// Doc comments have Rust's `None` for a value that is `null` in JSON, and end their lines at the width of the source.
fn describe_in_json(schema: &mut Schema) {
    let description = schema.get("description").and_then(|text| text.as_str());
    if let Some(text) = description
        .map(|text| text.replace("`None`", "`null`").replace("\n\n", "\0").replace('\n', " ").replace('\0', "\n\n"))
    {
        schema.insert("description".to_owned(), json!(text));
    }
}

fn to_text(schema: &Schema) -> String {
    format!("{:#}\n", schema.as_value())
}
