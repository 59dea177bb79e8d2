// A program that closed its standard streams: complaints go nowhere, and above all not into the journal.
#include "phantom.h"

int main(void) {
    Handle pool;
    void *pointer;
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    EXPECT(cudaMalloc(&pointer, 2 * MIB), SUCCESS);
    EXPECT(cudaMemPoolCreate(&pool, NULL), NOT_SUPPORTED);
    EXPECT(write(STDIN_FILENO, "stray", 5), -1);
    EXPECT(write(STDOUT_FILENO, "stray", 5), -1);
    EXPECT(write(STDERR_FILENO, "stray", 5), -1);
    EXPECT(cudaFree(pointer), SUCCESS);
    return failures != 0;
}
