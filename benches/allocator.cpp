// The real caching allocator, asked for what a recorded program asked for.
//
//     allocator OPERATIONS REPEATS
//
// OPERATIONS has a line for each: `m SLOT BYTES` or `f SLOT`. Prints the seconds, the number of operations, and the peak of
// reserved bytes. Built against the headers and libraries of an installed PyTorch; see allocator.py.

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Operation {
  size_t slot;
  size_t bytes; // 0 = free
};

std::vector<Operation> read(const char* path, size_t& slots) {
  std::FILE* file = std::fopen(path, "r");
  if (!file) {
    std::perror(path);
    std::exit(2);
  }
  std::vector<Operation> operations;
  char kind = 0;
  size_t slot = 0, bytes = 0;
  while (std::fscanf(file, " %c %zu", &kind, &slot) == 2) {
    bytes = 0;
    if (kind == 'm' && std::fscanf(file, "%zu", &bytes) != 1) {
      std::fprintf(stderr, "%s: a request without a size\n", path);
      std::exit(2);
    }
    slots = std::max(slots, slot + 1);
    operations.push_back({slot, bytes});
  }
  std::fclose(file);
  return operations;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: allocator OPERATIONS REPEATS\n");
    return 2;
  }
  size_t slots = 0;
  const auto operations = read(argv[1], slots);
  const int repeats = std::atoi(argv[2]);
  std::vector<void*> blocks(slots, nullptr);
  auto* allocator = c10::cuda::CUDACachingAllocator::get();
  allocator->init(c10::cuda::device_count());
  c10::cuda::set_device(0);
  const auto start = std::chrono::steady_clock::now();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const auto& operation : operations) {
      void*& block = blocks[operation.slot];
      if (operation.bytes) {
        block = allocator->raw_alloc_with_stream(operation.bytes, nullptr);
      } else {
        allocator->raw_delete(block);
        block = nullptr;
      }
    }
    for (void*& block : blocks) {
      if (block) {
        allocator->raw_delete(block);
        block = nullptr;
      }
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto stats = allocator->getDeviceStats(0);
  std::printf("%.6f %zu %lld\n", seconds.count(), operations.size() * repeats, (long long)stats.reserved_bytes[0].peak);
  return 0;
}
