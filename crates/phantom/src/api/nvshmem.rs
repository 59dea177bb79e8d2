//! NVSHMEM: absent, but for the questions that a program asks to find out. Memory that several GPUs share by symmetric
//! addresses is not modelled.

use crate::boundary::{Out, Status, absent, status};

status! {
    /// NVSHMEM's `int`: anything but zero is a failure (`nvshmemx_error.h` 3.4).
    NvshmemStatus { success: 0, invalid: 1, internal: 7, unsupported: 3 }
}

/// A pointer into symmetric memory, or null for failure.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NvshmemAddress(pub usize);

impl Status for NvshmemAddress {
    const SUCCESS: NvshmemAddress = NvshmemAddress(0);
    const INVALID: NvshmemAddress = NvshmemAddress(0);
    const INTERNAL: NvshmemAddress = NvshmemAddress(0);
    const UNSUPPORTED: NvshmemAddress = NvshmemAddress(0);
}

/// A count of processing elements: none.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NvshmemCount(pub i32);

impl Status for NvshmemCount {
    const SUCCESS: NvshmemCount = NvshmemCount(0);
    const INVALID: NvshmemCount = NvshmemCount(-1);
    const INTERNAL: NvshmemCount = NvshmemCount(-1);
    const UNSUPPORTED: NvshmemCount = NvshmemCount(-1);
}

/// `nvshmem_info_get_version`, as NVSHMEM's header declares it: the version of the specification, 1.3.
#[unsafe(no_mangle)]
pub extern "C" fn nvshmem_info_get_version(major: Out<i32>, minor: Out<i32>) {
    major.set_if_wanted(1);
    minor.set_if_wanted(3);
}

/// `nvshmemid_init_status`, as NVSHMEM's header declares it: `NVSHMEM_STATUS_NOT_INITIALIZED`.
#[unsafe(no_mangle)]
pub extern "C" fn nvshmemid_init_status() -> i32 {
    0
}

/// Functions with an address as their result.
pub(crate) mod addresses {
    use super::NvshmemAddress;
    use crate::boundary::absent;

    absent! { NvshmemAddress;
        nvshmem_malloc nvshmem_ptr nvshmemx_mc_ptr
    }
}

/// Functions with a count as their result.
pub(crate) mod counts {
    use super::NvshmemCount;
    use crate::boundary::absent;

    absent! { NvshmemCount;
        nvshmem_team_n_pes
    }
}

// Some of these return nothing: no caller reads the code.
absent! { NvshmemStatus;
    nvshmem_barrier_all nvshmem_free nvshmem_init nvshmem_selected_device_transport nvshmem_team_split_strided
    nvshmemid_hostlib_finalize nvshmemid_hostlib_init_attr
    nvshmemx_alltoallmem_on_stream nvshmemx_broadcastmem_on_stream nvshmemx_cumodule_init nvshmemx_get_uniqueid
    nvshmemx_getmem_on_stream nvshmemx_putmem_on_stream nvshmemx_putmem_signal_on_stream
    nvshmemx_set_attr_uniqueid_args nvshmemx_signal_wait_until_on_stream
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_asks_is_told_that_nothing_is_there() {
        let (mut major, mut minor) = (0, 0);
        nvshmem_info_get_version(Out::to(&mut major), Out::to(&mut minor));
        assert_eq!((major, minor), (1, 3));
        assert_eq!(nvshmemid_init_status(), 0);
        assert_eq!(addresses::nvshmem_malloc(), NvshmemAddress(0));
        assert_eq!(counts::nvshmem_team_n_pes(), NvshmemCount(-1));
        assert_ne!(nvshmemid_hostlib_init_attr(), NvshmemStatus::SUCCESS);
    }
}
