//! The phantom's writer of its journal, `phantom-<pid>.jsonl`.

use std::fmt;

use super::TAG;

/// The id of the phantom's assumption about blocks that a side stream used (Note [Late streams] in `crates/phantom/src/cuda/event.rs`).
pub const SIDE_STREAMS: &str = "side-streams";

/// Calls the macro `$consumer` with the table of the journal's records, as [`agent_records!`](crate::agent_records) does.
#[macro_export]
macro_rules! journal_records {
    ($consumer:ident) => {
        $consumer! {
            /// The process and what it shows; the first line.
            Phantom "phantom": PhantomStart {
                /// The process id; joins the agent's process record.
                pid: u32,
                /// The number of devices shown.
                devices: u32,
                /// The total memory of a device, as in `cudaMemGetInfo`.
                total_bytes: u64,
            }
            /// Device memory was allocated (`delta` > 0) or freed.
            Memory "memory": MemoryChange {
                /// The device.
                device: u32,
                /// The owner: `context`, `pytorch`, or the file name of another library.
                owner: text,
                /// The change of the owner's share in bytes.
                delta: i64,
                /// The bytes in use on the device afterwards, of all owners.
                used_bytes: u64,
            }
            /// A request failed: the device is out of memory.
            Refused "refused": RefusedRequest {
                /// The device.
                device: u32,
                /// The owner that asked.
                owner: text,
                /// The requested size.
                bytes: u64,
            }
            /// PyTorch gave memory to a library as its workspace.
            Workspace "workspace": Workspace {
                /// `cublas`, `cublaslt`, `cudnn`, …
                library: text,
                /// The address.
                address: u64,
                /// The size.
                bytes: u64,
            }
            /// A figure that the phantom models and that a real library chooses itself.
            Assumption "assumption": ModelledFigure {
                /// A stable name, e.g. `cudnn-convolution-workspace`.
                id: text,
                /// The assumption in one sentence.
                text: text,
                /// The largest amount of device memory that depends on it.
                bytes: u64,
            }
            /// The program called a function that the phantom lacks.
            Missing "missing": MissingSymbol {
                /// The name of the function.
                symbol: text,
            }
        }
    };
}

macro_rules! entry_type {
    ($lifetime:lifetime text) => {
        &$lifetime str
    };
    ($lifetime:lifetime $number:ident) => {
        $number
    };
}

macro_rules! entries {
    ($($(#[$doc:meta])+ $variant:ident $tag:literal: $record:ident { $($(#[$key_doc:meta])+ $key:ident: $type:ident,)+ })+) => {
        /// A line of the phantom's journal; `Display` writes the JSON without the end of line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum JournalEntry<'a> {
            $($(#[$doc])+ $variant { $($(#[$key_doc])+ $key: entry_type!('a $type),)+ },)+
        }

        /// The tags of the kinds of [`JournalEntry`].
        pub const JOURNAL: &[&str] = &[$($tag),+];

        impl fmt::Display for JournalEntry<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(JournalEntry::$variant { $($key),+ } => {
                        write!(f, "{{\"{TAG}\":\"{}\"", $tag)?;
                        $(write!(f, ",\"{}\":", stringify!($key))?; $key.write_json(f)?;)+
                    })+
                }
                f.write_str("}")
            }
        }
    };
}

journal_records!(entries);

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
}
