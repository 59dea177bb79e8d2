//! Functions of cuFile that the phantom lacks: each fails by name.
//!
//! Written by `make generate` from the exports of libcufile.so; not to be edited.

use crate::boundary::absent;
use crate::status::CufileError;

absent! { CufileError;
    cuFileBatchIOCancel
    cuFileBatchIODestroy
    cuFileBatchIOGetStatus
    cuFileBatchIOSetUp
    cuFileBatchIOSubmit
    cuFileCopyGpu
    cuFileCopyGpuPosixIORetry
    cuFileCopyGpuWrap
    cuFileCopyGpuWrapPosixIORetry
    cuFileDriverClose
    cuFileDriverClose_v2
    cuFileDriverGetP2PFlags
    cuFileDriverGetProperties
    cuFileDriverSetMaxCacheSize
    cuFileDriverSetMaxDirectIOSize
    cuFileDriverSetMaxPinnedMemSize
    cuFileDriverSetP2PFlags
    cuFileDriverSetPollMode
    cuFileExportPCIeTopology
    cuFileGetBARSizeInKB
    cuFileGetParameterBool
    cuFileGetParameterGpuBounceBufferSlabArray
    cuFileGetParameterMinMaxValue
    cuFileGetParameterPosixPoolSlabArray
    cuFileGetParameterSizeT
    cuFileGetParameterString
    cuFileGetStatsL1
    cuFileGetStatsL2
    cuFileGetStatsL3
    cuFileGetStatsLevel
    cuFileGetVersion
    cuFileGpuWaitValue32
    cuFileInlineGpu
    cuFileReadAsync
    cuFileSetParameterBool
    cuFileSetParameterGpuBounceBufferSlabArray
    cuFileSetParameterPosixPoolSlabArray
    cuFileSetParameterSizeT
    cuFileSetParameterString
    cuFileSetStatsLevel
    cuFileSparseGpu
    cuFileStatsReset
    cuFileStatsStart
    cuFileStatsStop
    cuFileStreamDeregister
    cuFileStreamHandleInline
    cuFileStreamHandleSparse
    cuFileStreamRegister
    cuFileStreamWaitValue32
    cuFileUseCount
    cuFileWriteAsync
}
