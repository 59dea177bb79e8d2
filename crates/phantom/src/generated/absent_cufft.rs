//! Functions of cuFFT that the phantom lacks: each fails by name.
//!
//! Written by `make generate` from the exports of libcufft.so; not to be edited.

use crate::boundary::absent;
use crate::status::CufftResult;

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
