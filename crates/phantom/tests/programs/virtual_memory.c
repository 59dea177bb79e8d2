// The driver's virtual memory: creating charges; the charge ends with the handle released and the mapping gone.
#include "phantom.h"

int main(void) {
    AllocationProp prop = {.type = 1, .location_type = 1, .location_id = 0};
    Handle first, second, same, refused = &first;
    char *reserved = NULL;
    size_t granularity = 0;
    EXPECT(cuInit(0), SUCCESS);
    EXPECT(cuMemGetAllocationGranularity(&granularity, &prop, 0), SUCCESS);
    EXPECT(granularity, 2 * MIB);
    EXPECT(cuMemAddressReserve((void **)&reserved, 1024 * MIB, 0, NULL, 0), SUCCESS);
    EXPECT(used(), CONTEXT);

    EXPECT(cuMemCreate(&refused, MIB, &prop, 0), INVALID_VALUE);
    EXPECT(cuMemCreate(&refused, 62 * MIB, &prop, 0), OUT_OF_MEMORY);
    EXPECT(refused == (Handle)&first, 1);
    EXPECT(cuMemCreate(&first, 20 * MIB, &prop, 0), SUCCESS);
    EXPECT(cuMemCreate(&second, 2 * MIB, &prop, 0), SUCCESS);
    EXPECT(used(), CONTEXT + 22 * MIB);

    EXPECT(cuMemMap(reserved, 20 * MIB, 0, first, 0), SUCCESS);
    EXPECT(cuMemMap(reserved + 18 * MIB, 2 * MIB, 0, second, 0), INVALID_VALUE);
    EXPECT(cuMemMap(reserved + 1023 * MIB, 2 * MIB, 0, second, 0), INVALID_VALUE);
    EXPECT(cuMemMap(&first, 2 * MIB, 0, second, 0), INVALID_VALUE);
    EXPECT(cuMemMap(reserved + 20 * MIB, 2 * MIB, 0, second, 0), SUCCESS);
    EXPECT(cuMemRetainAllocationHandle(&same, reserved + 19 * MIB), SUCCESS);
    EXPECT(same == first, 1);
    EXPECT(cuMemRetainAllocationHandle(&same, reserved + 22 * MIB), INVALID_VALUE);

    EXPECT(cuMemRelease(first), SUCCESS);
    EXPECT(used(), CONTEXT + 22 * MIB);
    EXPECT(cuMemUnmap(reserved, 20 * MIB), SUCCESS);
    EXPECT(used(), CONTEXT + 2 * MIB);
    EXPECT(cuMemUnmap(reserved, 20 * MIB), INVALID_VALUE);
    EXPECT(cuMemRelease(first), INVALID_VALUE);

    EXPECT(cuMemUnmap(reserved + 20 * MIB, 2 * MIB), SUCCESS);
    EXPECT(used(), CONTEXT + 2 * MIB);
    EXPECT(cuMemRelease(second), SUCCESS);
    EXPECT(used(), CONTEXT);
    EXPECT(cuMemAddressFree(reserved, 1024 * MIB), SUCCESS);
    EXPECT(cuMemAddressFree(reserved, 1024 * MIB), INVALID_VALUE);
    return failures != 0;
}
