// What a capture forbids: each case is a capture of its own, and what its end answers. The sources are in Note [Captures] (src/cuda/capture.rs).
#include "phantom.h"

static Handle origin, side, event, before;

static void begin(int mode) {
    EXPECT(cudaStreamBeginCapture(origin, mode), SUCCESS);
    EXPECT(launch(origin), SUCCESS);
}

static void end(int expected) {
    Handle graph = &graph;
    EXPECT(cudaStreamEndCapture(origin, &graph), expected);
    EXPECT(graph != NULL, expected == SUCCESS);
    EXPECT(launch(origin), SUCCESS);
}

static void fork_to_side(void) {
    EXPECT(cudaEventRecord(event, origin), SUCCESS);
    EXPECT(cudaStreamWaitEvent(side, event, 0), SUCCESS);
}

int main(void) {
    void *memory = NULL;
    int mode = RELAXED;
    Handle blocking = NULL, graph = NULL;
    EXPECT(cudaStreamCreateWithFlags(&origin, NON_BLOCKING), SUCCESS);
    EXPECT(cudaStreamCreateWithFlags(&side, NON_BLOCKING), SUCCESS);
    EXPECT(cudaStreamCreate(&blocking), SUCCESS);
    EXPECT(cudaEventCreate(&event), SUCCESS);
    EXPECT(cudaEventCreate(&before), SUCCESS);
    EXPECT(cudaEventRecord(before, side), SUCCESS);

    EXPECT(cudaStreamBeginCapture(NULL, GLOBAL), CAPTURE_UNSUPPORTED);
    begin(GLOBAL);
    EXPECT(cudaStreamBeginCapture(origin, GLOBAL), ILLEGAL_STATE);
    EXPECT(launch(NULL), SUCCESS);
    end(SUCCESS);

    begin(RELAXED);
    EXPECT(cudaStreamSynchronize(origin), CAPTURE_UNSUPPORTED);
    EXPECT(launch(origin), CAPTURE_INVALIDATED);
    end(CAPTURE_INVALIDATED);

    begin(RELAXED);
    EXPECT(cudaDeviceSynchronize(), CAPTURE_UNSUPPORTED);
    end(CAPTURE_INVALIDATED);

    begin(RELAXED);
    EXPECT(cudaEventRecord(event, origin), SUCCESS);
    EXPECT(cudaEventQuery(event), CAPTURED_EVENT);
    end(CAPTURE_INVALIDATED);

    begin(GLOBAL);
    EXPECT(cudaEventQuery(before), CAPTURE_UNSUPPORTED);
    end(CAPTURE_INVALIDATED);

    begin(RELAXED);
    EXPECT(cudaEventQuery(before), SUCCESS);
    EXPECT(cudaMalloc(&memory, MIB), SUCCESS);
    end(SUCCESS);

    begin(THREAD_LOCAL);
    EXPECT(cudaMalloc(&memory, MIB), CAPTURE_UNSUPPORTED);
    end(CAPTURE_INVALIDATED);

    begin(GLOBAL);
    EXPECT(cudaThreadExchangeStreamCaptureMode(&mode), SUCCESS);
    EXPECT(mode, GLOBAL);
    EXPECT(cudaMalloc(&memory, MIB), SUCCESS);
    EXPECT(cudaThreadExchangeStreamCaptureMode(&mode), SUCCESS);
    EXPECT(mode, RELAXED);
    end(SUCCESS);

    begin(GLOBAL);
    EXPECT(cudaStreamWaitEvent(origin, before, 0), CAPTURE_ISOLATION);
    end(CAPTURE_INVALIDATED);

    begin(GLOBAL);
    EXPECT(cudaEventRecord(event, origin), SUCCESS);
    EXPECT(cudaStreamWaitEvent(NULL, event, 0), CAPTURE_IMPLICIT);
    end(CAPTURE_INVALIDATED);

    begin(GLOBAL);
    fork_to_side();
    end(SUCCESS);
    begin(GLOBAL);
    fork_to_side();
    EXPECT(launch(side), SUCCESS);
    end(CAPTURE_UNJOINED);

    // While a blocking stream is captured, the legacy stream cannot be used; asking it does no harm.
    EXPECT(cudaStreamBeginCapture(blocking, GLOBAL), SUCCESS);
    EXPECT(cudaStreamIsCapturing(NULL, &mode), CAPTURE_IMPLICIT);
    EXPECT(launch(blocking), SUCCESS);
    EXPECT(launch(NULL), CAPTURE_IMPLICIT);
    EXPECT(cudaStreamEndCapture(blocking, &graph), CAPTURE_INVALIDATED);
    EXPECT(cudaStreamBeginCapture(blocking, THREAD_LOCAL), SUCCESS);
    EXPECT(cudaStreamSynchronize(NULL), CAPTURE_IMPLICIT);
    EXPECT(cudaStreamEndCapture(blocking, &graph), CAPTURE_INVALIDATED);
    return failures != 0;
}
