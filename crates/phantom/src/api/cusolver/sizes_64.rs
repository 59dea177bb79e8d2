//! `cusolverDnX*_bufferSize`: bytes of workspace on the device and on the host.

use super::sizes::assume;
use super::{CusolverStatus, workspace};
use crate::api::datatype;
use crate::boundary::{Out, Status, export};
use crate::handle::Handle;

/// The out-parameters of the two sizes.
#[derive(Clone, Copy)]
struct Room {
    device: Out<usize>,
    host: Out<usize>,
}

impl Room {
    /// Writes `elements` of `data_type` for the device, and `host_elements` for the host.
    fn set(self, data_type: i32, elements: u64, host_elements: u64) -> Result<(), CusolverStatus> {
        let element = datatype::bytes(data_type).ok_or(CusolverStatus::INVALID)? as u64;
        let bytes = elements.saturating_mul(element);
        assume(bytes);
        self.device.set::<CusolverStatus>(bytes as usize)?;
        self.host.set(host_elements.saturating_mul(element) as usize)
    }
}

fn size(value: i64) -> Result<u64, CusolverStatus> {
    u64::try_from(value).map_err(|_| CusolverStatus::INVALID)
}

export! { CusolverStatus;
    fn cusolverDnXpotrf_bufferSize(
        _handle: Handle, _parameters: Handle, _uplo: i32, n: i64, data_type: i32, _a: usize, _lda: i64, _compute: i32,
        device: Out<usize>, host: Out<usize>,
    ) { Room { device, host }.set(data_type, workspace::cholesky(size(n)?), 0) }

    fn cusolverDnXgetrf_bufferSize(
        _handle: Handle, _parameters: Handle, m: i64, n: i64, data_type: i32, _a: usize, _lda: i64, _compute: i32,
        device: Out<usize>, host: Out<usize>,
    ) { Room { device, host }.set(data_type, workspace::lu(size(m)?, size(n)?), 0) }

    fn cusolverDnXgeqrf_bufferSize(
        _handle: Handle, _parameters: Handle, _m: i64, n: i64, data_type: i32, _a: usize, _lda: i64, _tau_type: i32,
        _tau: usize, _compute: i32, device: Out<usize>, host: Out<usize>,
    ) { Room { device, host }.set(data_type, workspace::reflectors(size(n)?), 0) }

    fn cusolverDnXsytrs_bufferSize(
        _handle: Handle, _uplo: i32, n: i64, nrhs: i64, data_type: i32, _a: usize, _lda: i64, _pivots: usize,
        _b_type: i32, _b: usize, _ldb: i64, device: Out<usize>, host: Out<usize>,
    ) {
        // A copy of the right-hand sides, permuted by the pivots.
        Room { device, host }.set(data_type, workspace::lu(size(n)?, size(nrhs)?), 0)
    }

    fn cusolverDnXsyevd_bufferSize(
        _handle: Handle, _parameters: Handle, _jobz: i32, _uplo: i32, n: i64, data_type: i32, _a: usize, _lda: i64,
        _w_type: i32, _w: usize, _compute: i32, device: Out<usize>, host: Out<usize>,
    ) { Room { device, host }.set(data_type, workspace::eigen_symmetric(size(n)?), 0) }

    fn cusolverDnXsyevBatched_bufferSize(
        _handle: Handle, _parameters: Handle, _jobz: i32, _uplo: i32, n: i64, data_type: i32, _a: usize, _lda: i64,
        _w_type: i32, _w: usize, _compute: i32, device: Out<usize>, host: Out<usize>, batch: i64,
    ) { Room { device, host }.set(data_type, workspace::eigen_jacobi_batched(size(n)?, size(batch)?), 0) }

    fn cusolverDnXgeev_bufferSize(
        _handle: Handle, _parameters: Handle, _jobvl: i32, _jobvr: i32, n: i64, data_type: i32, _a: usize, _lda: i64,
        _w_type: i32, _w: usize, _vl_type: i32, _vl: usize, _ldvl: i64, _vr_type: i32, _vr: usize, _ldvr: i64,
        _compute: i32, device: Out<usize>, host: Out<usize>,
    ) {
        // The small eigenvalue problems of the QR iteration are solved on the host: the Hessenberg matrix goes there.
        let n = size(n)?;
        Room { device, host }.set(data_type, workspace::eigen_general(n), workspace::lu(n, n))
    }

    fn cusolverDnXgesvd_bufferSize(
        _handle: Handle, _parameters: Handle, _jobu: i8, _jobvt: i8, m: i64, n: i64, data_type: i32, _a: usize,
        _lda: i64, _s_type: i32, _s: usize, _u_type: i32, _u: usize, _ldu: i64, _vt_type: i32, _vt: usize, _ldvt: i64,
        _compute: i32, device: Out<usize>, host: Out<usize>,
    ) { Room { device, host }.set(data_type, workspace::singular(size(m)?, size(n)?), 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sizes_are_written_in_bytes() {
        let none = std::ptr::null_mut();
        for (data_type, element) in [(0, 4), (1, 8), (4, 8), (5, 16)] {
            let (mut device, mut host) = (0, 7);
            let (to_device, to_host) = (Out::to(&mut device), Out::to(&mut host));
            let status =
                cusolverDnXpotrf_bufferSize(none, none, 0, 10, data_type, 0, 10, data_type, to_device, to_host);
            assert_eq!((status, device, host), (CusolverStatus::SUCCESS, 640 * element, 0));
        }
    }

    #[test]
    fn an_unknown_type_and_a_negative_size_are_refused() {
        let none = std::ptr::null_mut();
        for (n, data_type) in [(10, 99), (-1, 0)] {
            let (mut device, mut host) = (0, 0);
            let (to_device, to_host) = (Out::to(&mut device), Out::to(&mut host));
            let status = cusolverDnXgetrf_bufferSize(none, none, n, n, data_type, 0, 10, 0, to_device, to_host);
            assert_eq!(status, CusolverStatus::INVALID);
        }
    }
}
