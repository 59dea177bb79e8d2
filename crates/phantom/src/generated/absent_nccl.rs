//! Functions of NCCL that the phantom lacks: each fails by name.
//!
//! Made by `crates/phantom/generate.py` from the exports of libnccl.so.2; do not edit by hand.

use crate::api::nccl::NcclResult;
use crate::boundary::absent;

absent! { NcclResult;
    ncclGinBarrierCreateRequirement
    ncclLLA2ACalcSlots
    ncclLLA2ACreateRequirement
    ncclLsaBarrierCreateRequirement
    ncclResetDebugInitInternal
    ncclTeamLsa
    ncclTeamRail
    ncclTeamRankToLsa
    ncclTeamRankToWorld
    ncclTeamWorld
    pncclAllGather
    pncclAllReduce
    pncclAlltoAll
    pncclBcast
    pncclBroadcast
    pncclCommAbort
    pncclCommCount
    pncclCommCuDevice
    pncclCommDeregister
    pncclCommDestroy
    pncclCommFinalize
    pncclCommGetAsyncError
    pncclCommInitAll
    pncclCommInitRank
    pncclCommInitRankConfig
    pncclCommInitRankScalable
    pncclCommRegister
    pncclCommRevoke
    pncclCommShrink
    pncclCommSplit
    pncclCommUserRank
    pncclCommWindowDeregister
    pncclCommWindowRegister
    pncclDevCommCreate
    pncclDevCommDestroy
    pncclGather
    pncclGetErrorString
    pncclGetLastError
    pncclGetUniqueId
    pncclGetVersion
    pncclGinBarrierCreateRequirement
    pncclGroupEnd
    pncclGroupSimulateEnd
    pncclGroupStart
    pncclLLA2ACalcSlots
    pncclLLA2ACreateRequirement
    pncclLsaBarrierCreateRequirement
    pncclMemAlloc
    pncclMemFree
    pncclRecv
    pncclRedOpCreatePreMulSum
    pncclRedOpDestroy
    pncclReduce
    pncclReduceScatter
    pncclResetDebugInit
    pncclScatter
    pncclSend
    pncclTeamLsa
    pncclTeamRail
    pncclTeamRankToLsa
    pncclTeamRankToWorld
    pncclTeamWorld
}
