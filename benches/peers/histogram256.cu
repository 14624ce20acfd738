// The twin of kernels-gpu/src/histogram/{partial,merge}.rs (programs P6 and P7) in CUDA C, for comparison
// in one run: partial histograms in shared memory by atomics, then one block a bin that sums them.
//
// nvcc -O3 -arch=native histogram256.cu -o histogram256 && ./histogram256 BYTES CHANNELS
// Prints the median time of both kernels together in milliseconds, and checks every count.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define BINS 256
#define PARTIAL_BLOCK 256
#define GROUP_THREADS 32
#define PARTIAL_ROWS 8
#define MERGE_BLOCK 256
#define MAX_PARTIALS 1024
#define WORDS_PER_THREAD 16

// Counts, and byte offsets, have 64 bits.
typedef unsigned long long u64;

// The channel of a sample; no 64-bit division by a variable.
__device__ __forceinline__ unsigned channel_of(u64 sample, unsigned channels) {
    switch (channels) {
    case 1: return 0;
    case 2: return sample % 2;
    case 3: return sample % 3;
    default: return sample % 4;
    }
}

__global__ void histogram_partial(const unsigned char *__restrict__ src, unsigned *__restrict__ partials, u64 bytes,
                                  unsigned channels) {
    __shared__ unsigned rows[PARTIAL_ROWS * BINS];
    for (unsigned counter = threadIdx.x; counter < PARTIAL_ROWS * BINS; counter += PARTIAL_BLOCK) rows[counter] = 0;
    __syncthreads();

    const unsigned groups = PARTIAL_ROWS / channels, group = threadIdx.x / GROUP_THREADS % groups;
    unsigned *own = rows + group * channels * BINS;
    const u64 words = bytes / 4, stride = (u64)gridDim.x * PARTIAL_BLOCK;
    const u64 first = (u64)blockIdx.x * PARTIAL_BLOCK + threadIdx.x;
    // The same for all of the thread's words: their distance is a multiple of the channels.
    unsigned *counters[4];
    for (int k = 0; k < 4; k++) counters[k] = own + channel_of(first * 4 + k, channels) * BINS;
    const unsigned *packed = (const unsigned *)src;
    for (u64 word = first; word < words; word += stride) {
        const unsigned value = packed[word];
        atomicAdd(&counters[0][value & 0xff], 1u);
        atomicAdd(&counters[1][value >> 8 & 0xff], 1u);
        atomicAdd(&counters[2][value >> 16 & 0xff], 1u);
        atomicAdd(&counters[3][value >> 24], 1u);
    }
    // The 0 to 3 bytes behind the last whole word.
    const u64 tail = words * 4 + first;
    if (tail < bytes) atomicAdd(&own[channel_of(tail, channels) * BINS + src[tail]], 1u);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < channels * BINS; bin += PARTIAL_BLOCK) {
        unsigned sum = 0;
        for (unsigned other = 0; other < groups; other++) sum += rows[other * channels * BINS + bin];
        partials[(u64)blockIdx.x * (channels * BINS) + bin] = sum;
    }
}

__global__ void histogram_merge(const unsigned *__restrict__ partials, u64 *__restrict__ counts, unsigned blocks,
                                unsigned bins) {
    __shared__ u64 sums[MERGE_BLOCK];
    const unsigned thread = threadIdx.x, bin = blockIdx.x;
    auto count = [=](unsigned row) { return (u64)partials[(u64)row * bins + bin]; };
    u64 sum = 0;
    unsigned row = thread;
    // Four at once: each alone would be waited for.
    for (; row + 3 * MERGE_BLOCK < blocks; row += 4 * MERGE_BLOCK) {
        const u64 a = count(row), b = count(row + MERGE_BLOCK), c = count(row + 2 * MERGE_BLOCK);
        sum += a + b + c + count(row + 3 * MERGE_BLOCK);
    }
    for (; row < blocks; row += MERGE_BLOCK) sum += count(row);
    sums[thread] = sum;
    __syncthreads();
    for (unsigned active = MERGE_BLOCK / 2; active > 0; active /= 2) {
        if (thread < active) sums[thread] += sums[thread + active];
        __syncthreads();
    }
    if (thread == 0) counts[bin] = sums[0];
}

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                             \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main(int argc, char **argv) {
    const u64 bytes = argc == 3 ? strtoull(argv[1], nullptr, 10) : 0;
    const unsigned channels = argc == 3 ? atoi(argv[2]) : 0;
    if (bytes == 0 || channels < 1 || channels > 4) {
        fprintf(stderr, "usage: histogram256 BYTES CHANNELS, of 1 to 4 channels\n");
        return 2;
    }
    std::vector<unsigned char> image(bytes);
    unsigned state = 1;
    for (unsigned char &sample : image) sample = (state = state * 1664525u + 1013904223u) >> 24;

    // As crates/plan/src/histogram.rs has it.
    const u64 words_per_block = (u64)PARTIAL_BLOCK * WORDS_PER_THREAD;
    const u64 wanted = (bytes / 4 + words_per_block - 1) / words_per_block;
    const unsigned clamped = (unsigned)std::clamp<u64>(wanted, 1, MAX_PARTIALS), bins = BINS * channels;
    // The threads then meet one channel in each byte of their words.
    const unsigned blocks = (clamped + channels - 1) / channels * channels;
    unsigned char *src;
    unsigned *partials;
    u64 *sums;
    CHECK(cudaMalloc(&src, bytes));
    CHECK(cudaMalloc(&partials, sizeof(unsigned) * blocks * bins));
    CHECK(cudaMalloc(&sums, sizeof(u64) * bins));
    CHECK(cudaMemcpy(src, image.data(), bytes, cudaMemcpyHostToDevice));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> times;
    for (int run = 0; run < 25; run++) {
        CHECK(cudaEventRecord(start));
        histogram_partial<<<blocks, PARTIAL_BLOCK>>>(src, partials, bytes, channels);
        histogram_merge<<<bins, MERGE_BLOCK>>>(partials, sums, blocks, bins);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
        if (run >= 5) times.push_back(milliseconds);
    }
    std::vector<u64> counts(bins), expected(bins);
    CHECK(cudaMemcpy(counts.data(), sums, sizeof(u64) * bins, cudaMemcpyDeviceToHost));
    for (u64 i = 0; i < bytes; i++) expected[i % channels * BINS + image[i]]++;
    for (unsigned bin = 0; bin < bins; bin++)
        if (counts[bin] != expected[bin]) {
            fprintf(stderr, "wrong at channel %u, bin %u: %llu instead of %llu\n", bin / BINS, bin % BINS, counts[bin],
                    expected[bin]);
            return 1;
        }
    std::sort(times.begin(), times.end());
    printf("%.5f\n", times[times.size() / 2]);
    return 0;
}
