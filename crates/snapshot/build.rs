//! Packs the engines.

fn main() {
    tenon_packed::pack("../engine/engine.wasm");
    tenon_packed::pack("../engine/engine-full.wasm");
}
