//! Functions with a scalar result: dot products, norms, sums, extreme indices, and the infos of batched solvers.
//!
//! In `CUBLAS_POINTER_MODE_HOST` the result is a host out-parameter. Device memory reads as zeros, so sums, norms and
//! products are zero, and the extreme element of `n` equal ones is the first: index 1, or 0 for `n` = 0 (as the BLAS
//! counts). In `CUBLAS_POINTER_MODE_DEVICE` the result is device memory, and nothing is written.

use super::{CublasStatus, results_go_to_host, stream_of};
use crate::api::captured::note_for_library;
use crate::api::datatype;
use crate::boundary::{Out, Status, export};
use crate::handle::Handle;

type Complex32 = [f32; 2];
type Complex64 = [f64; 2];

fn scalar<T>(handle: Handle, result: Out<T>, value: T) -> Result<(), CublasStatus> {
    note_for_library(|| stream_of(handle))?;
    if results_go_to_host(handle)? { result.set(value) } else { Ok(()) }
}

/// A zero of a type that only the call knows.
fn typed_zero(handle: Handle, result: Out<u8>, data_type: i32) -> Result<(), CublasStatus> {
    note_for_library(|| stream_of(handle))?;
    if !results_go_to_host(handle)? {
        return Ok(());
    }
    if result.is_null() {
        return Err(CublasStatus::INVALID);
    }
    let size = datatype::bytes(data_type).ok_or(CublasStatus::INVALID)?;
    result.array(size).write(std::iter::repeat_n(0, size))
}

/// Functions of a vector, in their 32-bit and 64-bit forms.
macro_rules! reductions {
    ($($name:ident, $name_64:ident -> $result:ty;)*) => {
        export! { CublasStatus;
            $(
                fn $name(handle: Handle, _n: i32, _x: usize, _incx: i32, result: Out<$result>) {
                    scalar(handle, result, <$result>::default())
                }
                fn $name_64(handle: Handle, _n: i64, _x: usize, _incx: i64, result: Out<$result>) {
                    scalar(handle, result, <$result>::default())
                }
            )*
        }
    };
}

reductions! {
    cublasSnrm2_v2, cublasSnrm2_v2_64 -> f32;
    cublasDnrm2_v2, cublasDnrm2_v2_64 -> f64;
    cublasScnrm2_v2, cublasScnrm2_v2_64 -> f32;
    cublasDznrm2_v2, cublasDznrm2_v2_64 -> f64;
    cublasSasum_v2, cublasSasum_v2_64 -> f32;
    cublasDasum_v2, cublasDasum_v2_64 -> f64;
    cublasScasum_v2, cublasScasum_v2_64 -> f32;
    cublasDzasum_v2, cublasDzasum_v2_64 -> f64;
}

macro_rules! dot_products {
    ($($name:ident, $name_64:ident -> $result:ty;)*) => {
        export! { CublasStatus;
            $(
                fn $name(
                    handle: Handle, _n: i32, _x: usize, _incx: i32, _y: usize, _incy: i32, result: Out<$result>,
                ) { scalar(handle, result, <$result>::default()) }
                fn $name_64(
                    handle: Handle, _n: i64, _x: usize, _incx: i64, _y: usize, _incy: i64, result: Out<$result>,
                ) { scalar(handle, result, <$result>::default()) }
            )*
        }
    };
}

dot_products! {
    cublasSdot_v2, cublasSdot_v2_64 -> f32;
    cublasDdot_v2, cublasDdot_v2_64 -> f64;
    cublasCdotu_v2, cublasCdotu_v2_64 -> Complex32;
    cublasCdotc_v2, cublasCdotc_v2_64 -> Complex32;
    cublasZdotu_v2, cublasZdotu_v2_64 -> Complex64;
    cublasZdotc_v2, cublasZdotc_v2_64 -> Complex64;
}

macro_rules! extremes {
    ($($name:ident, $name_64:ident;)*) => {
        export! { CublasStatus;
            $(
                fn $name(handle: Handle, n: i32, _x: usize, _incx: i32, result: Out<i32>) {
                    scalar(handle, result, i32::from(n > 0))
                }
                fn $name_64(handle: Handle, n: i64, _x: usize, _incx: i64, result: Out<i64>) {
                    scalar(handle, result, i64::from(n > 0))
                }
            )*
        }
    };
}

extremes! {
    cublasIsamax_v2, cublasIsamax_v2_64;
    cublasIdamax_v2, cublasIdamax_v2_64;
    cublasIcamax_v2, cublasIcamax_v2_64;
    cublasIzamax_v2, cublasIzamax_v2_64;
    cublasIsamin_v2, cublasIsamin_v2_64;
    cublasIdamin_v2, cublasIdamin_v2_64;
    cublasIcamin_v2, cublasIcamin_v2_64;
    cublasIzamin_v2, cublasIzamin_v2_64;
}

/// The same functions with the element types as arguments.
macro_rules! mixed {
    ($length:ty; $nrm2:ident $asum:ident $dot:ident $dotc:ident $imax:ident $imin:ident) => {
        export! { CublasStatus;
            fn $nrm2(
                handle: Handle, _n: $length, _x: usize, _x_type: i32, _incx: $length,
                result: Out<u8>, result_type: i32, _execution_type: i32,
            ) { typed_zero(handle, result, result_type) }
            fn $asum(
                handle: Handle, _n: $length, _x: usize, _x_type: i32, _incx: $length,
                result: Out<u8>, result_type: i32, _execution_type: i32,
            ) { typed_zero(handle, result, result_type) }
            fn $dot(
                handle: Handle, _n: $length, _x: usize, _x_type: i32, _incx: $length, _y: usize, _y_type: i32,
                _incy: $length, result: Out<u8>, result_type: i32, _execution_type: i32,
            ) { typed_zero(handle, result, result_type) }
            fn $dotc(
                handle: Handle, _n: $length, _x: usize, _x_type: i32, _incx: $length, _y: usize, _y_type: i32,
                _incy: $length, result: Out<u8>, result_type: i32, _execution_type: i32,
            ) { typed_zero(handle, result, result_type) }
            fn $imax(
                handle: Handle, n: $length, _x: usize, _x_type: i32, _incx: $length, result: Out<$length>,
            ) { scalar(handle, result, <$length>::from(n > 0)) }
            fn $imin(
                handle: Handle, n: $length, _x: usize, _x_type: i32, _incx: $length, result: Out<$length>,
            ) { scalar(handle, result, <$length>::from(n > 0)) }
        }
    };
}

mixed! { i32; cublasNrm2Ex cublasAsumEx cublasDotEx cublasDotcEx cublasIamaxEx cublasIaminEx }
mixed! { i64; cublasNrm2Ex_64 cublasAsumEx_64 cublasDotEx_64 cublasDotcEx_64 cublasIamaxEx_64 cublasIaminEx_64 }

/// Givens rotations: in host mode they are arithmetic on host scalars, which the phantom does not do.
macro_rules! rotations {
    ($($name:ident)*) => {
        export! { CublasStatus;
            $(
                fn $name(handle: Handle) {
                    if results_go_to_host(handle)? {
                        crate::journal::record_missing(stringify!($name));
                        return Err(CublasStatus::UNSUPPORTED);
                    }
                    Ok(())
                }
            )*
        }
    };
}

rotations! {
    cublasSrotg_v2 cublasDrotg_v2 cublasCrotg_v2 cublasZrotg_v2 cublasRotgEx
    cublasSrotmg_v2 cublasDrotmg_v2 cublasRotmgEx
}

/// Batched solvers with a host `info`: zero says that every argument was legal.
macro_rules! host_infos {
    ($($geqrf:ident $getrs:ident $gels:ident;)*) => {
        export! { CublasStatus;
            $(
                fn $geqrf(
                    _handle: Handle, _m: i32, _n: i32, _a: usize, _lda: i32, _tau: usize, info: Out<i32>, _batch: i32,
                ) { info.set(0) }
                fn $getrs(
                    _handle: Handle, _trans: i32, _n: i32, _nrhs: i32, _a: usize, _lda: i32, _pivots: usize, _b: usize,
                    _ldb: i32, info: Out<i32>, _batch: i32,
                ) { info.set(0) }
                fn $gels(
                    _handle: Handle, _trans: i32, _m: i32, _n: i32, _nrhs: i32, _a: usize, _lda: i32, _c: usize,
                    _ldc: i32, info: Out<i32>, _device_infos: usize, _batch: i32,
                ) { info.set(0) }
            )*
        }
    };
}

host_infos! {
    cublasSgeqrfBatched cublasSgetrsBatched cublasSgelsBatched;
    cublasDgeqrfBatched cublasDgetrsBatched cublasDgelsBatched;
    cublasCgeqrfBatched cublasCgetrsBatched cublasCgelsBatched;
    cublasZgeqrfBatched cublasZgetrsBatched cublasZgelsBatched;
}

#[cfg(test)]
mod tests {
    use super::super::{cublasCreate_v2, cublasSetPointerMode_v2};
    use super::*;

    fn handle_in_mode(mode: i32) -> Handle {
        let mut handle = std::ptr::null_mut();
        assert_eq!(cublasCreate_v2(Out::to(&mut handle)), CublasStatus::SUCCESS);
        assert_eq!(cublasSetPointerMode_v2(handle, mode), CublasStatus::SUCCESS);
        handle
    }

    #[test]
    fn results_are_written_in_host_mode_only() {
        for (mode, expected) in [(0, 0.0), (1, 7.0)] {
            let handle = handle_in_mode(mode);
            let mut norm = 7.0;
            assert_eq!(cublasSnrm2_v2(handle, 4, 0x1000, 1, Out::to(&mut norm)), CublasStatus::SUCCESS);
            assert!((norm - expected).abs() < f32::EPSILON);
            let mut dot = [7.0; 2];
            assert_eq!(cublasZdotc_v2(handle, 4, 0x1000, 1, 0x1000, 1, Out::to(&mut dot)), CublasStatus::SUCCESS);
            assert!((dot[1] - f64::from(expected)).abs() < f64::EPSILON);
        }
    }

    #[test]
    fn the_extreme_of_equal_elements_is_the_first() {
        let handle = handle_in_mode(0);
        for (n, expected) in [(4, 1), (0, 0)] {
            let mut index = -1;
            assert_eq!(cublasIsamax_v2(handle, n, 0x1000, 1, Out::to(&mut index)), CublasStatus::SUCCESS);
            assert_eq!(index, expected);
        }
    }

    #[test]
    fn a_typed_result_takes_as_many_bytes_as_its_type() {
        let handle = handle_in_mode(0);
        let half = 2;
        let mut room = [7u8; 4];
        let status = cublasDotEx(handle, 1, 0, half, 1, 0, half, 1, Out::to(&mut room).cast(), half, 0);
        assert_eq!((status, room), (CublasStatus::SUCCESS, [0, 0, 7, 7]));
    }

    #[test]
    fn infos_of_batched_solvers_are_written() {
        let mut info = 7;
        let handle = handle_in_mode(0);
        assert_eq!(cublasSgeqrfBatched(handle, 2, 2, 0, 2, 0, Out::to(&mut info), 3), CublasStatus::SUCCESS);
        assert_eq!(info, 0);
        info = 7;
        assert_eq!(cublasDgelsBatched(handle, 0, 2, 2, 1, 0, 2, 0, 2, Out::to(&mut info), 0, 3), CublasStatus::SUCCESS);
        assert_eq!(info, 0);
    }
}
