//! Compiles one component for another process: the program for `RuntimeConfig::compiler` of embedders in Rust. Node programs
//! have `@tenon/native/compile.js` for it.

fn main() -> Result<(), tenon_runtime::RuntimeError> {
    tenon_runtime::compile_child()
}
