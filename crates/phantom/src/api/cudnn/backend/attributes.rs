//! Numbers of the graph API, from `cudnn_graph.h` of cuDNN 9.19: only those read here.

macro_rules! numbers {
    ($($(#[$meta:meta])* $name:ident = $value:literal;)*) => { $($(#[$meta])* pub const $name: i32 = $value;)* };
}

// `cudnnBackendDescriptorType_t`, without `CUDNN_BACKEND_` and `_DESCRIPTOR`.
numbers! {
    ENGINE = 2;
    ENGINECFG = 3;
    ENGINEHEUR = 4;
    EXECUTION_PLAN = 5;
    OPERATION_CONVOLUTION_FORWARD = 10;
    OPERATION_CONVOLUTION_BACKWARD_FILTER = 11;
    OPERATION_CONVOLUTION_BACKWARD_DATA = 12;
    OPERATIONGRAPH = 15;
    OPERATION_MATMUL = 19;
    OPERATION_SDPA_FWD = 41;
    OPERATION_SDPA_BWD = 43;
}

// `cudnnBackendAttributeName_t`, without `CUDNN_ATTR_`.
numbers! {
    ENGINEHEUR_MODE = 200;
    ENGINEHEUR_OPERATION_GRAPH = 201;
    ENGINEHEUR_RESULTS = 202;
    ENGINECFG_ENGINE = 300;
    ENGINECFG_INTERMEDIATE_INFO = 301;
    ENGINECFG_KNOB_CHOICES = 302;
    ENGINECFG_WORKSPACE_SIZE = 303;
    ENGINECFG_SHARED_MEMORY_USED = 304;
    EXECUTION_PLAN_ENGINE_CONFIG = 401;
    EXECUTION_PLAN_WORKSPACE_SIZE = 402;
    EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS = 403;
    EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS = 404;
    OPERATION_CONVOLUTION_FORWARD_W = 703;
    OPERATION_CONVOLUTION_FORWARD_X = 704;
    OPERATION_CONVOLUTION_FORWARD_Y = 705;
    OPERATION_CONVOLUTION_BWD_DATA_W = 709;
    OPERATION_CONVOLUTION_BWD_DATA_DX = 710;
    OPERATION_CONVOLUTION_BWD_DATA_DY = 711;
    OPERATION_CONVOLUTION_BWD_FILTER_DW = 715;
    OPERATION_CONVOLUTION_BWD_FILTER_X = 716;
    OPERATION_CONVOLUTION_BWD_FILTER_DY = 717;
    OPERATIONGRAPH_OPS = 801;
    OPERATIONGRAPH_ENGINE_GLOBAL_COUNT = 802;
    TENSOR_DATA_TYPE = 901;
    TENSOR_DIMENSIONS = 902;
    TENSOR_STRIDES = 903;
    TENSOR_IS_VIRTUAL = 907;
    VARIANT_PACK_WORKSPACE = 1003;
    ENGINE_OPERATION_GRAPH = 1300;
    ENGINE_GLOBAL_INDEX = 1301;
    ENGINE_KNOB_INFO = 1302;
    ENGINE_NUMERICAL_NOTE = 1303;
    ENGINE_LAYOUT_INFO = 1304;
    ENGINE_BEHAVIOR_NOTE = 1305;
    OPERATION_MATMUL_CDESC = 1522;
}

// `cudnnBackendAttributeType_t`, without `CUDNN_TYPE_`.
numbers! {
    INT64 = 3;
    NUMERICAL_NOTE = 11;
    BACKEND_DESCRIPTOR = 15;
    BEHAVIOR_NOTE = 19;
    INT32 = 23;
}

/// `CUDNN_HEUR_MODE_FALLBACK`.
pub(crate) const FALLBACK: i64 = 2;

/// Bytes of one element of a `cudnnBackendAttributeType_t`; `None` for a number the header lacks.
pub(crate) fn element_bytes(kind: i32) -> Option<usize> {
    Some(match kind {
        // BOOLEAN, CHAR.
        2 | 24 => 1,
        // HANDLE, INT64, DOUBLE, VOID_PTR, BACKEND_DESCRIPTOR.
        0 | 3 | 5 | 6 | 15 => 8,
        // FRACTION: two int64.
        26 => 16,
        // FLOAT, INT32 and the enumerations.
        1 | 4 | 7..=14 | 16..=23 | 25 | 27..=30 => 4,
        _ => return None,
    })
}

/// The name of a failed read of an attribute.
pub(crate) fn reading(attribute: i32) -> &'static str {
    match attribute {
        405 => "cudnnBackendGetAttribute(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)",
        500..=503 => "cudnnBackendGetAttribute(CUDNN_ATTR_INTERMEDIATE_INFO_*)",
        600..=601 => "cudnnBackendGetAttribute(CUDNN_ATTR_KNOB_CHOICE_*) of a choice that was not set",
        803..=804 => "cudnnBackendGetAttribute(CUDNN_ATTR_OPERATIONGRAPH_*)",
        900..=913 => "cudnnBackendGetAttribute(CUDNN_ATTR_TENSOR_*) of an attribute that was not set",
        1100..=1101 => "cudnnBackendGetAttribute(CUDNN_ATTR_LAYOUT_INFO_*)",
        1200..=1203 => "cudnnBackendGetAttribute(CUDNN_ATTR_KNOB_INFO_*)",
        2400..=2402 => "cudnnBackendGetAttribute(CUDNN_ATTR_KERNEL_CACHE_*)",
        2700..=2702 => "cudnnBackendGetAttribute(CUDNN_ATTR_DEVICEPROP_*)",
        _ => "cudnnBackendGetAttribute of an attribute that was not set",
    }
}
