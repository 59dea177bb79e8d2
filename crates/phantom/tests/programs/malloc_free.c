// cudaMalloc and cudaFree: whole pages are charged, and come back.
#include "phantom.h"

int main(void) {
    size_t free_bytes, total_bytes;
    EXPECT(cudaMemGetInfo(&free_bytes, &total_bytes), SUCCESS);
    EXPECT(total_bytes, TOTAL);
    EXPECT(free_bytes, TOTAL - CONTEXT);

    void *pointer = NULL, *nothing = &pointer;
    EXPECT(cudaMalloc(&pointer, 3 * MIB), SUCCESS);
    EXPECT(pointer != NULL && (uintptr_t)pointer % (2 * MIB) == 0, 1);
    EXPECT(used(), CONTEXT + 4 * MIB);
    EXPECT(cudaFree(pointer), SUCCESS);
    EXPECT(used(), CONTEXT);

    EXPECT(cudaFree(pointer), INVALID_VALUE);
    EXPECT(cudaFree((char *)&pointer), INVALID_VALUE);
    EXPECT(cudaFree(NULL), SUCCESS);
    EXPECT(cudaMalloc(&nothing, 0), SUCCESS);
    EXPECT(nothing == NULL, 1);
    EXPECT(used(), CONTEXT);
    return failures != 0;
}
