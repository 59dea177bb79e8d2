//! `*_bufferSize` with 32-bit counts of elements. Too large for 32 bits is an invalid value, as in the real library.

use super::{CusolverStatus, workspace};
use crate::boundary::{Out, Status, export};
use crate::handle::Handle;

/// Names the assumption behind a workspace of `bytes`.
pub(crate) fn assume(bytes: u64) {
    let text = "cuSOLVER's workspaces are modelled after LAPACK's blocked algorithms, not measured";
    crate::journal::record_assumption("cusolver-workspace", text, bytes);
}

/// A dimension: negative ones are refused.
fn size(value: i32) -> Result<u64, CusolverStatus> {
    u64::try_from(value).map_err(|_| CusolverStatus::INVALID)
}

fn answer(lwork: Out<i32>, element_bytes: u64, elements: u64) -> Result<(), CusolverStatus> {
    let count = i32::try_from(elements).map_err(|_| CusolverStatus::INVALID)?;
    assume(elements.saturating_mul(element_bytes));
    lwork.set(count)
}

/// A routine for its four element types. Arguments after the semicolon follow `lwork`.
macro_rules! sizes {
    ($(
        $s:ident $d:ident $c:ident $z:ident ( $($arg:ident : $ty:ty),* ; $($tail:ident : $tail_ty:ty),* ) => $model:expr;
    )*) => {
        $(
            sizes! { @one $s 4 ($($arg: $ty),* ; $($tail: $tail_ty),*) => $model }
            sizes! { @one $d 8 ($($arg: $ty),* ; $($tail: $tail_ty),*) => $model }
            sizes! { @one $c 8 ($($arg: $ty),* ; $($tail: $tail_ty),*) => $model }
            sizes! { @one $z 16 ($($arg: $ty),* ; $($tail: $tail_ty),*) => $model }
        )*
    };
    (@one $name:ident $bytes:literal ( $($arg:ident : $ty:ty),* ; $($tail:ident : $tail_ty:ty),* ) => $model:expr) => {
        export! { CusolverStatus;
            fn $name(_handle: Handle, $($arg: $ty,)* lwork: Out<i32>, $($tail: $tail_ty),*) {
                answer(lwork, $bytes, $model)
            }
        }
    };
}

sizes! {
    cusolverDnSpotrf_bufferSize cusolverDnDpotrf_bufferSize cusolverDnCpotrf_bufferSize cusolverDnZpotrf_bufferSize
        (_uplo: i32, n: i32, _a: usize, _lda: i32;) => workspace::cholesky(size(n)?);
    cusolverDnSgetrf_bufferSize cusolverDnDgetrf_bufferSize cusolverDnCgetrf_bufferSize cusolverDnZgetrf_bufferSize
        (m: i32, n: i32, _a: usize, _lda: i32;) => workspace::lu(size(m)?, size(n)?);
    cusolverDnSgeqrf_bufferSize cusolverDnDgeqrf_bufferSize cusolverDnCgeqrf_bufferSize cusolverDnZgeqrf_bufferSize
        (_m: i32, n: i32, _a: usize, _lda: i32;) => workspace::reflectors(size(n)?);
    cusolverDnSorgqr_bufferSize cusolverDnDorgqr_bufferSize cusolverDnCungqr_bufferSize cusolverDnZungqr_bufferSize
        (_m: i32, n: i32, _k: i32, _a: usize, _lda: i32, _tau: usize;) => workspace::reflectors(size(n)?);
    cusolverDnSormqr_bufferSize cusolverDnDormqr_bufferSize cusolverDnCunmqr_bufferSize cusolverDnZunmqr_bufferSize
        (side: i32, _trans: i32, m: i32, n: i32, _k: i32, _a: usize, _lda: i32, _tau: usize, _c: usize, _ldc: i32;)
        => workspace::reflectors(size(if side == LEFT { n } else { m })?);
    cusolverDnSsytrf_bufferSize cusolverDnDsytrf_bufferSize cusolverDnCsytrf_bufferSize cusolverDnZsytrf_bufferSize
        (n: i32, _a: usize, _lda: i32;) => workspace::indefinite(size(n)?);
    cusolverDnSsyevd_bufferSize cusolverDnDsyevd_bufferSize cusolverDnCheevd_bufferSize cusolverDnZheevd_bufferSize
        (_jobz: i32, _uplo: i32, n: i32, _a: usize, _lda: i32, _w: usize;) => workspace::eigen_symmetric(size(n)?);
    cusolverDnSsyevj_bufferSize cusolverDnDsyevj_bufferSize cusolverDnCheevj_bufferSize cusolverDnZheevj_bufferSize
        (_jobz: i32, _uplo: i32, n: i32, _a: usize, _lda: i32, _w: usize; _parameters: Handle)
        => workspace::eigen_jacobi(size(n)?);
    cusolverDnSsyevjBatched_bufferSize cusolverDnDsyevjBatched_bufferSize
        cusolverDnCheevjBatched_bufferSize cusolverDnZheevjBatched_bufferSize
        (_jobz: i32, _uplo: i32, n: i32, _a: usize, _lda: i32, _w: usize; _parameters: Handle, batch: i32)
        => workspace::eigen_jacobi_batched(size(n)?, size(batch)?);
    cusolverDnSgesvd_bufferSize cusolverDnDgesvd_bufferSize cusolverDnCgesvd_bufferSize cusolverDnZgesvd_bufferSize
        (m: i32, n: i32;) => workspace::singular(size(m)?, size(n)?);
    cusolverDnSgesvdj_bufferSize cusolverDnDgesvdj_bufferSize cusolverDnCgesvdj_bufferSize cusolverDnZgesvdj_bufferSize
        (_jobz: i32, _econ: i32, m: i32, n: i32, _a: usize, _lda: i32, _s: usize, _u: usize, _ldu: i32, _v: usize,
         _ldv: i32; _parameters: Handle)
        => workspace::singular_jacobi(size(m)?, size(n)?);
    cusolverDnSgesvdjBatched_bufferSize cusolverDnDgesvdjBatched_bufferSize
        cusolverDnCgesvdjBatched_bufferSize cusolverDnZgesvdjBatched_bufferSize
        (_jobz: i32, m: i32, n: i32, _a: usize, _lda: i32, _s: usize, _u: usize, _ldu: i32, _v: usize, _ldv: i32;
         _parameters: Handle, batch: i32)
        => workspace::singular_jacobi_batched(size(m)?, size(n)?, size(batch)?);
    cusolverDnSgesvdaStridedBatched_bufferSize cusolverDnDgesvdaStridedBatched_bufferSize
        cusolverDnCgesvdaStridedBatched_bufferSize cusolverDnZgesvdaStridedBatched_bufferSize
        (_jobz: i32, _rank: i32, m: i32, n: i32, _a: usize, _lda: i32, _stride_a: i64, _s: usize, _stride_s: i64,
         _u: usize, _ldu: i32, _stride_u: i64, _v: usize, _ldv: i32, _stride_v: i64; batch: i32)
        => workspace::singular_approximate(size(m)?, size(n)?, size(batch)?);
}

/// `CUBLAS_SIDE_LEFT`.
const LEFT: i32 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_the_models_say() {
        let (none, mut lwork) = (std::ptr::null_mut(), 0);
        assert_eq!(cusolverDnSgetrf_bufferSize(none, 100, 50, 0, 100, Out::to(&mut lwork)), CusolverStatus::SUCCESS);
        assert_eq!(lwork, 5_000);
        let status = cusolverDnCheevjBatched_bufferSize(none, 1, 0, 4, 0, 4, 0, Out::to(&mut lwork), none, 2);
        assert_eq!((status, lwork), (CusolverStatus::SUCCESS, 3_126));
        for (side, expected) in [(LEFT, 20 * 64), (1, 30 * 64)] {
            let room = Out::to(&mut lwork);
            let status = cusolverDnSormqr_bufferSize(none, side, 0, 30, 20, 10, 0, 30, 0, 0, 30, room);
            assert_eq!((status, lwork), (CusolverStatus::SUCCESS, expected));
        }
    }

    #[test]
    fn what_32_bits_cannot_hold_is_refused() {
        let (none, mut lwork) = (std::ptr::null_mut(), 0);
        for n in [-1, 40_000] {
            let status = cusolverDnDsyevd_bufferSize(none, 1, 0, n, 0, n, 0, Out::to(&mut lwork));
            assert_eq!(status, CusolverStatus::INVALID, "n = {n}");
        }
    }
}
