//! Packs the folder `cubin`.

fn main() {
    apron_packed::build::pack(std::path::Path::new("cubin"), "cubin", 1 << 18, true);
}
