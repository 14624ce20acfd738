//! Packs the folder `ptx`.

fn main() {
    apron_packed::build::pack(std::path::Path::new("ptx"), "ptx");
}
