//! A finding: what is wrong, by what evidence, and what would help. The shape that all of oomph's commands share.

use std::fmt;

use serde::Serialize;
use trace::Bytes;

/// The stable name of a rule, e.g. `growing-collection`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RuleId(pub &'static str);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// How bad it is. Ordered: the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The program fails because of it.
    Error,
    /// It costs memory, or will fail later.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Location {
    /// The file, as the interpreter names it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1; `None` where only the line is known, as in every trace.
    pub column: Option<u32>,
}

/// A value of an [`Evidence`]. In JSON a plain number or text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// An amount of memory.
    Bytes(Bytes),
    /// A number of things.
    Count(u64),
    /// Anything else.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bytes(bytes) => bytes.fmt(f),
            Value::Count(count) => count.fmt(f),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// A fact that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// What was looked at, e.g. `growth per step`.
    pub what: String,
    /// What was found.
    pub value: Value,
    /// Where it was found, e.g. `memory_stats after each step`.
    pub source: &'static str,
}

/// How well a remedy is known to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Run or replayed in this invocation, before and after.
    Verified,
    /// Computed from this run; `how` says by which reckoning.
    Estimated,
    /// Not measured on this program.
    Advice,
}

impl Standing {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Verified => "verified",
            Standing::Estimated => "estimated",
            Standing::Advice => "advice",
        }
    }
}

/// A change that lowers the peak.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remedy {
    /// What to do, in a few words.
    pub remedy: String,
    /// How well it is known to work here.
    pub standing: Standing,
    /// The peak without it; `None` for advice.
    pub before_bytes: Option<Bytes>,
    /// The peak with it; `None` for advice.
    pub after_bytes: Option<Bytes>,
    /// The change to make, and for an estimate the reckoning.
    pub how: String,
}

/// Something that is wrong, or worth knowing, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Which rule says so.
    pub rule: RuleId,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence that stands alone, without a full stop.
    pub message: String,
    /// The user's own line, where there is one.
    pub location: Option<Location>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// What would help, best first.
    pub remedies: Vec<Remedy>,
}
