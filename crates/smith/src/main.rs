//! Generates random core modules. `tenon_fixtures::random` makes handlers from them.
//!
//!     cargo run --release -- <seed> <count> <folder>
//!
//! It is a workspace of its own. Otherwise `wasm-smith` would change the features of packages that wasmtime depends on,
//! and everything would be compiled once more.

use std::error::Error;
use std::path::Path;

use arbitrary::Unstructured;
use wasm_smith::{Config, Module};

/// Fuel of one function call.
const FUEL: u32 = 2_000;

/// Minimum size of a module that does anything.
const SMALLEST: usize = 300;

/// Bytes that determine a module.
const DECIDING: usize = 16 * 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seed, count, folder] = &arguments[..] else { return Err("usage: tenon-smith <seed> <count> <folder>".into()) };
    let (mut numbers, count) = (Numbers(seed.parse()?), count.parse::<usize>()?);
    std::fs::create_dir_all(folder)?;
    let mut made = 0;
    while made < count {
        let bytes: Vec<u8> = (0..DECIDING / 8).flat_map(|_| numbers.next().to_le_bytes()).collect();
        let config = config(&mut numbers);
        let Ok(mut module) = Module::new(config, &mut Unstructured::new(&bytes)) else { continue };
        if module.ensure_termination(FUEL).is_err() {
            continue;
        }
        let module = module.to_bytes();
        if module.len() >= SMALLEST {
            std::fs::write(Path::new(folder).join(format!("{made:05}.wasm")), module)?;
            made += 1;
        }
    }
    Ok(())
}

/// Makes a configuration. Two of three modules are tame: apart from `wasm-smith`'s fixed features, they have nothing
/// that prevents restoring. The others use the whole language of guests (`tenon-language`), exceptions included.
fn config(numbers: &mut Numbers) -> Config {
    let wild = numbers.one_in(3);
    Config {
        allow_start_export: wild,
        bulk_memory_enabled: wild || numbers.one_in(2),
        disallow_traps: !numbers.one_in(4),
        exceptions_enabled: wild,
        extended_const_enabled: wild,
        gc_enabled: false,
        max_imports: 0,
        max_exports: 0,
        max_data_segments: 8,
        max_element_segments: 6,
        max_funcs: 12,
        min_funcs: 2,
        max_globals: 12,
        max_instructions: 60,
        max_memories: if wild { 3 } else { 1 },
        min_memories: 1,
        max_memory32_bytes: 16 * 65_536,
        max_table_elements: 200,
        max_tables: if wild { 4 } else { 1 },
        memory64_enabled: false,
        reference_types_enabled: wild,
        relaxed_simd_enabled: wild,
        simd_enabled: wild || numbers.one_in(4),
        threads_enabled: false,
        ..Config::default()
    }
}

/// SplitMix64, a generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.next().is_multiple_of(times)
    }
}
