//! The parser of PyTorch 2.10 and later (`c10/core/AllocatorConfig.cpp` and `c10/cuda/CUDAAllocatorConfig.cpp`, 2.15).
//!
//! # Note [Two passes]
//! The text is read by the parser shared among accelerators, then by CUDA's; each skips the keys of the other. Their
//! ways of skipping differ, so a value such as `[` can make the parsers disagree about the keys. Neither checks which
//! token stands in place of a `:` or a `,`; only the end of the text is an error there. From 2.11 the sizes of large
//! segments are read first, from any position, since they bound the other sizes.

use trace::{Bytes, Release};

use super::divisions;
use super::error::{SettingsError, Thrown};
use super::keys::{self, Flag, Meaning, SettingKey};
use super::numbers::{from_stream, stod, stoull};
use super::tokens::{self, Cursor};
use super::{MAX_MIB, Reserve, Settings, backend_name, known_backend};

const MIN_LARGE_SEGMENT_MIB: u64 = 10;
const MAX_REGISTER_THREADS: u64 = 128;
const GIB: f64 = (1_u64 << 30) as f64;

/// Parses a text into `settings`; after an error the settings read so far remain.
pub(super) fn read(text: &str, release: Release, settings: &mut Settings) -> Result<(), SettingsError> {
    let tokens = tokens::cut(text, tokens::is_space);
    if has_large_segments(release) {
        read_large_segments(&tokens, settings)?;
        settings.max_non_split_rounding = settings.large_segment_size;
    }
    for common in [true, false] {
        TextPass { cursor: Cursor::new(&tokens), release, common, lenient: false, settings }.run()?;
    }
    Ok(())
}

fn has_large_segments(release: Release) -> bool {
    keys::find("large_segment_size_mb", release).is_some()
}

fn read_large_segments(tokens: &[String], settings: &mut Settings) -> Result<(), SettingsError> {
    let mut cursor = Cursor::new(tokens);
    while let Some(token) = cursor.next() {
        if token == "large_segment_size_mb" {
            colon(&mut cursor)?;
            let mib = size(&mut cursor)?;
            if mib <= MIN_LARGE_SEGMENT_MIB {
                let needed = format!("CachingAllocator option {token} must be > {MIN_LARGE_SEGMENT_MIB} MB");
                return Err(SettingsError::value(needed));
            }
            settings.large_segment_size = Bytes(mib.min(MAX_MIB) << 20);
        }
    }
    Ok(())
}

/// The backend chosen while libraries are loaded: the first one named; native if the name is unknown.
pub(super) fn backend_at_load(text: &str) -> Result<bool, SettingsError> {
    let tokens = tokens::cut(text, tokens::is_space);
    let mut cursor = Cursor::new(&tokens);
    while let Some(key) = cursor.next() {
        if key == "backend" {
            colon(&mut cursor)?;
            return Ok(known_backend(token(&mut cursor)?).unwrap_or_default());
        }
        skip_value(&mut cursor)?;
        cursor.next();
    }
    Ok(false)
}

/// Runs the common pass alone, as the libraries of 2.9 do while they are loaded, before the older parser. Other keys
/// are unknown to these libraries, and ignored.
pub(super) fn check_at_load(text: &str, release: Release) -> Result<(), SettingsError> {
    let tokens = tokens::cut(text, tokens::is_space);
    let settings = &mut Settings::default();
    TextPass { cursor: Cursor::new(&tokens), release, common: true, lenient: true, settings }.run()
}

/// One of the two passes.
struct TextPass<'a> {
    cursor: Cursor<'a>,
    release: Release,
    common: bool,
    /// Unknown keys are skipped.
    lenient: bool,
    settings: &'a mut Settings,
}

impl TextPass<'_> {
    fn run(mut self) -> Result<(), SettingsError> {
        while let Some(name) = self.cursor.next() {
            match keys::find(name, self.release) {
                Some(key) if key.common == self.common && key.meaning != Meaning::LargeSegmentSize => {
                    colon(&mut self.cursor)?;
                    self.read(key)?;
                }
                None if !self.lenient => return Err(self.unrecognized(name)),
                _ => skip_value(&mut self.cursor)?,
            }
            self.cursor.next();
        }
        Ok(())
    }

    fn unrecognized(&self, name: &str) -> SettingsError {
        let whose = if self.common { "Accelerator" } else { "CUDA" };
        SettingsError::value(format!("Unrecognized key '{name}' in {whose} allocator config."))
    }

    fn read(&mut self, key: SettingKey) -> Result<(), SettingsError> {
        match key.meaning {
            Meaning::MaxSplitSize => self.settings.max_split_size = Some(self.split_size(key.name)?),
            Meaning::MaxNonSplitRounding => self.settings.max_non_split_rounding = self.split_size(key.name)?,
            Meaning::GarbageCollectionThreshold => self.settings.garbage_collection_threshold = self.threshold()?,
            Meaning::PerProcessMemoryFraction => self.settings.per_process_memory_fraction = self.fraction()?,
            Meaning::RoundupPower2Divisions => self.read_divisions()?,
            Meaning::ExpandableSegmentsReserve => self.reserve()?,
            Meaning::ReserveByClass => self.reserve_by_class()?,
            Meaning::Backend => self.backend()?,
            Meaning::Flag(flag) => self.flag(flag)?,
            Meaning::PinnedNumRegisterThreads => self.register_threads()?,
            Meaning::PinnedReserveSegmentSize => self.pinned_segment()?,
            Meaning::PinnedSize | Meaning::LargeSegmentSize => drop(size(&mut self.cursor)?),
        }
        Ok(())
    }

    fn split_size(&mut self, name: &str) -> Result<Bytes, SettingsError> {
        let least = self.settings.large_segment_size.0 >> 20;
        let mib = size(&mut self.cursor)?;
        if mib < least {
            let needed = format!("CachingAllocator option {name} too small, must be >= {least}");
            return Err(SettingsError::value(needed));
        }
        Ok(Bytes(mib.min(MAX_MIB) << 20))
    }

    fn threshold(&mut self) -> Result<f64, SettingsError> {
        let share = stod(token(&mut self.cursor)?)?;
        if share > 0.0 && share < 1.0 {
            return Ok(share);
        }
        Err(SettingsError::value("garbage_collect_threshold is invalid, set it in (0.0, 1.0)"))
    }

    fn fraction(&mut self) -> Result<f64, SettingsError> {
        let share = stod(token(&mut self.cursor)?)?;
        if (0.0..=1.0).contains(&share) {
            return Ok(share);
        }
        Err(SettingsError::value("per_process_memory_fraction is invalid, set it in [0.0, 1.0]"))
    }

    fn read_divisions(&mut self) -> Result<(), SettingsError> {
        let all = &mut self.settings.roundup_power2_divisions;
        let first = token(&mut self.cursor)?;
        if first != "[" {
            let divisions = divisions::power_of_two(stoull(first, "stoull")?);
            let wrong = || SettingsError::value("For roundups, the divisions has to be power of 2 ");
            *all = [divisions.ok_or_else(wrong)?; 16];
            return Ok(());
        }
        let mut list = divisions::List::new(1);
        loop {
            let boundary = self.cursor.next().ok_or_else(not_closed)?;
            if boundary == "]" {
                return Ok(());
            }
            colon(&mut self.cursor)?;
            let value = size(&mut self.cursor)?;
            if value != 0 && divisions::power_of_two(value).is_none() {
                let needed = "For roundups, the divisions has to be power of 2 or 0 to disable roundup ";
                return Err(SettingsError::value(needed));
            }
            if boundary == ">" {
                list.rest(value, all);
            } else {
                let wrong = || SettingsError::value("For roundups, the intervals have to be power of 2 ");
                list.from(divisions::power_of_two(stoull(boundary, "stoull")?).ok_or_else(wrong)?, value, all);
            }
            if self.cursor.peek().ok_or_else(out_of_tokens)? != "]" {
                self.cursor.next();
            }
        }
    }

    fn reserve(&mut self) -> Result<(), SettingsError> {
        if let Some(reserve) = reserve(token(&mut self.cursor)?) {
            self.settings.expandable_segments_reserve = Some(reserve);
        }
        Ok(())
    }

    /// Reads and drops the reserves of stream classes, since only C++ programs can name a class.
    fn reserve_by_class(&mut self) -> Result<(), SettingsError> {
        token(&mut self.cursor)?;
        while self.cursor.peek().ok_or_else(out_of_tokens)? != "]" {
            token(&mut self.cursor)?;
            colon(&mut self.cursor)?;
            token(&mut self.cursor)?;
            if self.cursor.peek().ok_or_else(out_of_tokens)? == "," {
                self.cursor.next();
            }
        }
        self.cursor.next();
        Ok(())
    }

    fn backend(&mut self) -> Result<(), SettingsError> {
        let name = token(&mut self.cursor)?;
        let unknown = || SettingsError::value("Unknown allocator backend, options are native and cudaMallocAsync");
        let chosen = known_backend(name).ok_or_else(unknown)?;
        if chosen != self.settings.cuda_malloc_async {
            let loaded = backend_name(self.settings.cuda_malloc_async);
            let differs = "Allocator backend parsed at runtime != allocator backend parsed at load time";
            return Err(SettingsError::check(format!("{differs}, {name} != {loaded}")));
        }
        Ok(())
    }

    fn flag(&mut self, flag: Flag) -> Result<(), SettingsError> {
        let at = self.cursor.consumed_count();
        let value = match token(&mut self.cursor)? {
            "True" => true,
            "False" => false,
            other => {
                let wrong = format!("Expected 'True' or 'False' at index {at} in ConfigTokenizer but got '{other}'");
                return Err(SettingsError::value(wrong));
            }
        };
        self.settings.set(flag, value);
        Ok(())
    }

    fn register_threads(&mut self) -> Result<(), SettingsError> {
        let threads = size(&mut self.cursor)?;
        if !threads.is_power_of_two() {
            let wrong = format!("Number of register threads has to be power of 2, got {threads}");
            return Err(SettingsError::value(wrong));
        }
        if threads > MAX_REGISTER_THREADS {
            let most = format!("less than or equal to {MAX_REGISTER_THREADS}, got {threads}");
            return Err(SettingsError::value(format!("Number of register threads should be {most}")));
        }
        Ok(())
    }

    fn pinned_segment(&mut self) -> Result<(), SettingsError> {
        if size(&mut self.cursor)? == 0 {
            return Err(SettingsError::value("Pinned reserve segment size has to be greater than 0"));
        }
        Ok(())
    }
}

/// A reserve: a share of the device, or GiB with a final `G`. PyTorch warns about any other text and ignores it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturating as PyTorch's is")]
fn reserve(text: &str) -> Option<Reserve> {
    let gib = text.strip_suffix(['G', 'g']);
    let number = from_stream(gib.unwrap_or(text)).filter(|&number| number > 0.0)?;
    Some(if gib.is_some() { Reserve::Bytes(Bytes((number * GIB) as u64)) } else { Reserve::Fraction(number) })
}

/// Skips any token in place of a colon.
fn colon(cursor: &mut Cursor<'_>) -> Result<(), SettingsError> {
    token(cursor).map(drop)
}

fn token<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, SettingsError> {
    cursor.next().ok_or_else(out_of_tokens)
}

fn size(cursor: &mut Cursor<'_>) -> Result<u64, SettingsError> {
    stoull(token(cursor)?, "stoull")
}

/// Skips a colon and a value, which is a token or a list.
fn skip_value(cursor: &mut Cursor<'_>) -> Result<(), SettingsError> {
    colon(cursor)?;
    if token(cursor)? != "[" {
        return Ok(());
    }
    cursor.find(|&token| token == "]").map(drop).ok_or_else(not_closed)
}

fn out_of_tokens() -> SettingsError {
    SettingsError::new(Thrown::Error, "Index out of bounds in ConfigTokenizer")
}

fn not_closed() -> SettingsError {
    SettingsError::check("Expected closing bracket ']' in ConfigTokenizer but reached end of config")
}
