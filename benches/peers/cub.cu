// NVIDIA's CUB: histograms.
//
// nvcc -O3 -std=c++17 -arch=native cub.cu -o cub && ./cub "histogram u8 32768x32768 uniform"
#include "peer.cuh"

#include <cub/device/device_histogram.cuh>
#include <cub/version.cuh>

// Times a histogram; `count` takes scratch memory and its size, which it tells where there is none.
template <typename Count> static void histogram(const Work &work, Count count) {
    size_t bytes = 0;
    check(count(nullptr, bytes));
    Buffer<unsigned char> scratch(bytes);
    report(work, "CUB", [&] { check(count(scratch.data, bytes)); });
}

template <typename Sample, typename Level> static void together(const Work &work, Level high) {
    Buffer<Sample> image(work.samples());
    fill(work, image.data);
    Buffer<unsigned> counts(256);
    histogram(work, [&](void *scratch, size_t &bytes) {
        return cub::DeviceHistogram::HistogramEven(scratch, bytes, image.data, counts.data, 257, Level(0), high,
                                                   int(work.samples()));
    });
}

static void by_channel(const Work &work) {
    Buffer<unsigned char> image(work.samples());
    fill(work, image.data);
    Buffer<unsigned> counts(4 * 256);
    unsigned *channels[4] = {counts.data, counts.data + 256, counts.data + 512, counts.data + 768};
    const int levels[4] = {257, 257, 257, 257}, low[4] = {0, 0, 0, 0}, high[4] = {256, 256, 256, 256};
    histogram(work, [&](void *scratch, size_t &bytes) {
        return cub::DeviceHistogram::MultiHistogramEven<4, 4>(scratch, bytes, image.data, channels, levels, low, high,
                                                              int(work.samples() / 4));
    });
}

int main(int count, char **names) {
    printf("# cub: %d.%d.%d\n", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    return report_all(count, names, [](const Work &work) {
        if (work.is("histogram", "u8", 1)) return together<unsigned char>(work, 256);
        if (work.is("histogram", "f32", 1)) return together<float>(work, 1.0f);
        if (work.is("histogram", "u8", 4)) return by_channel(work);
    });
}
