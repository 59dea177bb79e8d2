// CUDA_VISIBLE_DEVICES hides devices, as it does on a machine that has them.
#include "phantom.h"

int main(int argc, char **argv) {
    int count = -1;
    EXPECT(cudaGetDeviceCount(&count), SUCCESS);
    EXPECT(count, argc > 1 ? atoi(argv[1]) : -1);
    EXPECT(cudaSetDevice(count), INVALID_DEVICE);
    return failures != 0;
}
