//! Prints settings as a text.

use thiserror::Error;
use trace::{Bytes, Release};

use super::{MAX_MIB, Reserve, Settings, SettingsError};

/// The error of settings that no text of a release expresses.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("PyTorch {release} has no text for these settings: for {text:?} it {}", .refused.as_ref().map_or_else(
    || String::from("sets others"),
    |refused| format!("reports {:?}", refused.message()),
))]
pub struct Inexpressible {
    /// The release.
    pub release: Release,
    /// The closest text.
    pub text: String,
    /// PyTorch's error for the text; `None` if PyTorch reads other settings from it.
    pub refused: Option<SettingsError>,
}

impl Settings {
    /// Prints the shortest list of keys for `PYTORCH_CUDA_ALLOC_CONF` that sets these settings under a release; empty
    /// for the defaults.
    ///
    /// # Errors
    /// The release has no such text: a key or a value is unknown.
    pub fn conf(&self, release: Release) -> Result<String, Inexpressible> {
        let mut pairs = self.list_pairs();
        if self.roundup_power2_divisions != [0; 16] {
            pairs.push(write_divisions(self.roundup_power2_divisions, release));
        }
        let text = pairs.join(",");
        match Settings::parse(&text, release) {
            Ok(settings) if settings == *self => Ok(text),
            other => Err(Inexpressible { release, text, refused: other.err() }),
        }
    }

    /// A `key:value` pair for each setting, but the divisions, that differs from its default.
    fn list_pairs(&self) -> Vec<String> {
        let default = Settings::default();
        // Releases with a key for the size of large segments take their default from it; the others have the constant.
        let rounding = self.large_segment_size;
        let threshold = self.garbage_collection_threshold;
        let fraction = self.per_process_memory_fraction;
        let large = (self.large_segment_size != default.large_segment_size).then_some(self.large_segment_size);
        let rounding = (self.max_non_split_rounding != rounding).then_some(self.max_non_split_rounding);
        let values = [
            ("backend", self.cuda_malloc_async.then(|| "cudaMallocAsync".into())),
            ("expandable_segments", truth(self.expandable_segments)),
            ("expandable_segments_reserve", self.expandable_segments_reserve.map(reserve)),
            ("large_segment_size_mb", large.map(mib)),
            ("max_split_size_mb", self.max_split_size.map(mib)),
            ("max_non_split_rounding_mb", rounding.map(mib)),
            ("garbage_collection_threshold", (threshold != 0.0).then(|| double(threshold))),
            ("per_process_memory_fraction", (fraction < 1.0).then(|| double(fraction))),
            ("throw_on_cudamalloc_oom", truth(self.throw_on_cudamalloc_oom)),
            ("graph_capture_record_stream_reuse", truth(self.graph_capture_record_stream_reuse)),
            ("release_lock_on_cudamalloc", truth(self.release_lock_on_cudamalloc)),
        ];
        values.into_iter().filter_map(|(key, value)| Some(format!("{key}:{}", value?))).collect()
    }
}

/// `true`, or nothing for the default `false`.
fn truth(flag: bool) -> Option<String> {
    flag.then(|| "True".into())
}

/// Whole MiB. The largest size is printed as a negative number, the only form that some releases accept.
fn mib(bytes: Bytes) -> String {
    let mib = bytes.0 >> 20;
    if mib == MAX_MIB { "-1".into() } else { mib.to_string() }
}

/// The shorter of the two usual forms; hexadecimal for numbers too small to be read as decimals in C.
fn double(value: f64) -> String {
    if value.is_subnormal() {
        return format!("0x{:x}p-1074", value.to_bits());
    }
    let (plain, scientific) = (value.to_string(), format!("{value:e}"));
    if scientific.len() < plain.len() { scientific } else { plain }
}

/// A share, or a number of GiB.
#[expect(clippy::cast_precision_loss, reason = "what a double cannot hold is found when the text is read back")]
fn reserve(reserve: Reserve) -> String {
    match reserve {
        Reserve::Fraction(share) if share.is_subnormal() => format!("{share:e}"),
        Reserve::Fraction(share) => double(share),
        // Less than a byte: PyTorch ignores zero itself.
        Reserve::Bytes(Bytes(0)) => "1e-10G".into(),
        Reserve::Bytes(Bytes(bytes)) => format!("{}G", double(bytes as f64 / f64::from(1 << 30))),
    }
}

/// The shortest form that sets these divisions, or the plainest if no form does.
fn write_divisions(wanted: [u64; 16], release: Release) -> String {
    let first = wanted.first().copied().unwrap_or_default();
    let scalar = wanted.iter().all(|&own| own == first).then(|| first.to_string());
    let forms = std::iter::once(list(&wanted, None)).chain((0..16).map(|behind| list(&wanted, Some(behind))));
    let texts = scalar.into_iter().chain(forms).map(|form| format!("roundup_power2_divisions:{form}"));
    let gives = |text: &String| {
        Settings::parse(text, release).is_ok_and(|settings| settings.roundup_power2_divisions == wanted)
    };
    let shortest = texts.filter(gives).min_by_key(String::len);
    shortest.unwrap_or_else(|| format!("roundup_power2_divisions:{}", list(&wanted, None)))
}

/// A list: the first pair covers the leading equal intervals, then one pair for each non-zero interval; after the
/// interval `rest`, if given, `>` with the divisions of the last.
fn list(wanted: &[u64; 16], rest: Option<usize>) -> String {
    let first = wanted.iter().position(|own| Some(own) != wanted.first()).map_or(15, |differs| differs - 1);
    // Unnamed intervals are zero, so leading zeros need only their first interval.
    let first = if wanted.first() == Some(&0) { 0 } else { first };
    let first = rest.map_or(first, |rest| first.min(rest));
    let named = |&(index, own): &(usize, &u64)| {
        let needed = index == first || index > first && *own != 0 && rest.is_none_or(|rest| index <= rest);
        needed || rest == Some(index)
    };
    let pairs = wanted.iter().enumerate().filter(named).map(|(index, own)| format!("{}:{own}", 1_u64 << index));
    let last = rest.and(wanted.last()).map(|own| format!(">:{own}"));
    format!("[{}]", pairs.chain(last).collect::<Vec<_>>().join(","))
}
