// NVML tells of the same ledger; a process is on a device once it has a context there.
#include "phantom.h"

enum { NVML_INVALID = 2, NVML_TOO_SMALL = 7 };

int main(void) {
    unsigned clock = 0;
    unsigned devices = 0, count = 4;
    Handle device;
    NvmlMemory memory;
    NvmlProcess processes[4];
    NvmlProcessV1 first_version[4] = {{0}};
    void *pointer;
    char name[8];
    EXPECT(nvmlInit_v2(), SUCCESS);
    EXPECT(nvmlDeviceGetCount_v2(&devices), SUCCESS);
    EXPECT(devices, 1);
    EXPECT(nvmlDeviceGetHandleByIndex_v2(1, &device), NVML_INVALID);
    EXPECT(nvmlDeviceGetHandleByIndex_v2(0, &device), SUCCESS);
    EXPECT(nvmlDeviceGetMemoryInfo(device, &memory), SUCCESS);
    EXPECT(memory.used, 0);
    EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes), SUCCESS);
    EXPECT(count, 0);

    EXPECT(cudaMalloc(&pointer, 5 * MIB), SUCCESS);
    EXPECT(nvmlDeviceGetMemoryInfo(device, &memory), SUCCESS);
    EXPECT(memory.total, TOTAL);
    EXPECT(memory.used, CONTEXT + 6 * MIB);
    EXPECT(memory.free, TOTAL - CONTEXT - 6 * MIB);
    EXPECT(used(), memory.used);

    EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL), NVML_TOO_SMALL);
    EXPECT(count, 1);
    EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes), SUCCESS);
    EXPECT(processes[0].pid, getpid());
    EXPECT(processes[0].used, memory.used);
    EXPECT(nvmlDeviceGetComputeRunningProcesses(device, &count, first_version), SUCCESS);
    EXPECT(first_version[0].pid, getpid());
    EXPECT(first_version[0].used, memory.used);
    EXPECT(first_version[1].pid, 0);

    EXPECT(nvmlDeviceGetClockInfo(device, 1, &clock), SUCCESS);
    EXPECT(clock, 2520);
    EXPECT(nvmlDeviceGetClockInfo(device, 9, &clock), NVML_INVALID);

    // Text is cut to the buffer.
    EXPECT(nvmlDeviceGetName(device, name, sizeof name), SUCCESS);
    EXPECT(strcmp(name, "Test GP"), 0);
    EXPECT(nvmlDeviceGetMemoryInfo(NULL, &memory), NVML_INVALID);
    return failures != 0;
}
