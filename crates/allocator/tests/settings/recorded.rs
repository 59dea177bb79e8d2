//! The behaviour of real PyTorch on a text, as `tests/settings/fuzz.py` prints it, and the comparison with this parser.

use allocator::settings::{Reserve, Settings, SettingsError, Thrown};
use serde::Deserialize;
use trace::{Bytes, Release};

/// One line.
#[derive(Debug, Deserialize)]
pub(crate) struct Recorded {
    release: String,
    way: Way,
    before: Option<Values>,
    text: String,
    raised: Option<String>,
    #[serde(default)]
    message: String,
    after: Option<Values>,
}

/// The way in which PyTorch got the text.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Way {
    Set,
    Environment,
    Import,
}

/// The settings that differ from those of a new process.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Values {
    cuda_malloc_async: Option<bool>,
    max_split_size: Option<u64>,
    max_non_split_rounding: Option<u64>,
    large_segment_size: Option<u64>,
    roundup_power2_divisions: Option<[u64; 16]>,
    garbage_collection_threshold: Option<Double>,
    expandable_segments: Option<bool>,
    expandable_segments_reserve: Option<ReserveValue>,
    per_process_memory_fraction: Option<Double>,
    throw_on_cudamalloc_oom: Option<bool>,
    graph_capture_record_stream_reuse: Option<bool>,
    release_lock_on_cudamalloc: Option<bool>,
}

/// A reserve before it is turned into bytes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ReserveValue {
    Fraction(Double),
    Gib(Double),
}

/// A double, written as a text since JSON numbers may be rounded.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Double(f64);

impl TryFrom<String> for Double {
    type Error = std::num::ParseFloatError;

    fn try_from(text: String) -> Result<Double, Self::Error> {
        text.parse().map(Double)
    }
}

/// The result of a comparison.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The same result.
    Equal,
    /// PyTorch's behaviour is undefined here, so every result is accepted.
    Undefined,
    /// PyTorch's result, and this parser's.
    Different(String),
}

impl Values {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates as PyTorch does")]
    fn settings(&self) -> Settings {
        let default = Settings::default();
        let reserve = self.expandable_segments_reserve.as_ref().map(|reserve| match reserve {
            ReserveValue::Fraction(share) => Reserve::Fraction(share.0),
            ReserveValue::Gib(gib) => Reserve::Bytes(Bytes((gib.0 * f64::from(1 << 30)) as u64)),
        });
        Settings {
            cuda_malloc_async: self.cuda_malloc_async.unwrap_or_default(),
            max_split_size: self.max_split_size.filter(|&size| size != u64::MAX).map(Bytes),
            max_non_split_rounding: self.max_non_split_rounding.map_or(default.max_non_split_rounding, Bytes),
            large_segment_size: self.large_segment_size.map_or(default.large_segment_size, Bytes),
            roundup_power2_divisions: self.roundup_power2_divisions.unwrap_or_default(),
            garbage_collection_threshold: self.garbage_collection_threshold.map_or(0.0, |share| share.0),
            expandable_segments: self.expandable_segments.unwrap_or_default(),
            expandable_segments_reserve: reserve,
            per_process_memory_fraction: self.per_process_memory_fraction.map_or(1.0, |share| share.0),
            throw_on_cudamalloc_oom: self.throw_on_cudamalloc_oom.unwrap_or_default(),
            graph_capture_record_stream_reuse: self.graph_capture_record_stream_reuse.unwrap_or_default(),
            release_lock_on_cudamalloc: self.release_lock_on_cudamalloc.unwrap_or_default(),
        }
    }
}

impl Recorded {
    /// The release, from the two numbers of the version.
    pub(crate) fn release(&self) -> Option<Release> {
        let (major, minor) = self.release.split_once('.')?;
        Some(Release { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// Parses the text, and compares.
    pub(crate) fn compare(&self) -> Verdict {
        let Some(release) = self.release() else {
            return Verdict::Different(format!("what release is {:?}?", self.release));
        };
        let (outcome, left) = self.ours(release);
        match outcome {
            Err(error) if error.thrown() == Thrown::PastTheEnd => return Verdict::Undefined,
            _ if self.raised.as_deref() == Some("crash") => return Verdict::Different(self.wrong("crashed", &outcome)),
            _ => {}
        }
        let same = match (&outcome, self.raised.as_deref()) {
            (Ok(()), None) => true,
            (Err(error), Some(class)) => self.fits(error, class) && words(error.message()) == words(&self.message),
            _ => false,
        };
        if !same {
            return Verdict::Different(self.wrong(&format!("{:?} {:?}", self.raised, self.message), &outcome));
        }
        match &self.after {
            Some(after) if after.settings() != left => {
                Verdict::Different(self.wrong(&format!("{:?}", after.settings()), &format!("{left:?}")))
            }
            _ => Verdict::Equal,
        }
    }

    /// This parser's result, and the remaining settings. A forked process has loaded its libraries before.
    fn ours(&self, release: Release) -> (Result<(), SettingsError>, Settings) {
        if self.way != Way::Import {
            let mut settings = self.before.as_ref().map_or_else(Settings::default, Values::settings);
            return (settings.apply(&self.text, release), settings);
        }
        match Settings::parse(&self.text, release) {
            Ok(settings) => (Ok(()), settings),
            Err(error) => (Err(error), Settings::default()),
        }
    }

    /// Tests that the error becomes this Python exception. Exceptions of the standard library become a `RuntimeError`
    /// up to 2.9; later the Python exception depends on the function that made PyTorch read the variable.
    fn fits(&self, error: &SettingsError, class: &str) -> bool {
        let release = self.release().is_some_and(|release| release >= Release { major: 2, minor: 10 });
        let translated = match error.thrown() {
            Thrown::ValueError => return class == "ValueError",
            Thrown::AtLoad if self.way == Way::Import => return class == "terminate",
            Thrown::InvalidArgument => "ValueError",
            Thrown::OutOfRange => "IndexError",
            Thrown::Error | Thrown::AtLoad | Thrown::PastTheEnd => return class == "RuntimeError",
        };
        match self.way {
            Way::Set if release => class == translated,
            Way::Environment | Way::Import if release => class == translated || class == "RuntimeError",
            _ => class == "RuntimeError",
        }
    }

    fn wrong(&self, torch: &str, ours: &impl std::fmt::Debug) -> String {
        let Recorded { release, way, text, before, .. } = self;
        format!("{release} {way:?} {text:?}\n  before {before:?}\n  torch  {torch}\n  ours   {ours:?}")
    }
}

/// A message without PyTorch's source location, cut as in a Python exception.
fn words(message: &str) -> &str {
    let told = message.split_once("please report a bug to PyTorch. ").map_or(message, |(_, told)| told);
    told.split('\0').next().unwrap_or_default()
}
