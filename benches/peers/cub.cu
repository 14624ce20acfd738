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

template <int CHANNELS> static void by_channel(const Work &work) {
    Buffer<unsigned char> image(work.samples());
    fill(work, image.data);
    Buffer<unsigned> counts(CHANNELS * 256);
    unsigned *channels[CHANNELS];
    int levels[CHANNELS], low[CHANNELS], high[CHANNELS];
    for (int i = 0; i < CHANNELS; i++) {
        channels[i] = counts.data + i * 256;
        levels[i] = 257, low[i] = 0, high[i] = 256;
    }
    histogram(work, [&](void *scratch, size_t &bytes) {
        return cub::DeviceHistogram::MultiHistogramEven<CHANNELS, CHANNELS>(
            scratch, bytes, image.data, channels, levels, low, high, int(work.samples() / CHANNELS));
    });
}

int main(int count, char **names) {
    printf("# cub: %d.%d.%d\n", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    return report_all(count, names, [](const Work &work) {
        if (work.is("histogram", "u8", 1)) return together<unsigned char>(work, 256);
        if (work.is("histogram", "f32", 1)) return together<float>(work, 1.0f);
        if (work.is("histogram", "u16", 1)) return together<unsigned short>(work, 65536);
        if (work.is("histogram", "u8", 3)) return by_channel<3>(work);
        if (work.is("histogram", "u8", 4)) return by_channel<4>(work);
    });
}
