//! Texts from a crash: error messages in logs, and the tables that PyTorch and `nvidia-smi` print.
//!
//! [`read`] finds all artifacts in any text. It never fails: a text without artifacts leads to an empty list.

mod anchor;
mod application;
mod artifact;
mod automaton;
mod clause;
mod clue;
mod decode;
mod dedup;
mod device_table;
mod errors;
mod findings;
mod foreign;
mod fragment;
mod kept;
mod line;
mod look_alike;
mod mention;
mod message;
mod normalize;
mod nvidia_smi;
mod ocr;
mod printed;
mod reader;
mod scan;
mod series;
mod size;
mod stated;
mod stats;
mod summary;
mod traceback;
mod window;

use std::io::{self, ErrorKind, Read};

pub use self::application::{Application, NamedApplication};
pub use self::artifact::{Artifact, Framework, OomGroup, OomKind, OtherProcess, Refusal, StatedOom};
pub use self::clue::{Clue, ClueKind};
pub use self::decode::is_utf16;
pub(crate) use self::decode::to_utf8;
pub use self::device_table::DeviceTable;
pub use self::look_alike::{LookAlike, OtherFramework};
pub use self::nvidia_smi::{MigDevice, NvidiaSmi, SmiGpu, SmiProcess};
pub use self::printed::PrintedMemory;
pub use self::series::Series;
pub use self::stated::StatedBytes;
pub use self::stats::MemoryStats;
pub use self::summary::{Amount, MemorySummary, Metric, PoolSize, SummaryRow};
pub use self::window::TextReader;

/// Finds everything in `text`, in order. UTF-16, which Windows PowerShell writes on redirection, is decoded; bytes that are not UTF-8 are noise. [`TextReader`] reads a text that comes in pieces.
pub fn read(text: &[u8]) -> Vec<Artifact> {
    window::read(&to_utf8(text))
}

/// [`read`] for a text of any length. Errors are those of `content`.
pub fn read_stream(mut content: impl Read) -> io::Result<Vec<Artifact>> {
    const PIECE: usize = 256 << 10;
    let (mut reader, mut piece) = (TextReader::default(), vec![0; PIECE]);
    loop {
        match content.read(&mut piece) {
            Ok(0) => return Ok(reader.finish()),
            Ok(length) => reader.feed(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
