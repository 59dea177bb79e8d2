//! The file of the recorder: what one process of a real run allocated. Note `[Recording]` describes its layout.

// Note [Recording]
// ~~~~~~~~~~~~~~~~
// The recorder maps the file `rank0.recording` into memory and writes in place, so the file is complete at any instant in
// which the process may be killed. All numbers are little-endian. Five parts follow each other:
//
// ```text
// header    4096 bytes: the fields of `header`
// events    a ring of `EVENT_CAPACITY` slots; event number n is in slot n modulo the capacity, and is complete once
//           `EVENTS` is larger than n
// blocks    a hash table of `BLOCK_CAPACITY` slots: the allocated blocks, with the stacks that made them, also those whose
//           events the ring has overwritten. Address 0 marks an empty slot
// texts     `TEXTS_USED` bytes of entries, each a tag and a body: places (`PLACE`) and stacks of places (`STACK`); both are
//           numbered from 1 in the order of the file
// reserve   `RESERVE_USED` bytes: lines for `rank0.marks.jsonl` that the process could not append there, because the path was
//           out of its reach (chroot, another user, no descriptors) or the disk full; absent in earlier versions
// ```
//
// An event is an address (u64), a signed change in bytes (i64: the block's size, negative for a free; for an error the
// requested size), the reserved bytes after it (u64), a stack (u32), a step (u32), the time in milliseconds since the start
// of the recording (u32), a kind (u8) and a device (u8). A block is an address, a size (u64 each), a stack, a step (u32 each) and a device (u8).
// The body of a place is a line (u32), the lengths of file and function (u16 each), and both texts; that of a stack is the
// number of places (u16), and the number of each place (u32), innermost first.

/// The first bytes of the file.
pub const MAGIC: [u8; 8] = *b"oomphrec";
/// The version of the layout.
pub const VERSION: u32 = 1;

/// The offsets of the header's fields.
pub mod header {
    /// [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// [`super::VERSION`], as u32.
    pub const VERSION: usize = 8;
    /// The process, as u32.
    pub const PID: usize = 12;
    /// The number of slots for events, as u64.
    pub const EVENT_CAPACITY: usize = 16;
    /// The number of slots for blocks, as u64; a power of two.
    pub const BLOCK_CAPACITY: usize = 24;
    /// The bytes for texts, as u64.
    pub const TEXT_CAPACITY: usize = 32;
    /// The number of events since the start, as u64.
    pub const EVENTS: usize = 40;
    /// The bytes of texts, as u64.
    pub const TEXTS_USED: usize = 48;
    /// The number of stacks that found no room, as u64.
    pub const LOST_STACKS: usize = 56;
    /// The number of blocks that found no room, as u64.
    pub const LOST_BLOCKS: usize = 64;
    /// The wall-clock time of the start, in microseconds since 1970, as u64.
    pub const STARTED_MICROS: usize = 72;
    /// The current optimizer step, counted from 1, as u32.
    pub const STEP: usize = 80;
    /// The bytes for lines that found no place in their file, as u64.
    pub const RESERVE_CAPACITY: usize = 88;
    /// The bytes of such lines, as u64.
    pub const RESERVE_USED: usize = 96;
    /// The number of lines that found no room in the reserve either, as u64.
    pub const LOST_LINES: usize = 104;
    /// The system's error that kept the first line from its file, as u32; 0 if every line is there.
    pub const APPEND_ERROR: usize = 112;
    /// The length of the header.
    pub const BYTES: usize = 4096;
}

/// The length of an event.
pub const EVENT_BYTES: usize = 40;
/// The length of a block.
pub const BLOCK_BYTES: usize = 32;

/// A block was allocated, or freed if the change is negative.
pub const KIND_MEMORY: u8 = 1;
/// A request could not be served.
pub const KIND_ERROR: u8 = 2;

/// The tag of a place.
pub const PLACE: u8 = 1;
/// The tag of a stack.
pub const STACK: u8 = 2;
/// The most places of a stack.
pub const DEEPEST: usize = 128;
