// An NVML in front of the phantom's, with the failures that `failing_nvml.py` defines. `names.h` has FORWARD(NAME) for each function.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

// nvmlReturn_t.
enum { NOT_SUPPORTED = 3, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15 };

// The functions of nvml.h have five arguments at most, all of them in registers. One returns a text.
typedef long (*Function)(void *, void *, void *, void *, void *);

// The phantom is preloaded, and the first in the global scope.
static Function find(const char *name) { return (Function)dlsym(RTLD_DEFAULT, name); }

static int is_lost(void *device) {
    void *lost = NULL;
    return LOST >= 0 && (int)find("nvmlDeviceGetHandleByIndex_v2")((void *)(intptr_t)LOST, &lost, 0, 0, 0) == 0 && device == lost;
}

static long forward(const char *name, void *first, void *second, void *third, void *fourth, void *fifth) {
    if (NO_DRIVER && strncmp(name, "nvmlInit", 8) == 0)
        return DRIVER_NOT_LOADED;
    if (NO_MEMORY && strstr(name, "GetMemoryInfo"))
        return NOT_SUPPORTED;
    int is_of_device = strncmp(name, "nvmlDeviceGet", 13) == 0 && !strstr(name, "HandleBy") && !strstr(name, "GetCount");
    if (is_of_device && is_lost(first))
        return GPU_IS_LOST;
    long status = find(name)(first, second, third, fourth, fifth);
    if ((int)status == 0 && NO_MEMORY && third && strstr(name, "RunningProcesses")) {
        // nvmlProcessInfo_v1_t has a number and bytes, later versions two numbers more.
        int words = strstr(name, "_v") ? 3 : 2;
        for (unsigned i = 0; i < *(unsigned *)second; i++)
            ((uint64_t *)third)[i * words + 1] = UINT64_MAX;
    }
    if ((int)status == 0 && UTILIZATION && strcmp(name, "nvmlDeviceGetUtilizationRates") == 0)
        *(unsigned *)second = UTILIZATION;
    return status;
}

#define FORWARD(name) \
    long name(void *first, void *second, void *third, void *fourth, void *fifth) { \
        return forward(#name, first, second, third, fourth, fifth); \
    }
#include "names.h"
