// Captures: a stream joins through an event, its work is nodes and edges, and it leaves when the capture ends.
#include "phantom.h"

static int is_capturing(Handle stream) {
    int status = -1;
    EXPECT(cudaStreamIsCapturing(stream, &status), SUCCESS);
    return status;
}

static size_t last_nodes(Handle stream, Handle *first) {
    int status = -1;
    unsigned long long id = 0;
    Handle graph = NULL;
    const Handle *nodes = NULL;
    size_t count = 0;
    EXPECT(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count), SUCCESS);
    EXPECT(status, 1);
    EXPECT(id > 0 && graph != NULL, 1);
    if (count > 0) *first = nodes[0];
    return count;
}

static void count_call(void *calls) { ++*(int *)calls; }

int main(void) {
    Handle origin, side, event, joined, graph = NULL, executable = NULL, nodes[5], from[5], to[5], first = NULL, last = NULL;
    size_t count = 0;
    int priority = 1, kind = -1, calls = 0;
    float milliseconds = -1;
    EXPECT(cudaStreamCreate(&origin), SUCCESS);
    EXPECT(cudaStreamCreateWithPriority(&side, 1, -100), SUCCESS);
    EXPECT(cudaStreamGetPriority(side, &priority), SUCCESS);
    EXPECT(priority, -5);
    EXPECT(cudaEventCreate(&event), SUCCESS);
    EXPECT(cudaEventCreate(&joined), SUCCESS);
    EXPECT(is_capturing(origin), 0);
    EXPECT(cudaStreamEndCapture(origin, &graph), ILLEGAL_STATE);

    // origin: first -> host function -> last; side: first -> a kernel -> last
    EXPECT(cudaStreamBeginCapture(origin, GLOBAL), SUCCESS);
    EXPECT(is_capturing(origin), 1);
    EXPECT(is_capturing(side), 0);
    EXPECT(last_nodes(origin, &first), 0);
    EXPECT(launch(origin), SUCCESS);
    EXPECT(last_nodes(origin, &first), 1);
    EXPECT(cudaEventRecord(event, origin), SUCCESS);
    EXPECT(cudaStreamWaitEvent(side, event, 0), SUCCESS);
    EXPECT(is_capturing(side), 1);
    EXPECT(last_nodes(side, &last), 1);
    EXPECT(last == first, 1);
    EXPECT(launch(side), SUCCESS);
    EXPECT(cudaLaunchHostFunc(origin, count_call, &calls), SUCCESS);
    EXPECT(cudaEventRecord(joined, side), SUCCESS);
    EXPECT(cudaStreamWaitEvent(origin, joined, 0), SUCCESS);
    EXPECT(last_nodes(origin, &last), 2);
    EXPECT(launch(origin), SUCCESS);
    EXPECT(last_nodes(origin, &last), 1);
    EXPECT(cudaStreamEndCapture(side, &graph), CAPTURE_UNMATCHED);
    EXPECT(cudaStreamEndCapture(origin, &graph), SUCCESS);
    EXPECT(is_capturing(origin), 0);
    EXPECT(is_capturing(side), 0);

    EXPECT(cudaGraphGetNodes(graph, NULL, &count), SUCCESS);
    EXPECT(count, 4);
    count = 5;
    EXPECT(cudaGraphGetNodes(graph, nodes, &count), SUCCESS);
    EXPECT(count, 4);
    EXPECT(nodes[0] == first && nodes[3] == last && nodes[4] == NULL, 1);
    count = 5;
    EXPECT(cudaGraphGetRootNodes(graph, nodes, &count), SUCCESS);
    EXPECT(count, 1);
    count = 5;
    EXPECT(cudaGraphNodeGetDependencies_v2(last, nodes, NULL, &count), SUCCESS);
    EXPECT(count, 2);
    count = 5;
    EXPECT(cudaGraphGetEdges_v2(graph, from, to, NULL, &count), SUCCESS);
    EXPECT(count, 4);
    EXPECT(from[0] == first && from[1] == first && to[2] == last && to[3] == last, 1);
    EXPECT(cudaGraphNodeGetType(first, &kind), SUCCESS);
    EXPECT(kind, 0);

    EXPECT(calls, 0);
    EXPECT(cudaGraphInstantiate(&executable, graph, 0), SUCCESS);
    EXPECT(cudaGraphDestroy(graph), SUCCESS);
    EXPECT(cudaGraphNodeGetType(first, &kind), INVALID_HANDLE);
    EXPECT(cudaGraphLaunch(executable, origin), SUCCESS);
    EXPECT(calls, 1);
    EXPECT(cudaEventRecord(event, NULL), SUCCESS);
    EXPECT(cudaEventElapsedTime(&milliseconds, event, event), SUCCESS);
    EXPECT(milliseconds > 0, 1);
    EXPECT(cudaStreamSynchronize(side), SUCCESS);
    return failures != 0;
}
