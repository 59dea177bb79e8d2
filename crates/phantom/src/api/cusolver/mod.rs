//! cuSOLVER's dense half: handles, the sizes of workspaces ([`sizes`], [`sizes_64`], modelled in [`workspace`]), and
//! factorisations that do nothing.
//!
//! `devInfo` is device memory and reads as zero: every factorisation succeeds.

pub(crate) mod sizes;
pub(crate) mod sizes_64;
pub(crate) mod workspace;

use crate::api::captured::{inert_on_stream, note_for_library};
use crate::boundary::{Out, Status, export, inert};
use crate::handle::{Handle, Table};
pub(crate) use crate::status::CusolverStatus;
use crate::version::Library;

/// `CUSOLVER_STATUS_NOT_INITIALIZED`: the handle was never created, or was destroyed.
pub(crate) const NOT_INITIALIZED: CusolverStatus = CusolverStatus(1);

/// See Note [Version answers] in `version.rs`; otherwise `CUSOLVER_VER_*` of `cusolver_common.h`, CUDA 13.0.
static VERSION: Library = Library::new("libcusolver.so.", c"cusolverGetProperty", [12, 0, 4]);

#[derive(Default)]
struct Context {
    stream: usize,
    deterministic_mode: i32,
    math_mode: i32,
    emulation_strategy: i32,
}

static HANDLES: Table<Context> = Table::new();
static PARAMETERS: Table<()> = Table::new();
static SYEVJ: Table<()> = Table::new();
static GESVDJ: Table<()> = Table::new();

fn with<R>(handle: Handle, body: impl FnOnce(&mut Context) -> R) -> Result<R, CusolverStatus> {
    HANDLES.with(handle, body).ok_or(NOT_INITIALIZED)
}

/// The stream of a handle; the legacy stream for an unknown one.
fn stream_of(handle: Handle) -> usize {
    with(handle, |context| context.stream).unwrap_or_default()
}

export! { CusolverStatus;
    fn cusolverDnCreate(handle: Out<Handle>) { handle.set(HANDLES.insert(Context::default())) }
    fn cusolverDnDestroy(handle: Handle) { HANDLES.remove(handle).map(drop).ok_or(NOT_INITIALIZED) }
    fn cusolverDnSetStream(handle: Handle, stream: usize) { with(handle, |context| context.stream = stream) }
    fn cusolverDnGetStream(handle: Handle, stream: Out<usize>) { stream.set(with(handle, |context| context.stream)?) }

    fn cusolverDnSetDeterministicMode(handle: Handle, mode: i32) {
        with(handle, |context| context.deterministic_mode = mode)
    }
    fn cusolverDnGetDeterministicMode(handle: Handle, mode: Out<i32>) {
        mode.set(with(handle, |context| context.deterministic_mode)?)
    }
    fn cusolverDnSetMathMode(handle: Handle, mode: i32) { with(handle, |context| context.math_mode = mode) }
    fn cusolverDnGetMathMode(handle: Handle, mode: Out<i32>) { mode.set(with(handle, |context| context.math_mode)?) }
    fn cusolverDnSetEmulationStrategy(handle: Handle, strategy: i32) {
        with(handle, |context| context.emulation_strategy = strategy)
    }
    fn cusolverDnGetEmulationStrategy(handle: Handle, strategy: Out<i32>) {
        strategy.set(with(handle, |context| context.emulation_strategy)?)
    }

    fn cusolverDnCreateParams(parameters: Out<Handle>) { parameters.set(PARAMETERS.insert(())) }
    fn cusolverDnDestroyParams(parameters: Handle) { PARAMETERS.remove(parameters).ok_or(CusolverStatus::INVALID) }
    fn cusolverDnCreateSyevjInfo(info: Out<Handle>) { info.set(SYEVJ.insert(())) }
    fn cusolverDnDestroySyevjInfo(info: Handle) { SYEVJ.remove(info).ok_or(CusolverStatus::INVALID) }
    fn cusolverDnCreateGesvdjInfo(info: Out<Handle>) { info.set(GESVDJ.insert(())) }
    fn cusolverDnDestroyGesvdjInfo(info: Handle) { GESVDJ.remove(info).ok_or(CusolverStatus::INVALID) }

    fn cusolverGetVersion(version: Out<i32>) { version.set(VERSION.number(1000)) }
    fn cusolverGetProperty(property: i32, value: Out<i32>) { super::cublas::set_property(&VERSION, property, value) }
}

/// Approximate SVD is the one routine with a host output beside its info: the residual of each matrix.
macro_rules! approximate_svd {
    ($($name:ident)*) => {
        export! { CusolverStatus;
            $(
                fn $name(
                    handle: Handle, _jobz: i32, _rank: i32, _m: i32, _n: i32, _a: usize, _lda: i32, _stride_a: i64,
                    _s: usize, _stride_s: i64, _u: usize, _ldu: i32, _stride_u: i64, _v: usize, _ldv: i32,
                    _stride_v: i64, _work: usize, _lwork: i32, _infos: usize, residuals: Out<f64>, batch: i32,
                ) {
                    note_for_library(|| stream_of(handle))?;
                    let batch = usize::try_from(batch).map_err(|_| CusolverStatus::INVALID)?;
                    residuals.array(batch).write(std::iter::repeat_n(0.0, batch))
                }
            )*
        }
    };
}

approximate_svd! {
    cusolverDnSgesvdaStridedBatched cusolverDnDgesvdaStridedBatched
    cusolverDnCgesvdaStridedBatched cusolverDnZgesvdaStridedBatched
}

// They only set how a solver iterates.
inert! { CusolverStatus;
    cusolverDnSetAdvOptions cusolverDnXgesvdjSetMaxSweeps cusolverDnXgesvdjSetSortEig cusolverDnXgesvdjSetTolerance
    cusolverDnXsyevjSetMaxSweeps cusolverDnXsyevjSetSortEig cusolverDnXsyevjSetTolerance
}

// Their outputs are matrices, pivots and infos in device memory.
inert_on_stream! { CusolverStatus, stream_of;
    cusolverDnCgeqrf cusolverDnCgesvd cusolverDnCgesvdj cusolverDnCgesvdjBatched cusolverDnCgetrf
    cusolverDnCgetrs cusolverDnCheevd cusolverDnCheevj cusolverDnCheevjBatched cusolverDnClaswp
    cusolverDnCpotrf cusolverDnCpotrfBatched cusolverDnCpotrs cusolverDnCpotrsBatched
    cusolverDnCsytrf cusolverDnCungqr cusolverDnCunmqr cusolverDnDgeqrf cusolverDnDgesvd
    cusolverDnDgesvdj cusolverDnDgesvdjBatched cusolverDnDgetrf cusolverDnDgetrs cusolverDnDlaswp
    cusolverDnDorgqr cusolverDnDormqr cusolverDnDpotrf cusolverDnDpotrfBatched cusolverDnDpotrs
    cusolverDnDpotrsBatched cusolverDnDsyevd cusolverDnDsyevj cusolverDnDsyevjBatched
    cusolverDnDsytrf cusolverDnSgeqrf cusolverDnSgesvd cusolverDnSgesvdj
    cusolverDnSgesvdjBatched cusolverDnSgetrf cusolverDnSgetrs cusolverDnSlaswp cusolverDnSorgqr
    cusolverDnSormqr cusolverDnSpotrf cusolverDnSpotrfBatched cusolverDnSpotrs
    cusolverDnSpotrsBatched cusolverDnSsyevd cusolverDnSsyevj cusolverDnSsyevjBatched
    cusolverDnSsytrf cusolverDnXgeev cusolverDnXgeqrf cusolverDnXgesvd
    cusolverDnXgetrf cusolverDnXgetrs
    cusolverDnXpotrf cusolverDnXpotrs cusolverDnXsyevBatched cusolverDnXsyevd

    cusolverDnXsytrs cusolverDnZgeqrf cusolverDnZgesvd cusolverDnZgesvdj cusolverDnZgesvdjBatched
    cusolverDnZgetrf cusolverDnZgetrs cusolverDnZheevd cusolverDnZheevj cusolverDnZheevjBatched
    cusolverDnZlaswp cusolverDnZpotrf cusolverDnZpotrfBatched cusolverDnZpotrs
    cusolverDnZpotrsBatched cusolverDnZsytrf cusolverDnZungqr cusolverDnZunmqr
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_created_once_and_destroyed_once() {
        let mut handle = std::ptr::null_mut();
        assert_eq!(cusolverDnCreate(Out::to(&mut handle)), CusolverStatus::SUCCESS);
        let mut stream = 0;
        assert_eq!(cusolverDnSetStream(handle, 0x40), CusolverStatus::SUCCESS);
        assert_eq!(cusolverDnGetStream(handle, Out::to(&mut stream)), CusolverStatus::SUCCESS);
        assert_eq!(stream, 0x40);
        assert_eq!(cusolverDnDestroy(handle), CusolverStatus::SUCCESS);
        assert_eq!(cusolverDnSetStream(handle, 0), NOT_INITIALIZED);
    }

    #[test]
    fn approximate_svd_writes_one_residual_a_matrix() {
        let mut residuals = [7.0f64; 3];

        let room = Out::to(&mut residuals);
        let none = std::ptr::null_mut();
        let status =
            cusolverDnSgesvdaStridedBatched(none, 0, 2, 4, 2, 0, 4, 8, 0, 2, 0, 4, 8, 0, 2, 4, 0, 0, 0, room.cast(), 2);
        assert_eq!(status, CusolverStatus::SUCCESS);
        assert!(residuals[1].abs() < f64::EPSILON && residuals[2] > 6.0);
    }
}
