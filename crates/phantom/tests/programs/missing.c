// An entry point that the phantom lacks fails by name, once, however it was found; a name CUDA lacks is not found.
#include "phantom.h"

int main(void) {
    Handle pool = &pool;
    int (*create)(Handle *, const void *) = NULL, status = -1;
    EXPECT(cudaMemPoolCreate(&pool, NULL), NOT_SUPPORTED);
    EXPECT(cudaMemPoolCreate(&pool, NULL), NOT_SUPPORTED);
    EXPECT(pool == (Handle)&pool, 1);
    EXPECT(cuGetProcAddress_v2("cuMulticastCreate", (void **)&create, 13000, 0, &status), SUCCESS);
    EXPECT(status, 0);
    EXPECT(create(&pool, NULL), NOT_SUPPORTED);
    EXPECT(cuGetProcAddress_v2("cuNoSuchThing", (void **)&create, 13000, 0, &status), 500);
    EXPECT(create == NULL && status == 1, 1);
    return failures != 0;
}
