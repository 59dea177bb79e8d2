//! Functions of cuFFT that the phantom lacks: each fails by name.
//!
//! Made by `crates/phantom/generate.py` from the exports of libcufft.so; do not edit by hand.

use crate::api::cufft::CufftResult;
use crate::boundary::absent;

absent! { CufftResult;
    cufftDebug
    cufftDescriptionCreate
    cufftDescriptionGetTraitInt64
    cufftDescriptionSetTraitInt64
    cufftDeviceCreate
    cufftDeviceDestroy
    cufftDeviceGetDatabaseStr
    cufftDeviceGetDatabaseStrSize
    cufftDeviceGetDeviceFunctionTraitInt64
    cufftDeviceGetDeviceFunctions
    cufftDeviceGetLTOIRSizes
    cufftDeviceGetLTOIRs
    cufftDeviceGetNumDeviceFunctions
    cufftDeviceGetNumLTOIRs
    cufftDeviceGetSemanticVersion
    cufftDeviceGetVersion
    cufftDeviceIsSupported
    cufftEstimate1d
    cufftEstimate2d
    cufftEstimate3d
    cufftEstimateMany
    cufftGetPlanPropertyInt64
    cufftPlan1d
    cufftPlan2d
    cufftPlan3d
    cufftPlanMany
    cufftResetPlanProperty
    cufftSetPlanPropertyInt64
    cufftXtClearCallback
    cufftXtExecDescriptor
    cufftXtExecDescriptorC2C
    cufftXtExecDescriptorC2R
    cufftXtExecDescriptorD2Z
    cufftXtExecDescriptorR2C
    cufftXtExecDescriptorZ2D
    cufftXtExecDescriptorZ2Z
    cufftXtFree
    cufftXtMakePlanGuru64
    cufftXtMalloc
    cufftXtMemcpy
    cufftXtQueryPlan
    cufftXtSetCallback
    cufftXtSetCallbackSharedSize
    cufftXtSetGPUs
    cufftXtSetJITCallback
    cufftXtSetWorkArea
    cufftXtSetWorkAreaPolicy
}
