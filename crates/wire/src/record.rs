//! Records of the run directory: their tags, their keys, and the phantom's writer.
//!
//! A record is one JSON object on a line of its own. The phantom writes an [`JournalEntry`], the agent a kind of [`MARKS`]; `trace` reads both,
//! and its tests hold its types to the tables here.

use std::fmt;

/// The id of the phantom's assumption about blocks that a side stream used (Note [Late streams] in `crates/phantom/src/cuda/event.rs`).
pub const SIDE_STREAMS: &str = "side-streams";

/// The key of the tag.
pub const TAG: &str = "kind";

/// A kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordKind {
    /// The value of [`TAG`].
    pub tag: &'static str,
    /// The other keys.
    pub keys: &'static [&'static str],
    /// Keys that a record may lack.
    pub optional: &'static [&'static str],
}

macro_rules! entries {
    ($($(#[$doc:meta])* $name:ident = $tag:literal { $($(#[$key_doc:meta])* $key:ident: $type:ty,)+ })+) => {
        /// A line of the phantom's journal; `Display` writes the JSON without the end of line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum JournalEntry<'a> {
            $($(#[$doc])* $name { $($(#[$key_doc])* $key: $type,)+ },)+
        }

        /// The kinds of [`JournalEntry`].
        pub const JOURNAL: &[RecordKind] = &[$(RecordKind { tag: $tag, keys: &[$(stringify!($key)),+], optional: &[] }),+];

        impl fmt::Display for JournalEntry<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(JournalEntry::$name { $($key),+ } => {
                        write!(f, "{{\"{TAG}\":\"{}\"", $tag)?;
                        $(write!(f, ",\"{}\":", stringify!($key))?; $key.write_json(f)?;)+
                    })+
                }
                f.write_str("}")
            }
        }
    };
}

entries! {
    /// First line: the process and what it shows.
    Phantom = "phantom" {
        /// Process id; joins the agent's process record.
        pid: u32,
        /// Number of devices shown.
        devices: u32,
        /// Memory of each device as `cudaMemGetInfo` states it.
        total_bytes: u64,
    }
    /// An owner's share of a device changed.
    Memory = "memory" {
        /// Index of the device.
        device: u32,
        /// `context`, `pytorch`, or the file name of another library.
        owner: &'a str,
        /// Change of the owner's share in bytes; negative after a free.
        delta: i64,
        /// Bytes in use on the device afterwards, by all owners.
        used_bytes: u64,
    }
    /// A request was refused for want of memory.
    Refused = "refused" {
        /// Index of the device.
        device: u32,
        /// Owner that asked.
        owner: &'a str,
        /// Size of the request.
        bytes: u64,
    }
    /// PyTorch gave a library this memory as its workspace.
    Workspace = "workspace" {
        /// `cublas`, `cublaslt`, `cudnn`, …
        library: &'a str,
        /// Start of the workspace.
        address: u64,
        /// Size of the workspace.
        bytes: u64,
    }
    /// The phantom modelled a figure that NVIDIA's library would have chosen.
    Assumption = "assumption" {
        /// A stable name, e.g. `cudnn-convolution-workspace`.
        id: &'a str,
        /// One sentence.
        text: &'a str,
        /// Largest amount of device memory that rests on the figure.
        bytes: u64,
    }
    /// The program called a function that the phantom lacks.
    Missing = "missing" {
        /// Name of the function.
        symbol: &'a str,
    }
}

macro_rules! kinds {
    ($($tag:ident: $($key:ident)* $(, optional $($optional:ident)+)?;)+) => {
        /// The kinds of records in the agent's `*.marks.jsonl`.
        pub const MARKS: &[RecordKind] = &[
            $(RecordKind { tag: stringify!($tag), keys: &[$(stringify!($key)),*], optional: &[$($(stringify!($optional)),+)?] }),+
        ];
    };
}

kinds! {
    process: pid rank local_rank world_size argv script_dir python executable torch cuda cudnn started_ns ancestors monotonic_ns;
    census: number step when tensors;
    step: step devices monotonic_ns, optional work;
    oom: device requested_bytes total_bytes free_bytes step phase module stats frames monotonic_ns, optional caught_at lowers;
    value_shape: op file line count fraction;
    value_read: file line count bytes;
    kernels_missing: capability built_for;
    untrained: reason optimizer file line count bytes;
    unrecorded: reason;
    initializers_skipped: count bytes;
    assumption: id text;
    remedy: remedy applied action text file line alters;
    batch: remedy source name size scaled file line;
    checkpoint_unread: count bytes;
    save_spared: file;
    save_made: file;
    error: type message oom file line traceback monotonic_ns;
    end: reason steps devices snapshot monotonic_ns;
}

/// Keys of a device's counters in the agent's records.
pub const DEVICE_STATS: &[&str] = &[
    "device",
    "allocated_bytes",
    "allocated_peak_bytes",
    "reserved_bytes",
    "reserved_peak_bytes",
    "alloc_retries",
    "ooms",
];

/// Keys of the counted work of operators in a `step` record.
pub const WORK: &[&str] = &["flops", "bytes", "host_bytes", "operators"];

/// Lists the tags of `kinds`.
pub fn tags(kinds: &[RecordKind]) -> impl Iterator<Item = &'static str> + '_ {
    kinds.iter().map(|kind| kind.tag)
}

/// A value of an [`JournalEntry`].
trait Json {
    fn write_json(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

macro_rules! numbers {
    ($($type:ty)+) => {
        $(impl Json for $type {
            fn write_json(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        })+
    };
}

numbers! { u32 u64 i64 }

impl Json for &str {
    fn write_json(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for character in self.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                control if control < ' ' => write!(f, "\\u{:04x}", u32::from(control))?,
                other => write!(f, "{other}")?,
            }
        }
        f.write_str("\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_one_line_of_json() {
        let entry = JournalEntry::Memory { device: 1, owner: "a\"b\\c\n", delta: -5, used_bytes: u64::MAX };
        let expected =
            r#"{"kind":"memory","device":1,"owner":"a\"b\\c\u000a","delta":-5,"used_bytes":18446744073709551615}"#;
        assert_eq!(entry.to_string(), expected);
    }

    #[test]
    fn tags_are_unique_and_no_key_is_the_tags() {
        for kinds in [JOURNAL, MARKS] {
            for (index, kind) in kinds.iter().enumerate() {
                assert!(!tags(&kinds[..index]).any(|tag| tag == kind.tag), "{}", kind.tag);
                assert!(!kind.keys.contains(&TAG), "{}", kind.tag);
            }
        }
    }
}
