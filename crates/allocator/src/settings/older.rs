//! The parser of PyTorch up to 2.9 (`c10/cuda/CUDAAllocatorConfig.cpp`; until 2.0 in `CUDACachingAllocator.cpp`).

use trace::{Bytes, Release};

use super::divisions;
use super::error::{SettingsError, Thrown};
use super::keys::{self, Flag, Meaning, SettingKey};
use super::numbers::{stod, stoi, stoull};
use super::tokens::{self, Cursor, is_space};
use super::{MAX_MIB, Settings, known_backend};

/// The size of segments for requests of 1 to 10 MiB, the lower bound of the other sizes.
const LARGE_SEGMENT_MIB: u64 = 20;
const MAX_REGISTER_THREADS: u64 = 128;

/// Parses a text into `settings`; after an error the settings read so far remain.
pub(super) fn read(text: &str, release: Release, settings: &mut Settings) -> Result<(), SettingsError> {
    let wording = Wording::of(release);
    // PyTorch passes the text as a C string.
    let text = text.split('\0').next().unwrap_or_default();
    let tokens = tokens::cut(text, |c| c == ' ');
    Reader { cursor: Cursor::new(&tokens), release, wording, settings }.run()
}

/// The backend chosen while libraries are loaded: the first one named, if known.
///
/// The libraries split the text at blanks and commas, and each part at colons; several colons count as one.
pub(super) fn backend_at_load(text: &str) -> bool {
    let options = text.split(|c| is_space(c) || c == ',').filter(|option| !option.is_empty());
    let chosen = options.filter(|option| option.contains(':')).find_map(|option| {
        let mut parts = option.split(':');
        parts.next().filter(|&key| key == "backend").and(parts.find(|part| !part.is_empty())).and_then(known_backend)
    });
    chosen.unwrap_or_default()
}

/// Differences among these releases.
#[derive(Clone, Copy, Debug)]
struct Wording {
    /// The spelling of "divisions" in the error.
    divisions: &'static str,
    /// Set if zero divisions, for none, are accepted.
    zero_divisions: bool,
}

impl Wording {
    fn of(release: Release) -> Wording {
        let from = |minor| release >= Release { major: 2, minor };
        Wording { divisions: if from(8) { "divisions" } else { "divisons" }, zero_divisions: from(2) }
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    release: Release,
    wording: Wording,
    settings: &'a mut Settings,
}

impl Reader<'_> {
    fn run(mut self) -> Result<(), SettingsError> {
        while let Some(name) = self.cursor.next() {
            let key = keys::find(name, self.release).ok_or_else(|| unrecognized(name))?;
            self.expect(':')?;
            self.read(key)?;
            if self.cursor.peek().is_some() {
                self.expect(',')?;
            }
        }
        Ok(())
    }

    fn expect(&mut self, separator: char) -> Result<(), SettingsError> {
        if self.cursor.next() == Some(separator.encode_utf8(&mut [0; 4])) {
            return Ok(());
        }
        Err(expected(separator))
    }

    fn value(&mut self, name: &str) -> Result<&str, SettingsError> {
        self.cursor.next().ok_or_else(|| SettingsError::check(format!("Error, expecting {name} value")))
    }

    fn read(&mut self, key: SettingKey) -> Result<(), SettingsError> {
        match key.meaning {
            Meaning::MaxSplitSize => self.settings.max_split_size = Some(self.split_size(key.name)?),
            Meaning::MaxNonSplitRounding => self.settings.max_non_split_rounding = self.split_size(key.name)?,
            Meaning::GarbageCollectionThreshold => {
                self.settings.garbage_collection_threshold = self.threshold(key.name)?;
            }
            Meaning::RoundupPower2Divisions => self.read_divisions(key.name)?,
            Meaning::Backend => self.backend()?,
            Meaning::Flag(flag) => self.flag(flag, key.name)?,
            Meaning::PinnedNumRegisterThreads => self.register_threads(key.name)?,
            Meaning::LargeSegmentSize
            | Meaning::PerProcessMemoryFraction
            | Meaning::ExpandableSegmentsReserve
            | Meaning::ReserveByClass
            | Meaning::PinnedReserveSegmentSize
            | Meaning::PinnedSize => return Err(unrecognized(key.name)),
        }
        Ok(())
    }

    fn split_size(&mut self, name: &str) -> Result<Bytes, SettingsError> {
        let mib = unsigned(stoi(self.value(name)?)?);
        if mib <= LARGE_SEGMENT_MIB {
            let needed = format!("CachingAllocator option {name} too small, must be > {LARGE_SEGMENT_MIB}");
            return Err(SettingsError::check(needed));
        }
        Ok(Bytes(mib.min(MAX_MIB) << 20))
    }

    fn threshold(&mut self, name: &str) -> Result<f64, SettingsError> {
        let share = stod(self.value(name)?)?;
        let wrong = |how| SettingsError::check(format!("garbage_collect_threshold too {how}, set it 0.0~1.0"));
        // NaN fails PyTorch's `> 0` check.
        if share.is_nan() || share <= 0.0 {
            return Err(wrong("small"));
        }
        if share < 1.0 { Ok(share) } else { Err(wrong("big")) }
    }

    fn read_divisions(&mut self, name: &str) -> Result<(), SettingsError> {
        let first = self.value(name)?;
        if first == "[" {
            return self.list();
        }
        let divisions = divisions::power_of_two(unsigned(stoi(first)?));
        let needed = || format!("For roundups, the {} has to be power of 2 ", self.wording.divisions);
        let divisions = divisions.ok_or_else(|| SettingsError::check(needed()))?;
        self.settings.roundup_power2_divisions = [divisions; 16];
        Ok(())
    }

    fn list(&mut self) -> Result<(), SettingsError> {
        let mut list = divisions::List::new(0);
        while let Some(boundary) = self.cursor.next().filter(|&token| token != "]") {
            self.expect(':')?;
            let unfinished = || SettingsError::check("Error parsing roundup_power2_divisions value");
            let value = unsigned(stoi(self.cursor.next().ok_or_else(unfinished)?)?);
            self.check_divisions(value)?;
            let all = &mut self.settings.roundup_power2_divisions;
            if boundary == ">" {
                list.rest(value, all);
            } else {
                let wrong = || SettingsError::check("For roundups, the intervals have to be power of 2 ");
                list.from(divisions::power_of_two(stoull(boundary, "stoul")?).ok_or_else(wrong)?, value, all);
            }
            match self.cursor.peek() {
                None => return Err(SettingsError::new(Thrown::PastTheEnd, expected(',').message())),
                Some("]") => {}
                Some(_) => self.expect(',')?,
            }
        }
        Ok(())
    }

    fn check_divisions(&self, value: u64) -> Result<(), SettingsError> {
        if divisions::power_of_two(value).is_some() || value == 0 && self.wording.zero_divisions {
            return Ok(());
        }
        let or_zero = if self.wording.zero_divisions { "or 0 to disable roundup " } else { "" };
        Err(SettingsError::check(format!(
            "For roundups, the {} has to be power of 2 {or_zero}",
            self.wording.divisions
        )))
    }

    fn backend(&mut self) -> Result<(), SettingsError> {
        let name = self.cursor.next().ok_or_else(|| SettingsError::check("Error parsing backend value"))?;
        let unknown = || SettingsError::check("Unknown allocator backend, options are native and cudaMallocAsync");
        let chosen = known_backend(name).ok_or_else(unknown)?;
        if chosen == self.settings.cuda_malloc_async {
            return Ok(());
        }
        Err(SettingsError::check("Allocator backend parsed at runtime != allocator backend parsed at load time"))
    }

    fn flag(&mut self, flag: Flag, name: &str) -> Result<(), SettingsError> {
        let name = name.replace("hip", "cuda");
        let tells_absence = !matches!(flag, Flag::ExpandableSegments | Flag::ReleaseLockOnCudaMalloc);
        let value = match self.cursor.next() {
            Some("True") => true,
            Some("False") => false,
            None if tells_absence => return Err(SettingsError::check(format!("Error, expecting {name} value"))),
            _ => return Err(SettingsError::check(format!("Expected a single True/False argument for {name}"))),
        };
        self.settings.set(flag, value);
        Ok(())
    }

    fn register_threads(&mut self, name: &str) -> Result<(), SettingsError> {
        let threads = unsigned(stoi(self.value(name)?)?);
        if !threads.is_power_of_two() {
            return Err(SettingsError::check("Number of register threads has to be power of 2 "));
        }
        if threads > MAX_REGISTER_THREADS {
            let most = format!("Number of register threads should be less than or equal to {MAX_REGISTER_THREADS}");
            return Err(SettingsError::check(most));
        }
        Ok(())
    }
}

fn unrecognized(name: &str) -> SettingsError {
    SettingsError::check(format!("Unrecognized CachingAllocator option: {name}"))
}

fn expected(separator: char) -> SettingsError {
    SettingsError::check(format!("Error parsing CachingAllocator settings, expected {separator}"))
}

/// An `int` cast to `size_t`: negative numbers become huge.
#[expect(clippy::cast_sign_loss, reason = "as C++ converts")]
fn unsigned(number: i32) -> u64 {
    i64::from(number) as u64
}
