//! Packs SQLite.

fn main() {
    tenon_packed::pack("guest/sqlite.wasm");
}
