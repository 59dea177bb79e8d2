// A handle that ended, that never was, or that is of another kind is refused and never read through.
#include "phantom.h"

int main(void) {
    Handle stream, event, next, graph, executable;
    char foreign[64] = {0};
    EXPECT(cudaStreamCreate(&stream), SUCCESS);
    EXPECT(cudaStreamDestroy(stream), SUCCESS);
    EXPECT(cudaStreamDestroy(stream), INVALID_HANDLE);
    EXPECT(cudaStreamCreate(&next), SUCCESS);
    EXPECT(next != stream, 1);
    EXPECT(cudaStreamQuery(stream), INVALID_HANDLE);
    EXPECT(cudaStreamQuery(next), SUCCESS);
    EXPECT(cudaStreamQuery(foreign), INVALID_HANDLE);
    EXPECT(cudaStreamQuery((Handle)-1), INVALID_HANDLE);
    EXPECT(cudaStreamQuery(NULL), SUCCESS);

    EXPECT(cudaEventCreate(&event), SUCCESS);
    EXPECT(cudaEventQuery(next), INVALID_HANDLE);
    EXPECT(cudaStreamQuery(event), INVALID_HANDLE);
    EXPECT(cudaEventRecord(event, stream), INVALID_HANDLE);
    EXPECT(cudaEventDestroy(event), SUCCESS);
    EXPECT(cudaEventDestroy(event), INVALID_HANDLE);
    EXPECT(cudaStreamWaitEvent(next, event, 0), INVALID_HANDLE);
    EXPECT(cudaEventQuery(NULL), INVALID_HANDLE);

    EXPECT(cudaStreamBeginCapture(next, 0), SUCCESS);
    EXPECT(cudaStreamEndCapture(next, &graph), SUCCESS);
    EXPECT(cudaGraphInstantiate(&executable, graph, 0), SUCCESS);
    EXPECT(cudaGraphLaunch(graph, NULL), INVALID_HANDLE);
    EXPECT(cudaGraphExecDestroy(executable), SUCCESS);
    EXPECT(cudaGraphLaunch(executable, NULL), INVALID_HANDLE);
    EXPECT(cudaGraphDestroy(graph), SUCCESS);
    EXPECT(cudaGraphInstantiate(&executable, graph, 0), INVALID_HANDLE);
    return failures != 0;
}
