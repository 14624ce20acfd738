// What the programs share that time other libraries for `apron bench --peers`.
//
// A program takes names of workloads, such as "dense f32 8192x8192 mask 7x7", and prints NAME,PEER,MILLISECONDS
// for each that its library has: the median of 20 runs by events, after at least 5 to warm up. Runs below 50 us are timed
// again, enqueued one behind the other while the GPU is busy with something else, so that it never waits for the host;
// crates/cli/src/verbs/bench/burst.rs does the same. Of what fails it
// complains on standard error, and goes on.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

// A name, taken apart: "OPERATION PIXEL WIDTHxHEIGHT[xCHANNELS] REST".
struct Work {
    std::string name, operation, pixel, rest;
    unsigned width = 0, height = 0, channels = 1;

    explicit Work(const char *text) : name(text) {
        char first[16] = "", second[8] = "";
        int behind = 0;
        if (sscanf(text, "%15s %7s %ux%u%n", first, second, &width, &height, &behind) < 4) return;
        if (text[behind] == 'x') channels = atoi(text + behind + 1);
        operation = first, pixel = second;
        const char *space = strchr(text + behind, ' ');
        rest = space ? space + 1 : "";
    }

    // Whether it is this operation on samples of this type, with `count` channels.
    bool is(const char *wanted, const char *type, unsigned count) const {
        return operation == wanted && pixel == type && channels == count;
    }

    size_t samples() const { return size_t(width) * height * channels; }
};

inline void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Device memory.
template <typename T> struct Buffer {
    T *data = nullptr;

    explicit Buffer(size_t count) { check(cudaMalloc(&data, std::max<size_t>(count, 1) * sizeof(T))); }
    Buffer(const Buffer &) = delete;
    ~Buffer() { cudaFree(data); }

    void fill(const std::vector<T> &values) {
        check(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
};

// The samples of crates/cli/src/verbs/bench/images.rs.
__device__ inline unsigned mix(unsigned bits) {
    bits = (bits ^ bits >> 16) * 0x7feb352du;
    bits = (bits ^ bits >> 15) * 0x846ca68bu;
    return bits ^ bits >> 16;
}

enum Data { UNIFORM, CONSTANT, NATURAL, TWO_VALUED, SORTED };

static __global__ void fill_bytes(unsigned char *image, size_t samples, unsigned row, Data data) {
    const float tau = 6.2831853f;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < samples; i += size_t(gridDim.x) * blockDim.x) {
        const unsigned bits = mix(unsigned(i)), x = i % row, y = i / row;
        float value = bits >> 24;
        if (data == CONSTANT) value = 77;
        if (data == TWO_VALUED) value = bits >> 31 ? 255 : 0;
        if (data == SORTED) value = float(i * 256 / samples);
        if (data == NATURAL)
            value = 128 + 50 * sinf(x * tau / 1531) + 40 * sinf(y * tau / 2111) + 20 * sinf((x + y) * tau / 257) +
                    (bits >> 28) - 7.5f;
        image[i] = (unsigned char)fminf(fmaxf(value, 0), 255);
    }
}

static __global__ void fill_floats(float *image, size_t samples) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < samples; i += size_t(gridDim.x) * blockDim.x)
        image[i] = (mix(unsigned(i)) >> 8) / 16777216.0f;
}

inline void fill(const Work &work, unsigned char *image) {
    const std::pair<const char *, Data> kinds[] = {
        {"constant", CONSTANT}, {"natural", NATURAL}, {"two-valued", TWO_VALUED}, {"sorted", SORTED}};
    Data data = UNIFORM;
    for (auto &[name, kind] : kinds)
        if (work.rest == name) data = kind;
    fill_bytes<<<4096, 256>>>(image, work.samples(), work.width * work.channels, data);
    check(cudaDeviceSynchronize());
}

// As bytes, each twice.
static __global__ void fill_words(unsigned short *image, size_t samples) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < samples; i += size_t(gridDim.x) * blockDim.x)
        image[i] = (mix(unsigned(i)) >> 24) * 257;
}

inline void fill(const Work &work, unsigned short *image) {
    fill_words<<<4096, 256>>>(image, work.samples());
    check(cudaDeviceSynchronize());
}

inline void fill(const Work &work, float *image) {
    fill_floats<<<4096, 256>>>(image, work.samples());
    check(cudaDeviceSynchronize());
}

// Weights above 0 whose sum is 1.
inline std::vector<float> weights(unsigned count) {
    std::vector<float> weights(count);
    float sum = 0;
    for (unsigned i = 0; i < count; i++) sum += weights[i] = 0.1f + i * 37 % 101 / 101.0f;
    for (float &weight : weights) weight /= sum;
    return weights;
}

// Keeps the GPU busy for this number of its clock's cycles.
static __global__ void busy(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

// The start and the end of a run.
struct Events {
    cudaEvent_t start, stop;

    Events() { check(cudaEventCreate(&start)), check(cudaEventCreate(&stop)); }
    Events(const Events &) = delete;
    ~Events() { cudaEventDestroy(start), cudaEventDestroy(stop); }

    template <typename Run> void around(Run run) {
        check(cudaEventRecord(start));
        run();
        check(cudaEventRecord(stop));
    }

    float milliseconds() {
        float time;
        check(cudaEventSynchronize(stop));
        check(cudaEventElapsedTime(&time, start, stop));
        return time;
    }
};

inline float median(std::vector<float> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// Times what `run` enqueues on the default stream, and prints it.
template <typename Run> void report(const Work &work, const char *peer, Run run) {
    using Clock = std::chrono::steady_clock;
    const auto warm = Clock::now() + std::chrono::milliseconds(50);
    for (int warm_ups = 0; warm_ups < 5 || Clock::now() < warm; warm_ups++) {
        run();
        check(cudaDeviceSynchronize());
    }
    std::vector<Events> events(20);
    std::vector<float> times;
    for (Events &event : events) {
        event.around(run);
        times.push_back(event.milliseconds());
    }
    float time = median(times);
    if (time < 0.05f) {
        // Some milliseconds.
        busy<<<1, 1>>>(10000000);
        for (Events &event : events) event.around(run);
        times.clear();
        for (Events &event : events) times.push_back(event.milliseconds());
        time = median(times);
    }
    check(cudaGetLastError());
    printf("%s,%s,%.5f\n", work.name.c_str(), peer, time);
    fflush(stdout);
}

// Times every workload that `one` knows.
template <typename One> int report_all(int count, char **names, One one) {
    int failed = 0;
    for (int i = 1; i < count; i++) {
        try {
            one(Work(names[i]));
        } catch (const std::exception &error) {
            fprintf(stderr, "%s: %s\n", names[i], error.what());
            failed = 1;
        }
    }
    return failed;
}
