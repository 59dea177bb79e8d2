//! cuFFT: plans that store only the size of their work area.

// Note [cuFFT work areas]
// ~~~~~~~~~~~~~~~~~~~~~~~
// cuFFT documents that a plan may need a work area, but no size. The model follows what an H200 with cuFFT 12.0 took (`fft`, `fft2`
// and `rfft` in `tests/validation/truth/nvidia-h200`; the first within 1 %, the others exact):
//
// - lengths up to 4,096 with the prime factors 2, 3, 5 and 7 need none, in one dimension and in two;
// - other lengths without a prime factor above 127 need one copy of the complex data, of which a real transform has half;
// - a length with a larger prime factor is computed by Bluestein's algorithm, as a convolution: two copies of the data, padded to the
//   next length of small factors from twice the length on.
//
// PyTorch allocates the area itself, through its caching allocator, so the ledger counts it. Every use is named in the journal as the
// assumption `cufft-workspace`.

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

/// The largest prime factor of a length that is not computed by Bluestein's algorithm (cuFFT's documentation, accuracy and
/// performance).
const LARGEST_FACTOR: u64 = 127;

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
    element: Element,
}

/// The complex elements of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    bytes: u64,
    /// True if one side of the transform is real: the complex side has half of the last length, and one.
    is_one_sided: bool,
}

impl Transform {
    fn new(lengths: &[i64], batch: i64, element: Element) -> Result<Transform, CufftResult> {
        let size = |value: &i64| u64::try_from(*value).ok().filter(|size| *size > 0).ok_or(CufftResult::INVALID);
        let lengths: Vec<u64> = lengths.iter().map(size).collect::<Result<_, _>>()?;
        if !(1..=3).contains(&lengths.len()) {
            return Err(CufftResult::INVALID);
        }
        Ok(Transform { lengths, batch: size(&batch)?, element })
    }

    /// See Note [cuFFT work areas].
    fn work_bytes(&self) -> usize {
        if self.lengths.iter().all(|&length| length <= IN_SHARED_MEMORY && is_smooth(length)) {
            return 0;
        }
        let is_padded = self.lengths.iter().any(|&length| largest_factor(length) > LARGEST_FACTOR);
        let extents = if is_padded { self.padded() } else { self.complex_extents() };
        let copies = if is_padded { 2 } else { 1 };
        let elements = extents.iter().fold(self.batch, |product, extent| product.saturating_mul(*extent));
        elements.saturating_mul(self.element.bytes).saturating_mul(copies) as usize
    }

    fn complex_extents(&self) -> Vec<u64> {
        let mut extents = self.lengths.clone();
        if let Some(last) = extents.last_mut().filter(|_| self.element.is_one_sided) {
            *last = *last / 2 + 1;
        }
        extents
    }

    fn padded(&self) -> Vec<u64> {
        let pad = |&length: &u64| if largest_factor(length) > LARGEST_FACTOR { next_smooth(length) } else { length };
        self.lengths.iter().map(pad).collect()
    }
}

/// The next length of small factors from twice `length` on.
fn next_smooth(length: u64) -> u64 {
    let least = length.saturating_mul(2).saturating_sub(1);
    (least..u64::MAX)
        .take_while(|&candidate| candidate < least.saturating_mul(2))
        .find(|&it| is_smooth(it))
        .unwrap_or(least)
}

/// True if 2, 3, 5 and 7 are the only prime factors.
fn is_smooth(length: u64) -> bool {
    without_factors(length, &[2, 3, 5, 7]) == 1
}

/// The rest of a length after division by these factors, as often as possible.
fn without_factors(mut length: u64, factors: &[u64]) -> u64 {
    for factor in factors {
        while length.is_multiple_of(*factor) {
            length /= factor;
        }
    }
    length
}

/// The largest prime factor up to [`LARGEST_FACTOR`], or the rest without those.
fn largest_factor(length: u64) -> u64 {
    let small: Vec<u64> = (2..=LARGEST_FACTOR).collect();
    match without_factors(length, &small) {
        1 => LARGEST_FACTOR,
        rest => rest,
    }
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

    type Work = Result<usize, CufftResult>;

    fn work_bytes(lengths: &[i64], batch: i64, element: Element) -> Work {
        Transform::new(lengths, batch, element).map(|transform| transform.work_bytes())
    }

    const COMPLEX: Element = Element { bytes: 8, is_one_sided: false };
    const ONE_SIDED: Element = Element { bytes: 8, is_one_sided: true };

    #[test]
    fn work_areas_are_as_the_note_says() {
        let cases: [(&[i64], i64, Element, Work); 10] = [
            (&[1_024], 64, COMPLEX, Ok(0)),
            (&[4_096], 1, COMPLEX, Ok(0)),
            (&[8_192], 2, COMPLEX, Ok(2 * 8_192 * 8)),
            (&[11 * 13], 3, COMPLEX, Ok(3 * 11 * 13 * 8)),
            (&[11 * 13], 3, ONE_SIDED, Ok(3 * 72 * 8)),
            // Twice 131, less one, is followed by 262 and so on; 270 is the first with small factors.
            (&[131], 3, COMPLEX, Ok(2 * 3 * 270 * 8)),
            (&[64, 8_192], 2, COMPLEX, Ok(2 * 64 * 8_192 * 8)),
            (&[64, 64], 2, COMPLEX, Ok(0)),
            (&[0], 1, COMPLEX, Err(CufftResult::INVALID)),
            (&[2, 2, 2, 2], 1, COMPLEX, Err(CufftResult::INVALID)),
        ];
        for (lengths, batch, element, expected) in cases {
            assert_eq!(work_bytes(lengths, batch, element), expected, "{lengths:?} x {batch}");
        }
        assert_eq!(work_bytes(&[i64::MAX, 2], i64::MAX, COMPLEX), Ok(usize::MAX));
    }

    /// The peaks of `algebra.py` on an H200, less its other tensors.
    #[test]
    fn work_areas_are_those_of_an_h200() {
        assert_eq!(work_bytes(&[1 << 17], 1_024, ONE_SIDED), Ok(1_024 * 65_537 * 8));
        assert_eq!(work_bytes(&[4_096, 2_048], 16, COMPLEX), Ok(0));
        let (modelled, measured) = (work_bytes(&[100_003], 1_024, COMPLEX).unwrap_or_default(), 3_319_283_712);
        assert!(modelled.abs_diff(measured) < measured / 100, "{modelled}");
    }

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
