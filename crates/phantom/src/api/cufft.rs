//! cuFFT: plans that store only the size of their work area.

mod transform;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::transform::{Element, Transform};
use super::datatype;
use crate::api::captured::note_for_library;
use crate::boundary::{In, Out, Status, export, inert};
pub(crate) use crate::status::CufftResult;
use crate::version::Library;

/// `CUFFT_INVALID_PLAN`: the plan was never created, or was destroyed.
pub(crate) const INVALID_PLAN: CufftResult = CufftResult(1);

/// See Note [Version answers] in `version.rs`; otherwise `CUFFT_VER_*` of `cufft.h`, CUDA 13.0.
static VERSION: Library = Library::new("libcufft.so.", c"cufftGetProperty", [12, 0, 0]);

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

/// The elements of a `cufftType`: 0x29 and 0x69 are complex on both sides, and those from 0x69 on have double precision.
fn element(kind: i32) -> Result<Element, CufftResult> {
    match kind {
        0x29 | 0x2a | 0x2c => Ok(Element { bytes: 8, is_one_sided: kind != 0x29 }),
        0x69 | 0x6a | 0x6c => Ok(Element { bytes: 16, is_one_sided: kind != 0x69 }),
        _ => Err(CufftResult(3)),
    }
}

/// The same for the `cudaDataType` of the execution, and of both sides.
fn element_of(execution: i32, sides: [i32; 2]) -> Result<Element, CufftResult> {
    let bytes = datatype::bytes(execution).ok_or(CufftResult(3))? as u64;
    let bytes = if is_complex(execution) { bytes } else { 2 * bytes };
    Ok(Element { bytes, is_one_sided: sides.into_iter().any(|side| !is_complex(side)) })
}

fn is_complex(data_type: i32) -> bool {
    [4, 5, 6, 15].contains(&data_type)
}

/// Names the assumption, and writes the size where the caller wants it.
fn answer(transform: &Transform, size: Out<usize>) -> Result<usize, CufftResult> {
    let bytes = transform.work_bytes();
    let text =
        "cuFFT's work areas are modelled after three transforms that an H200 made: none, or copies of the complex data";
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
                    let transform = Transform::new(&[nx.into()], batch.into(), element(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $two(plan: i32, nx: i32, ny: i32, kind: i32, size: Out<usize>) {
                    let transform = Transform::new(&[nx.into(), ny.into()], 1, element(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $three(plan: i32, nx: i32, ny: i32, nz: i32, kind: i32, size: Out<usize>) {
                    let transform = Transform::new(&[nx.into(), ny.into(), nz.into()], 1, element(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $many(
                    plan: i32, rank: i32, n: In<i32>, _inembed: In<i32>, _istride: i32, _idist: i32, _onembed: In<i32>,
                    _ostride: i32, _odist: i32, kind: i32, batch: i32, size: Out<usize>,
                ) {
                    let transform = Transform::new(&lengths(rank, n)?, batch.into(), element(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $many_64(
                    plan: i32, rank: i32, n: In<i64>, _inembed: In<i64>, _istride: i64, _idist: i64, _onembed: In<i64>,
                    _ostride: i64, _odist: i64, kind: i32, batch: i64, size: Out<usize>,
                ) {
                    let transform = Transform::new(&lengths(rank, n)?, batch, element(kind)?)?;
                    $then(plan, &transform, size)
                }
                fn $xt(
                    plan: i32, rank: i32, n: In<i64>, _inembed: In<i64>, _istride: i64, _idist: i64, input: i32,
                    _onembed: In<i64>, _ostride: i64, _odist: i64, output: i32, batch: i64, size: Out<usize>,
                    execution: i32,
                ) {
                    let transform = Transform::new(&lengths(rank, n)?, batch, element_of(execution, [input, output])?)?;
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

    /// As PyTorch calls it (`CuFFTPlanCache.h`, 2.11): create, make with 64-bit sizes, destroy.
    #[test]
    fn a_plan_knows_its_work_area_until_it_is_destroyed() {
        let (mut plan, mut size) = (0, 7);
        assert_eq!(cufftCreate(Out::to(&mut plan)), CufftResult::SUCCESS);
        let n = [32i64, 11];
        let (n, none, complex_single) = (In::to(&n).cast(), In::to(&0i64), 4);
        let room = Out::to(&mut size);
        let make = cufftXtMakePlanMany;
        let status = make(plan, 2, n, none, 1, 1, complex_single, none, 1, 1, complex_single, 5, room, complex_single);
        assert_eq!((status, size), (CufftResult::SUCCESS, 5 * 32 * 11 * 8));
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
            assert_eq!(element_of(data_type, [4, 4]).map(|element| element.bytes), Ok(expected));
        }
    }

    #[test]
    fn a_real_side_makes_a_transform_one_sided() {
        for (sides, expected) in [([4, 4], false), ([0, 4], true), ([5, 1], true)] {
            assert_eq!(element_of(4, sides).map(|element| element.is_one_sided), Ok(expected));
        }
    }
}
