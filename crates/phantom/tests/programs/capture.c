// Streams, events and capture: a stream joins a capture through an event, and leaves when the capture ends.
#include "phantom.h"

static int is_capturing(Handle stream) {
    int status = -1;
    EXPECT(cudaStreamIsCapturing(stream, &status), SUCCESS);
    return status;
}

int main(void) {
    Handle origin, side, event, graph = NULL, executable = NULL, node = NULL;
    size_t nodes = 0;
    int priority = 1;
    float milliseconds = -1;
    EXPECT(cudaStreamCreate(&origin), SUCCESS);
    EXPECT(cudaStreamCreateWithPriority(&side, 1, -100), SUCCESS);
    EXPECT(cudaStreamGetPriority(side, &priority), SUCCESS);
    EXPECT(priority, -5);
    EXPECT(cudaEventCreate(&event), SUCCESS);
    EXPECT(is_capturing(origin), 0);
    EXPECT(cudaStreamEndCapture(origin, &graph), UNMATCHED_CAPTURE);

    EXPECT(cudaStreamBeginCapture(origin, 0), SUCCESS);
    EXPECT(is_capturing(origin), 1);
    EXPECT(is_capturing(side), 0);
    EXPECT(cudaEventRecord(event, origin), SUCCESS);
    EXPECT(cudaStreamWaitEvent(side, event, 0), SUCCESS);
    EXPECT(is_capturing(side), 1);
    EXPECT(cudaStreamEndCapture(origin, &graph), SUCCESS);
    EXPECT(is_capturing(origin), 0);
    EXPECT(is_capturing(side), 0);

    EXPECT(cudaGraphGetNodes(graph, NULL, &nodes), SUCCESS);
    EXPECT(nodes, 1);
    EXPECT(cudaGraphGetNodes(graph, &node, &nodes), SUCCESS);
    EXPECT(node != NULL, 1);
    EXPECT(cudaGraphInstantiate(&executable, graph, 0), SUCCESS);
    EXPECT(cudaGraphDestroy(graph), SUCCESS);
    EXPECT(cudaGraphLaunch(executable, origin), SUCCESS);
    EXPECT(cudaEventRecord(event, NULL), SUCCESS);
    EXPECT(cudaEventElapsedTime(&milliseconds, event, event), SUCCESS);
    EXPECT(milliseconds > 0, 1);
    EXPECT(cudaStreamSynchronize(side), SUCCESS);
    return failures != 0;
}
