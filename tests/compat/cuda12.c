/* What a PyTorch for CUDA 12 asks of the runtime and the phantom, which answers as CUDA 13, does not have: the device's
 * properties in the older layout. Built against the headers that come with that PyTorch, so the layout is theirs, and
 * preloaded before the phantom, whose other answers fit both. */

#include <cuda_runtime_api.h>
#include <string.h>

#undef cudaGetDeviceProperties

static int attribute(enum cudaDeviceAttr which, int device) {
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

static size_t total_memory(int device) {
    int current = 0;
    size_t unused, total = 0;
    cudaGetDevice(&current);
    cudaSetDevice(device);
    cudaMemGetInfo(&unused, &total);
    cudaSetDevice(current);
    return total;
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *properties, int device) {
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "phantom");
    properties->totalGlobalMem = total_memory(device);
    properties->major = attribute(cudaDevAttrComputeCapabilityMajor, device);
    properties->minor = attribute(cudaDevAttrComputeCapabilityMinor, device);
    properties->pciDomainID = attribute(cudaDevAttrPciDomainId, device);
    properties->pciBusID = attribute(cudaDevAttrPciBusId, device);
    properties->pciDeviceID = attribute(cudaDevAttrPciDeviceId, device);
    properties->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount, device);
    properties->warpSize = attribute(cudaDevAttrWarpSize, device);
    properties->l2CacheSize = attribute(cudaDevAttrL2CacheSize, device);
    properties->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock, device);
    properties->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device);
    properties->sharedMemPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock, device);
    properties->sharedMemPerBlockOptin = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    properties->sharedMemPerMultiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    properties->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock, device);
    properties->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor, device);
    for (int axis = 0; axis < 3; axis++) {
        properties->maxThreadsDim[axis] = attribute(cudaDevAttrMaxBlockDimX + axis, device);
        properties->maxGridSize[axis] = attribute(cudaDevAttrMaxGridDimX + axis, device);
    }
    return cudaSuccess;
}

/* The phantom's own has the parameters of CUDA 13, with edges; the header here declares the older one of that name. */
extern cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                const cudaGraphNode_t **nodes, const void **edges, size_t *count) __asm__("cudaStreamGetCaptureInfo");

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *count) {
    return capture_info(stream, status, id, graph, nodes, 0, count);
}
