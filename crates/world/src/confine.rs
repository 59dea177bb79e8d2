//! Confines the process of a program: the kernel refuses acts on other processes and on the machine.
//!
//! # Note [Confinement]
//!
//! A private file system does not stop a signal, a change of a clock, or a write through `/proc/PID/root`. Under every guard the
//! process and its children lose:
//!
//! - the capabilities beyond a program's own files and processes ([`KEPT`]): the network's interfaces, the clock, modules, mounts;
//! - signals to other processes, and `ptrace` of other processes with the accesses under the same check: `/proc/PID/{root,cwd,fd,mem,ns}`,
//!   `process_vm_writev`, `pidfd_getfd` (Landlock, from Linux 6.12).
//!
//! The processes of the run share one Landlock domain, and oomph stands outside: oomph ends the program as before.

use std::io;

use landlock::{
    CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus,
    Scope,
};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

/// The capabilities of programs that the superuser starts: those that container engines leave, without device nodes and with the limits
/// of a process (`capabilities(7)`).
const KEPT: CapabilitySet = CapabilitySet::from_bits_retain(
    CapabilitySet::CHOWN.bits()
        | CapabilitySet::DAC_OVERRIDE.bits()
        | CapabilitySet::FOWNER.bits()
        | CapabilitySet::FSETID.bits()
        | CapabilitySet::KILL.bits()
        | CapabilitySet::SETGID.bits()
        | CapabilitySet::SETUID.bits()
        | CapabilitySet::SETPCAP.bits()
        | CapabilitySet::SETFCAP.bits()
        | CapabilitySet::NET_BIND_SERVICE.bits()
        | CapabilitySet::NET_RAW.bits()
        | CapabilitySet::SYS_CHROOT.bits()
        | CapabilitySet::SYS_NICE.bits()
        | CapabilitySet::SYS_RESOURCE.bits()
        | CapabilitySet::IPC_LOCK.bits()
        | CapabilitySet::IPC_OWNER.bits()
        | CapabilitySet::LEASE.bits()
        | CapabilitySet::AUDIT_WRITE.bits(),
);

/// Returns the capabilities of this process, before a user namespace adds all others.
pub(crate) fn find_kept() -> io::Result<CapabilitySet> {
    Ok(capabilities(None)?.permitted & KEPT)
}

/// Confines this process, which has a single thread. Returns true if the kernel keeps its signals below the run.
pub(crate) fn confine(kept: CapabilitySet) -> io::Result<bool> {
    let is_scoped = scope_signals()?;
    drop_capabilities(kept)?;
    Ok(is_scoped)
}

/// Enters a Landlock domain of this process and its children; false where the kernel has no such domains.
fn scope_signals() -> io::Result<bool> {
    let is_privileged = capabilities(None)?.effective.contains(CapabilitySet::SYS_ADMIN);
    let enter = || -> Result<bool, RulesetError> {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).scope(Scope::Signal)?.create()?;
        // Without the right, the kernel asks for a process that gains none at `execve`.
        let status = ruleset.no_new_privs(!is_privileged).restrict_self()?;
        Ok(status.ruleset == RulesetStatus::FullyEnforced)
    };
    Ok(enter().unwrap_or(false))
}

/// Drops all capabilities but `kept`, also for programs of the superuser after `execve`.
fn drop_capabilities(kept: CapabilitySet) -> io::Result<()> {
    for capability in CapabilitySet::all().iter().filter(|it| !KEPT.contains(*it)) {
        if remove_capability_from_bounding_set(capability).is_err_and(|errno| errno == Errno::PERM) {
            set_no_new_privs(true)?;
            break;
        }
    }
    clear_ambient_capability_set()?;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    Ok(set_capabilities(None, sets)?)
}
