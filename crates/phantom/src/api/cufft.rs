//! cuFFT: plans that store only the size of their work area.

// Note [cuFFT work areas]
// ~~~~~~~~~~~~~~~~~~~~~~~
// cuFFT documents that a plan may need a work area, but no size. The model: the complex data of the whole batch, in the
// precision of the transform, as an out-of-place pass needs. One-dimensional lengths up to 4,096 with the prime factors
// 2, 3, 5 and 7 need none: they are computed in shared memory. PyTorch allocates the area itself, through its caching
// allocator, so the ledger counts it. Every use is named in the journal as the assumption `cufft-workspace`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::datatype;
use crate::api::captured::note_for_library;
use crate::boundary::{In, Out, Status, export, inert};
pub(crate) use crate::status::CufftResult;
use crate::version::Library;

/// `CUFFT_INVALID_PLAN`: the plan was never created, or was destroyed.
pub(crate) const INVALID_PLAN: CufftResult = CufftResult(1);

/// See Note [Version answers] in `version.rs`; otherwise `CUFFT_VER_*` of `cufft.h`, CUDA 13.0.
static VERSION: Library = Library::new("libcufft.so.", c"cufftGetProperty", [12, 0, 0]);

/// The longest transform that fits into the shared memory of one block.
const IN_SHARED_MEMORY: u64 = 4_096;

/// Plans are numbers, counted from 1; each has the bytes of its work area, and its stream.
struct Plans {
    last: i32,
    work_bytes: BTreeMap<i32, usize>,
    streams: BTreeMap<i32, usize>,
}

static PLANS: Mutex<Plans> = Mutex::new(Plans { last: 0, work_bytes: BTreeMap::new(), streams: BTreeMap::new() });

fn plans() -> MutexGuard<'static, Plans> {
    PLANS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn create(plan: Out<i32>, work_bytes: usize) -> Result<(), CufftResult> {
    let mut plans = plans();
    plans.last += 1;
    let number = plans.last;
    plans.work_bytes.insert(number, work_bytes);
    plan.set(number)
}

/// A transform: its lengths, the batch, and the bytes of a complex element.
#[derive(Clone, Debug)]
struct Transform {
    lengths: Vec<u64>,
    batch: u64,
    complex_bytes: u64,
}

impl Transform {
    fn new(lengths: &[i64], batch: i64, complex_bytes: u64) -> Result<Transform, CufftResult> {
        let size = |value: &i64| u64::try_from(*value).ok().filter(|size| *size > 0).ok_or(CufftResult::INVALID);
        let lengths: Vec<u64> = lengths.iter().map(size).collect::<Result<_, _>>()?;
        if !(1..=3).contains(&lengths.len()) {
            return Err(CufftResult::INVALID);
        }
        Ok(Transform { lengths, batch: size(&batch)?, complex_bytes })
    }

    /// See Note [cuFFT work areas].
    fn work_bytes(&self) -> usize {
        if let [length] = self.lengths[..]
            && length <= IN_SHARED_MEMORY
            && is_smooth(length)
        {
            return 0;
        }
        let elements = self.lengths.iter().fold(self.batch, |product, length| product.saturating_mul(*length));
        elements.saturating_mul(self.complex_bytes) as usize
    }
}

/// True if 2, 3, 5 and 7 are the only prime factors.
fn is_smooth(mut length: u64) -> bool {
    for factor in [2, 3, 5, 7] {
        while length.is_multiple_of(factor) {
            length /= factor;
        }
    }
    length == 1
}

/// Bytes of a complex element of a `cufftType`: the double-precision ones are 0x69, 0x6a and 0x6c.
fn complex_bytes(kind: i32) -> Result<u64, CufftResult> {
    match kind {
        0x29 | 0x2a | 0x2c => Ok(8),
        0x69 | 0x6a | 0x6c => Ok(16),
        _ => Err(CufftResult(3)),
    }
}

/// The same for a `cudaDataType` of the execution, which is real or complex.
fn complex_bytes_of(execution_type: i32) -> Result<u64, CufftResult> {
    let bytes = datatype::bytes(execution_type).ok_or(CufftResult(3))? as u64;
    let is_complex = [4, 5, 6, 15].contains(&execution_type);
    Ok(if is_complex { bytes } else { 2 * bytes })
}

/// Names the assumption, and writes the size where the caller wants it.
fn answer(transform: &Transform, size: Out<usize>) -> Result<usize, CufftResult> {
    let bytes = transform.work_bytes();
    let text = "cuFFT's work areas are modelled as one copy of the complex data, not measured";
    crate::journal::record_assumption("cufft-workspace", text, bytes as u64);
    size.set::<CufftResult>(bytes)?;
    Ok(bytes)
}

/// Sets the transform of an existing plan.
fn make(plan: i32, transform: &Transform, size: Out<usize>) -> Result<(), CufftResult> {
    if !plans().work_bytes.contains_key(&plan) {
        return Err(INVALID_PLAN);
    }
    let bytes = answer(transform, size)?;
    plans().work_bytes.insert(plan, bytes);
    Ok(())
}

/// The lengths of a transform, from an array of the caller's.
fn lengths<T: Copy + Into<i64>>(rank: i32, n: In<T>) -> Result<Vec<i64>, CufftResult> {
    if !(1..=3).contains(&rank) {
        return Err(CufftResult::INVALID);
    }
    Ok(n.array(rank as usize).to_vec::<CufftResult>()?.into_iter().map(Into::into).collect())
}

/// The functions that only differ in whether a plan is made or a size is asked.
macro_rules! sized {
    ($($one:ident $two:ident $three:ident $many:ident $many_64:ident $xt:ident => $then:ident;)*) => {
        export! { CufftResult;
            $(
                fn $one(plan: i32, nx: i32, kind: i32, batch: i32, size: Out<usize>) {
                    let transform = Transform::new(&[nx.into()], batch.into(), complex_bytes(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $two(plan: i32, nx: i32, ny: i32, kind: i32, size: Out<usize>) {
                    let transform = Transform::new(&[nx.into(), ny.into()], 1, complex_bytes(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $three(plan: i32, nx: i32, ny: i32, nz: i32, kind: i32, size: Out<usize>) {
                    let transform = Transform::new(&[nx.into(), ny.into(), nz.into()], 1, complex_bytes(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $many(
                    plan: i32, rank: i32, n: In<i32>, _inembed: In<i32>, _istride: i32, _idist: i32, _onembed: In<i32>,
                    _ostride: i32, _odist: i32, kind: i32, batch: i32, size: Out<usize>,
                ) {
                    let transform = Transform::new(&lengths(rank, n)?, batch.into(), complex_bytes(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $many_64(
                    plan: i32, rank: i32, n: In<i64>, _inembed: In<i64>, _istride: i64, _idist: i64, _onembed: In<i64>,
                    _ostride: i64, _odist: i64, kind: i32, batch: i64, size: Out<usize>,
                ) {
                    let transform = Transform::new(&lengths(rank, n)?, batch, complex_bytes(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $xt(
                    plan: i32, rank: i32, n: In<i64>, _inembed: In<i64>, _istride: i64, _idist: i64, _input: i32,
                    _onembed: In<i64>, _ostride: i64, _odist: i64, _output: i32, batch: i64, size: Out<usize>,
                    execution: i32,
                ) {
                    let transform = Transform::new(&lengths(rank, n)?, batch, complex_bytes_of(execution)?)?;
                    $then(plan, &transform, size)
                }
            )*
        }
    };
}

fn ask(_plan: i32, transform: &Transform, size: Out<usize>) -> Result<(), CufftResult> {
    answer(transform, size).map(drop)
}

sized! {
    cufftMakePlan1d cufftMakePlan2d cufftMakePlan3d cufftMakePlanMany cufftMakePlanMany64 cufftXtMakePlanMany => make;
    cufftGetSize1d cufftGetSize2d cufftGetSize3d cufftGetSizeMany cufftGetSizeMany64 cufftXtGetSizeMany => ask;
}

export! { CufftResult;
    fn cufftCreate(plan: Out<i32>) { create(plan, 0) }
    fn cufftSetStream(plan: i32, stream: usize) {
        plans().streams.insert(plan, stream);
        Ok(())
    }
    fn cufftDestroy(plan: i32) {
        plans().streams.remove(&plan);
        plans().work_bytes.remove(&plan).map(drop).ok_or(INVALID_PLAN)
    }

    fn cufftGetSize(plan: i32, size: Out<usize>) {
        let bytes = *plans().work_bytes.get(&plan).ok_or(INVALID_PLAN)?;
        size.set(bytes)
    }

    fn cufftGetVersion(version: Out<i32>) { version.set(VERSION.number(1000)) }
    fn cufftGetProperty(property: i32, value: Out<i32>) { super::cublas::set_property(&VERSION, property, value) }
}

// `cufftPlan1d` and similar functions allocate a work area, which is not modelled: they are absent. Executions write device memory;
// setters change no answer of the phantom.
inert! { CufftResult;
    cufftSetAutoAllocation cufftSetWorkArea
}

macro_rules! executions {
    ($($name:ident)*) => {
        export! { CufftResult;
            $( fn $name(plan: i32) { note_for_library(|| plans().streams.get(&plan).copied().unwrap_or_default()) } )*
        }
    };
}

executions! {
    cufftExecC2C cufftExecC2R cufftExecD2Z cufftExecR2C cufftExecZ2D cufftExecZ2Z cufftXtExec
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work_bytes(lengths: &[i64], batch: i64, complex_bytes: u64) -> Result<usize, CufftResult> {
        Transform::new(lengths, batch, complex_bytes).map(|transform| transform.work_bytes())
    }

    #[test]
    fn work_areas_are_as_the_note_says() {
        let cases: [(&[i64], i64, Result<usize, CufftResult>); 7] = [
            (&[1_024], 64, Ok(0)),
            (&[4_096], 1, Ok(0)),
            (&[8_192], 2, Ok(2 * 8_192 * 8)),
            (&[11 * 13], 3, Ok(3 * 11 * 13 * 8)),
            (&[64, 64], 2, Ok(2 * 64 * 64 * 8)),
            (&[0], 1, Err(CufftResult::INVALID)),
            (&[2, 2, 2, 2], 1, Err(CufftResult::INVALID)),
        ];
        for (lengths, batch, expected) in cases {
            assert_eq!(work_bytes(lengths, batch, 8), expected, "{lengths:?} x {batch}");
        }
        assert_eq!(work_bytes(&[i64::MAX, 2], i64::MAX, 16), Ok(usize::MAX));
    }

    /// As PyTorch calls it (`CuFFTPlanCache.h`, 2.11): create, make with 64-bit sizes, destroy.
    #[test]
    fn a_plan_knows_its_work_area_until_it_is_destroyed() {
        let (mut plan, mut size) = (0, 7);
        assert_eq!(cufftCreate(Out::to(&mut plan)), CufftResult::SUCCESS);
        let n = [32i64, 32];
        let (n, none, complex_single) = (In::to(&n).cast(), In::to(&0i64), 4);
        let room = Out::to(&mut size);
        let make = cufftXtMakePlanMany;
        let status = make(plan, 2, n, none, 1, 1, complex_single, none, 1, 1, complex_single, 5, room, complex_single);
        assert_eq!((status, size), (CufftResult::SUCCESS, 5 * 32 * 32 * 8));
        let mut asked = 0;
        assert_eq!(cufftGetSize(plan, Out::to(&mut asked)), CufftResult::SUCCESS);
        assert_eq!(asked, size);
        assert_eq!(cufftDestroy(plan), CufftResult::SUCCESS);
        assert_eq!(cufftDestroy(plan), INVALID_PLAN);
        assert_eq!(cufftGetSize(plan, Out::to(&mut asked)), INVALID_PLAN);
    }

    #[test]
    fn real_execution_types_count_as_complex_data() {
        for (data_type, expected) in [(0, 8), (4, 8), (1, 16), (5, 16), (2, 4), (6, 4)] {
            assert_eq!(complex_bytes_of(data_type), Ok(expected));
        }
    }
}
