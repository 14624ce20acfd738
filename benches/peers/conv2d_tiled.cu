// The twin of kernels-gpu/src/conv2d/tiled.rs (program P4) in CUDA C, for comparison in one run:
// a dense mask in constant memory, a shared tile filled in several batches, zero outside.
//
// nvcc -O3 -arch=native conv2d_tiled.cu -o conv2d_tiled && ./conv2d_tiled WIDTH HEIGHT MASK_W MASK_H
// Prints the median time of the kernel in milliseconds, and checks the result at sampled pixels.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TILE_WIDTH 32
#define MAX_TAPS (64 * 64)

__constant__ float MASK[MAX_TAPS];

__global__ void conv2d_tiled(const float *__restrict__ src, float *__restrict__ dst, int width, int height,
                             int channels, int mask_width, int mask_height) {
    extern __shared__ float tile[];
    const int tile_width = TILE_WIDTH + mask_width - 1;
    const int tile_elems = tile_width * (TILE_WIDTH + mask_height - 1);
    const int x = blockIdx.x * TILE_WIDTH + threadIdx.x, y = blockIdx.y * TILE_WIDTH + threadIdx.y;
    const int left = blockIdx.x * TILE_WIDTH - mask_width / 2, top = blockIdx.y * TILE_WIDTH - mask_height / 2;
    for (int channel = 0; channel < channels; channel++) {
        for (int element = threadIdx.y * TILE_WIDTH + threadIdx.x; element < tile_elems;
             element += TILE_WIDTH * TILE_WIDTH) {
            const int row = top + element / tile_width, column = left + element % tile_width;
            const bool inside = row >= 0 && row < height && column >= 0 && column < width;
            tile[element] = inside ? src[((size_t)row * width + column) * channels + channel] : 0.0f;
        }
        __syncthreads();
        if (x < width && y < height) {
            float sum = 0.0f;
            for (int j = 0; j < mask_height; j++)
                for (int i = 0; i < mask_width; i++)
                    sum += MASK[j * mask_width + i] * tile[(threadIdx.y + j) * tile_width + threadIdx.x + i];
            dst[((size_t)y * width + x) * channels + channel] = sum;
        }
        __syncthreads();
    }
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
    if (argc != 5) {
        fprintf(stderr, "usage: conv2d_tiled WIDTH HEIGHT MASK_W MASK_H\n");
        return 2;
    }
    const int width = atoi(argv[1]), height = atoi(argv[2]), mask_width = atoi(argv[3]), mask_height = atoi(argv[4]);
    std::vector<float> image((size_t)width * height), mask(mask_width * mask_height), out(image.size());
    unsigned state = 1;
    auto random = [&] { return (float)((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) * 2 - 1; };
    for (float &sample : image) sample = random();
    for (float &tap : mask) tap = random();

    float *src, *dst;
    const size_t bytes = image.size() * sizeof(float);
    CHECK(cudaMalloc(&src, bytes));
    CHECK(cudaMalloc(&dst, bytes));
    CHECK(cudaMemcpy(src, image.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(MASK, mask.data(), mask.size() * sizeof(float)));
    const dim3 block(TILE_WIDTH, TILE_WIDTH);
    const dim3 grid((width + TILE_WIDTH - 1) / TILE_WIDTH, (height + TILE_WIDTH - 1) / TILE_WIDTH);
    const size_t shared = (TILE_WIDTH + mask_width - 1) * (TILE_WIDTH + mask_height - 1) * sizeof(float);
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> times;
    for (int run = 0; run < 25; run++) {
        CHECK(cudaEventRecord(start));
        conv2d_tiled<<<grid, block, shared>>>(src, dst, width, height, 1, mask_width, mask_height);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
        if (run >= 5) times.push_back(milliseconds);
    }
    CHECK(cudaMemcpy(out.data(), dst, bytes, cudaMemcpyDeviceToHost));
    for (int sample = 0; sample < 200; sample++) {
        const int x = (state = state * 1664525u + 1013904223u) % width, y = (state >> 7) % height;
        double sum = 0, magnitude = 0;
        for (int j = 0; j < mask_height; j++)
            for (int i = 0; i < mask_width; i++) {
                const int row = y - mask_height / 2 + j, column = x - mask_width / 2 + i;
                if (row < 0 || row >= height || column < 0 || column >= width) continue;
                const double product = (double)mask[j * mask_width + i] * image[(size_t)row * width + column];
                sum += product;
                magnitude += fabs(product);
            }
        if (!(fabs(out[(size_t)y * width + x] - sum) <= (mask.size() + 3) * ldexp(1.0, -24) * magnitude)) {
            fprintf(stderr, "wrong at row %d, column %d: %g instead of %g\n", y, x, out[(size_t)y * width + x], sum);
            return 1;
        }
    }
    std::sort(times.begin(), times.end());
    printf("%.4f\n", times[times.size() / 2]);
    return 0;
}
