//! A finding: a problem with its evidence and remedies. All commands of oomph share the shape.

use std::borrow::Cow;
use std::fmt;

use causes::CauseId;
use serde::{Deserialize, Serialize};
use trace::Bytes;

/// The stable name of a rule of `lint`, e.g. `accumulated-graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RuleId(pub &'static str);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// The severity of a finding, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The program fails.
    Error,
    /// The program wastes memory, or fails later.
    Warning,
    /// Useful to know.
    Info,
}

impl Severity {
    /// The name in reports.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Location {
    /// The file, as the interpreter names it.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1; `None` if only the line is known, as in every trace.
    pub column: Option<u32>,
}

/// The value of a piece of evidence. In JSON a plain number or text; a number is read back as a count, since JSON states no unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// A number of things.
    Count(u64),
    /// An amount of memory.
    Bytes(Bytes),
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The quantity, e.g. `growth per step`.
    pub what: String,
    /// The value.
    pub value: Value,
    /// The source of the value, e.g. `memory_stats after each step`.
    pub source: Cow<'static, str>,
}

/// The proof that a remedy works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Run or replayed in this invocation, before and after.
    Verified,
    /// Computed from the recorded run; `how` states the computation.
    Estimated,
    /// Not measured on this program.
    Advice,
}

impl Standing {
    /// The name in reports.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Verified => "verified",
            Standing::Estimated => "estimated",
            Standing::Advice => "advice",
        }
    }
}

/// A change that lowers the peak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remedy {
    /// The change, in a few words.
    pub remedy: String,
    /// The proof that the remedy works on this program.
    pub standing: Standing,
    /// The peak without the remedy; `None` for advice.
    pub before_bytes: Option<Bytes>,
    /// The peak with the remedy; `None` for advice.
    pub after_bytes: Option<Bytes>,
    /// The change to make, and the computation of an estimate.
    pub how: String,
}

/// A problem, or a useful fact, with its evidence.
// `Rule` is the type of its name: a cause, or a `RuleId` of `lint`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding<Rule = CauseId> {
    /// The name of the pattern that was found.
    pub rule: Rule,
    /// The severity.
    pub severity: Severity,
    /// One sentence that stands alone, without a full stop.
    pub message: String,
    /// The user's line; `None` if no stack shows one.
    pub location: Option<Location>,
    /// The facts behind the finding.
    pub evidence: Vec<Evidence>,
    /// The remedies, best first.
    pub remedies: Vec<Remedy>,
    /// The recorded program without the pattern; `None` if it was not replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<Without>,
}

/// A peak that is lower by less than this part is the same.
const LEAST_SHARE: u64 = 50;

/// The recorded program without a cause, by a replay of its requests: the proof of the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Without {
    /// The peak of the allocated bytes as recorded, with the request that failed.
    pub before_bytes: Bytes,
    /// The peak without the cause.
    pub after_bytes: Bytes,
    /// The bytes that the program has free without the cause when the request fails, or at the peak.
    pub freed_bytes: Bytes,
    /// True if the request that failed is served without the cause, or not made; `None` without a failed request.
    pub served: Option<bool>,
    /// `verified` if the change is exact, else `estimated`.
    pub standing: Standing,
}

impl Without {
    /// True if the peak is lower without the cause, by 1/50 at least.
    pub fn lowers_peak(&self) -> bool {
        let less = self.before_bytes - self.after_bytes;
        less > Bytes::ZERO && less.0.saturating_mul(LEAST_SHARE) >= self.before_bytes.0
    }
}

/// The mistake in the source that causes a finding, as lint names it.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceLink {
    /// The rule of lint, and the line of the mistake.
    pub evidence: Evidence,
    /// The remedy of the mistake.
    pub remedy: Remedy,
}

impl SourceLink {
    /// Adds the links to the findings, in their order; a finding beyond the last link has none.
    pub fn join(findings: Vec<Finding>, links: Vec<Option<SourceLink>>) -> Vec<Finding> {
        let links = links.into_iter().chain(std::iter::repeat(None));
        findings.into_iter().zip(links).map(|(finding, link)| finding.with_link(link)).collect()
    }
}

impl Finding {
    fn with_link(mut self, link: Option<SourceLink>) -> Finding {
        if let Some(SourceLink { evidence, remedy }) = link {
            self.evidence.push(evidence);
            self.remedies.push(remedy);
        }
        self
    }
}
