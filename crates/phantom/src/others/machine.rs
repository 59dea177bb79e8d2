//! Calls that change the machine: the kernel refuses them, since the run has no capability for them (Note `[Confinement]` in
//! `crates/world/src/confine.rs`). The refusal is noted.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::mem::transmute;

use super::{Act, current, note};
use crate::host::Behind;
use crate::undo::CallResult;
use crate::undo::kernel::{errno, set_errno};

/// System calls without a function that is exported here.
const CALLS: [(c_long, &str); 8] = [
    (libc::SYS_init_module, "init_module"),
    (libc::SYS_finit_module, "finit_module"),
    (libc::SYS_delete_module, "delete_module"),
    (libc::SYS_kexec_load, "kexec_load"),
    (libc::SYS_reboot, "reboot"),
    (libc::SYS_clock_adjtime, "clock_adjtime"),
    (libc::SYS_clock_settime, "clock_settime"),
    (libc::SYS_sethostname, "sethostname"),
];

/// Notes the refusal of a system call.
pub(super) fn watch(number: c_long, outcome: c_long) {
    if let Some((_, name)) = CALLS.iter().find(|(call, _)| *call == number) {
        note_refusal(name, outcome);
    }
}

fn note_refusal(name: &'static str, outcome: impl CallResult) {
    let number = errno();
    if outcome.is_failed() && number == libc::EPERM && current().is_some() {
        note(Act::Machine, name);
        set_errno(number);
    }
}

/// Exports functions of the C library: the call of the next definition, and a note on its refusal.
macro_rules! watched {
    ($( fn $name:ident ( $($arg:ident : $ty:ty),* ) )*) => { $(
        #[doc = concat!("`", stringify!($name), "`, with a note on a refusal.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> c_int {
            static NEXT: Behind = Behind::new(
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                },
            );
            // SAFETY: the address is the next definition's of this name, with equal parameters and contract: a C
            // program called this function as declared there (Note [Exports] in `boundary`).
            let outcome = unsafe {
                let next: unsafe extern "C" fn($($ty),*) -> c_int = transmute(NEXT.address());
                next($($arg),*)
            };
            note_refusal(stringify!($name), outcome);
            outcome
        }
    )* };
}

watched! {
    fn sethostname(name: *const c_char, bytes: usize)
    fn setdomainname(name: *const c_char, bytes: usize)
    fn settimeofday(time: *const c_void, zone: *const c_void)
    fn clock_settime(clock: c_int, time: *const c_void)
    fn reboot(command: c_int)
    fn swapon(path: *const c_char, flags: c_int)
    fn swapoff(path: *const c_char)
    fn mount(
        source: *const c_char, target: *const c_char, kind: *const c_char, flags: c_ulong, data: *const c_void
    )
    fn umount(target: *const c_char)
    fn umount2(target: *const c_char, flags: c_int)
    fn setns(descriptor: c_int, kind: c_int)
    fn acct(path: *const c_char)
    fn quotactl(command: c_uint, device: *const c_char, id: c_int, address: *mut c_char)
}
