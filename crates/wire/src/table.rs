//! The table in which the processes below one `oomph phantom` note their device memory. Note `[Table]` describes it.

// Note [Table]
// ~~~~~~~~~~~~
// A GPU is shared by all processes of a machine, the phantom's by all processes below one `oomph phantom`. They meet in a
// table of native u64 words:
//
// ```text
// word 0     `MAGIC`
// word 1     the lock: the process that changes the table, 0 if none
// word 2     the inode of `/proc/self/ns/pid`: elsewhere the pids of the table name other processes
// word 8..   `SLOTS` slots of `SLOT_WORDS` words: a process, 0 for a free slot, and the bytes that the process uses of each device
// ```
//
// A process is a word: the pid in the low `PID_BITS` bits, the start time of `/proc/PID/stat` above them. So a reused pid
// is another process.
//
// The table is an anonymous file (memfd_create(2)), which `oomph phantom` leaves open when it becomes the command. The variable
// names it as `PID:NUMBER:INODE`; a process opens `/proc/PID/fd/NUMBER`, or its own number where the command is gone, and the
// inode tells another file of the same number. Nothing has to be removed: the kernel frees the file after its last process, also
// after a SIGKILL. A file in /dev/shm would outlive the machine's last process: nobody is left to remove it, since
// `oomph phantom` is the command. An inherited number alone would not reach a monitor that Python starts: `subprocess` closes all
// numbers. The price: if the command ends, or closes files that it did not open, a process that starts later without
// an inherited number has no table, and goes on alone.

/// The first word of a table.
pub const MAGIC: u64 = u64::from_le_bytes(*b"oomphtb1");
/// The word of the lock.
pub const LOCK_WORD: usize = 1;
/// The word of the pid namespace.
pub const NAMESPACE_WORD: usize = 2;
/// The pid namespace of a process (pid_namespaces(7)).
pub const NAMESPACE: &str = "/proc/self/ns/pid";
/// The first word of the slots.
pub const FIRST_SLOT_WORD: usize = 8;
/// The most processes of a table.
pub const SLOTS: usize = 512;
/// The most devices of a table.
pub const DEVICES: usize = 64;
/// The words of a slot.
pub const SLOT_WORDS: usize = 1 + DEVICES;
/// The words of a table.
pub const WORDS: usize = FIRST_SLOT_WORD + SLOTS * SLOT_WORDS;
/// The length of a table.
pub const BYTES: usize = WORDS * size_of::<u64>();
/// The bits of a process for its pid: Linux's largest is 2²² (`PID_MAX_LIMIT`).
pub const PID_BITS: u32 = 22;
/// The separator of the parts of the variable.
pub const SEPARATOR: char = ':';
