// NVIDIA's NPP: filters with border replicate, the only one that they all have, and histograms.
//
// nvcc -O3 -std=c++17 -arch=native npp.cu -o npp -lnppif -lnppist -lnppc && ./npp "dense f32 8192x8192 mask 7x7"
#include "peer.cuh"

#include <nppcore.h>
#include <nppi_filtering_functions.h>
#include <nppi_statistics_functions.h>

#include <array>

static void check(NppStatus status) {
    // Warnings are above 0.
    if (status < 0) throw std::runtime_error("NPP status " + std::to_string(status));
}

// What NPP wants to know of the device and the default stream.
static NppStreamContext context() {
    NppStreamContext context = {};
    cudaDeviceProp device;
    check(cudaGetDevice(&context.nCudaDeviceId));
    check(cudaGetDeviceProperties(&device, context.nCudaDeviceId));
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    check(cudaStreamGetFlags(context.hStream, &context.nStreamFlags));
    return context;
}

// A size that NPP tells; its type was int once, and is size_t now.
template <typename Levels, typename Size>
static size_t scratch_size(NppStatus (*ask)(NppiSize, Levels, Size *, NppStreamContext), NppiSize size, Levels levels,
                           NppStreamContext npp) {
    Size bytes = 0;
    check(ask(size, levels, &bytes, npp));
    return bytes;
}

// The filters of a type and number of channels; a Gaussian has NPP's own taps.
template <typename Sample> struct Filters {
    using Step = Npp32s;
    NppStatus (*box)(const Sample *, Step, NppiSize, NppiPoint, Sample *, Step, NppiSize, NppiSize, NppiPoint,
                     NppiBorderType, NppStreamContext);
    NppStatus (*gauss)(const Sample *, Step, NppiSize, NppiPoint, Sample *, Step, NppiSize, NppiMaskSize,
                       NppiBorderType, NppStreamContext);
    NppStatus (*dense)(const Sample *, Step, NppiSize, NppiPoint, Sample *, Step, NppiSize, const Npp32f *, NppiSize,
                       NppiPoint, NppiBorderType, NppStreamContext);
    NppStatus (*row)(const Sample *, Step, NppiSize, NppiPoint, Sample *, Step, NppiSize, const Npp32f *, Npp32s, Npp32s,
                     NppiBorderType, NppStreamContext);
    NppStatus (*column)(const Sample *, Step, NppiSize, NppiPoint, Sample *, Step, NppiSize, const Npp32f *, Npp32s,
                        Npp32s, NppiBorderType, NppStreamContext);
};

// Their names end so, those of filters by taps with another part where samples are no floats.
#define FILTERS(taps, type)                                                                             \
    {nppiFilterBoxBorder_##type##R_Ctx, nppiFilterGaussBorder_##type##R_Ctx,                            \
     nppiFilterBorder##taps##_##type##R_Ctx, nppiFilterRowBorder##taps##_##type##R_Ctx,                 \
     nppiFilterColumnBorder##taps##_##type##R_Ctx}

static const Filters<Npp8u> BYTES[] = {FILTERS(32f, 8u_C1), {}, FILTERS(32f, 8u_C3), FILTERS(32f, 8u_C4)};
static const Filters<Npp16u> WORDS[] = {FILTERS(32f, 16u_C1), {}, FILTERS(32f, 16u_C3), FILTERS(32f, 16u_C4)};
static const Filters<Npp32f> FLOATS[] = {FILTERS(, 32f_C1), {}, FILTERS(, 32f_C3), FILTERS(, 32f_C4)};

// A Gaussian of 3, 5 and so on up to 15 taps.
static const NppiMaskSize GAUSS[] = {NPP_MASK_SIZE_3_X_3,   NPP_MASK_SIZE_5_X_5,   NPP_MASK_SIZE_7_X_7,
                                     NPP_MASK_SIZE_9_X_9,   NPP_MASK_SIZE_11_X_11, NPP_MASK_SIZE_13_X_13,
                                     NPP_MASK_SIZE_15_X_15};

template <typename Sample> static void filter(const Work &work, const Filters<Sample> *all, NppStreamContext npp) {
    if (work.channels > 4 || !all[work.channels - 1].box) return;
    const Filters<Sample> &filters = all[work.channels - 1];
    const NppiSize size = {int(work.width), int(work.height)};
    const int step = int(work.width * work.channels * sizeof(Sample));
    const NppiBorderType border = NPP_BORDER_REPLICATE;
    int width = 0, height = 0;
    unsigned radius = 0;
    const bool separable = sscanf(work.rest.c_str(), "radius %u", &radius) == 1;
    const bool box = sscanf(work.rest.c_str(), "window %dx%d", &width, &height) == 2;
    const bool masked = sscanf(work.rest.c_str(), "mask %dx%d", &width, &height) == 2;
    const bool gauss = masked && work.operation == "gauss";
    if ((!separable && !box && !masked) || (gauss && width > 15)) return;

    Buffer<Sample> from(work.samples()), to(work.samples()), between(separable ? work.samples() : 0);
    fill(work, from.data);
    const int taps = separable ? 2 * radius + 1 : width * height;
    Buffer<float> mask(taps);
    mask.fill(weights(taps));
    const NppiSize extent = {width, height};
    const NppiPoint anchor = {width / 2, height / 2};
    report(work, "NPP", [&] {
        if (separable) {
            check(filters.row(from.data, step, size, {0, 0}, between.data, step, size, mask.data, taps, radius, border,
                              npp));
            check(filters.column(between.data, step, size, {0, 0}, to.data, step, size, mask.data, taps, radius, border,
                                 npp));
        } else if (box) {
            check(filters.box(from.data, step, size, {0, 0}, to.data, step, size, extent, anchor, border, npp));
        } else if (gauss) {
            check(filters.gauss(from.data, step, size, {0, 0}, to.data, step, size, GAUSS[width / 2 - 1], border, npp));
        } else {
            check(filters.dense(from.data, step, size, {0, 0}, to.data, step, size, mask.data, extent, anchor, border,
                                npp));
        }
    });
}

static void histogram_bytes(const Work &work, NppStreamContext npp) {
    const NppiSize size = {int(work.width), int(work.height)};
    Buffer<unsigned char> from(work.samples());
    fill(work, from.data);
    Buffer<Npp32s> counts(256);
    Buffer<Npp8u> scratch(scratch_size(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx, size, 257, npp));
    report(work, "NPP", [&] {
        check(nppiHistogramEven_8u_C1R_Ctx(from.data, work.width, size, counts.data, 257, 0, 256, scratch.data, npp));
    });
}

static void histogram_words(const Work &work, NppStreamContext npp) {
    const NppiSize size = {int(work.width), int(work.height)};
    Buffer<unsigned short> from(work.samples());
    fill(work, from.data);
    Buffer<Npp32s> counts(256);
    Buffer<Npp8u> scratch(scratch_size(nppiHistogramEvenGetBufferSize_16u_C1R_Ctx, size, 257, npp));
    const int step = int(work.width * sizeof(unsigned short));
    report(work, "NPP", [&] {
        check(nppiHistogramEven_16u_C1R_Ctx(from.data, step, size, counts.data, 257, 0, 65536, scratch.data, npp));
    });
}

static void histogram_rgba(const Work &work, NppStreamContext npp) {
    const NppiSize size = {int(work.width), int(work.height)};
    Buffer<unsigned char> from(work.samples());
    fill(work, from.data);
    Buffer<Npp32s> counts(4 * 256);
    Npp32s *channels[] = {counts.data, counts.data + 256, counts.data + 512, counts.data + 768};
    int levels[] = {257, 257, 257, 257};
    Npp32s low[] = {0, 0, 0, 0}, high[] = {256, 256, 256, 256};
    Buffer<Npp8u> scratch(scratch_size(nppiHistogramEvenGetBufferSize_8u_C4R_Ctx, size, &levels[0], npp));
    report(work, "NPP", [&] {
        check(nppiHistogramEven_8u_C4R_Ctx(from.data, work.width * 4, size, channels, levels, low, high, scratch.data,
                                           npp));
    });
}

static void histogram_floats(const Work &work, NppStreamContext npp) {
    const NppiSize size = {int(work.width), int(work.height)};
    Buffer<float> from(work.samples()), levels(257);
    fill(work, from.data);
    std::vector<float> edges(257);
    for (int i = 0; i <= 256; i++) edges[i] = i / 256.0f;
    levels.fill(edges);
    Buffer<Npp32s> counts(256);
    Buffer<Npp8u> scratch(scratch_size(nppiHistogramRangeGetBufferSize_32f_C1R_Ctx, size, 257, npp));
    const int step = int(work.width * sizeof(float));
    report(work, "NPP", [&] {
        check(nppiHistogramRange_32f_C1R_Ctx(from.data, step, size, counts.data, levels.data, 257, scratch.data, npp));
    });
}

int main(int count, char **names) {
    const NppLibraryVersion *version = nppGetLibVersion();
    printf("# npp: %d.%d.%d\n", version->major, version->minor, version->build);
    return report_all(count, names, [](const Work &work) {
        const NppStreamContext npp = context();
        const bool histogram = work.operation == "histogram";
        if (histogram && work.is("histogram", "u8", 1)) return histogram_bytes(work, npp);
        if (histogram && work.is("histogram", "u16", 1)) return histogram_words(work, npp);
        if (histogram && work.is("histogram", "u8", 4)) return histogram_rgba(work, npp);
        if (histogram && work.is("histogram", "f32", 1)) return histogram_floats(work, npp);
        if (histogram || work.operation == "chain" || work.operation == "volume") return;
        if (work.pixel == "u8") return filter(work, BYTES, npp);
        if (work.pixel == "u16") return filter(work, WORDS, npp);
        if (work.pixel == "f32") return filter(work, FLOATS, npp);
    });
}
