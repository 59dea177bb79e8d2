// On an unlimited device the need can be measured: a request beyond any card succeeds.
#include "phantom.h"

int main(void) {
    void *pointer;
    EXPECT(cudaMalloc(&pointer, (size_t)1 << 40), SUCCESS);
    EXPECT(used(), CONTEXT + ((size_t)1 << 40));
    EXPECT(cudaFree(pointer), SUCCESS);
    EXPECT(used(), CONTEXT);
    return failures != 0;
}
