//! Packs the folder `ptx`.

fn main() {
    // The driver compiles a module for longer than its group is decompressed.
    apron_packed::build::pack(std::path::Path::new("ptx"), "ptx", 1 << 20, false);
}
