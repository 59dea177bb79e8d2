// Requests of less than a page share pages; each takes a multiple of 512 bytes.
#include "phantom.h"

enum { PER_PAGE = 4096 };

int main(void) {
    void *pointers[PER_PAGE], *more;
    for (int i = 0; i < PER_PAGE; i++) EXPECT(cudaMalloc(&pointers[i], 1 + i % 512), SUCCESS);
    for (int i = 1; i < PER_PAGE; i++) EXPECT(pointers[i] != pointers[i - 1], 1);
    EXPECT(used(), CONTEXT + 2 * MIB);
    EXPECT(cudaMalloc(&more, 1), SUCCESS);
    EXPECT(used(), CONTEXT + 4 * MIB);
    EXPECT(cudaFree(more), SUCCESS);
    EXPECT(used(), CONTEXT + 2 * MIB);
    for (int i = 0; i < PER_PAGE; i++) EXPECT(cudaFree(pointers[i]), SUCCESS);
    EXPECT(used(), CONTEXT);
    return failures != 0;
}
