//! The language of guests: the WebAssembly proposals that a component may use, each named as on or off.
//!
//! The server, the addon, their compilers and the engine of builds are all set up by [`configure`]. wasmtime's own defaults
//! depend on its version and on cargo features, which any dependency can turn on. So nothing here is left to a default:
//! [`proposals`] has a field for each proposal that wasmparser knows, and does not compile when a new version knows another one.
//!
//! docs/runtime.md ("The language of components") has the list for users.

use wasmparser::{WasmFeatures, WasmFeaturesInflated};
use wasmtime::{Collector, Config};

/// Sets an engine up for the language of guests. `has_tasks` is true for components of WASI 0.3, whose calls are concurrent.
///
/// Exceptions are the only objects of the collector. Wasmtime has one that never frees: its heap counts as memory of the
/// instance, and ends with it.
pub fn configure(config: &mut Config, has_tasks: bool) {
    let allowed = proposals(has_tasks);
    config.wasm_features(allowed, true).wasm_features(allowed.complement(), false);
    // Not a part of `WasmFeatures`: a section of hints for the code's layout.
    config.wasm_branch_hinting(false);
    // Calls are concurrent only in WASI 0.3. Every other call would pay for the bookkeeping.
    config.concurrency_support(has_tasks).shared_memory(false);
    config.collector(Collector::Null);
}

/// Returns the proposals that guests may use.
#[must_use]
pub fn proposals(has_tasks: bool) -> WasmFeatures {
    WasmFeatures::from_inflated(WasmFeaturesInflated {
        // WebAssembly 1.0 and 2.0.
        mutable_global: true,
        saturating_float_to_int: true,
        sign_extension: true,
        floats: true,
        multi_value: true,
        bulk_memory: true,
        bulk_memory_opt: true,
        reference_types: true,
        call_indirect_overlong: true,
        simd: true,
        // WebAssembly 3.0.
        relaxed_simd: true,
        tail_call: true,
        extended_const: true,
        multi_memory: true,
        exceptions: true,
        // The types `externref` and `exnref`. A guest gets no `externref` but null.
        gc_types: true,
        // Objects and typed references: the collector never frees, so such a guest would only fill its memory.
        gc: false,
        function_references: false,
        // Instances are restored and memories reused only with 32-bit addresses and pages of 64 KiB.
        memory64: false,
        custom_page_sizes: false,
        // Instances have one thread, and share nothing.
        threads: false,
        shared_everything_threads: false,
        stack_switching: false,
        // Not a standard, or not one yet.
        legacy_exceptions: false,
        memory_control: false,
        wide_arithmetic: false,
        custom_descriptors: false,
        compact_imports: false,
        // The component model of WASI 0.2, and the tasks, streams and futures of WASI 0.3.
        component_model: true,
        cm_async: has_tasks,
        cm_async_stackful: false,
        cm_more_async_builtins: false,
        cm_threading: false,
        cm_error_context: false,
        cm_values: false,
        cm_nested_names: false,
        cm_fixed_length_lists: false,
        cm_gc: false,
        cm_map: false,
        cm64: false,
        cm_implements: false,
        cm_canon_names: false,
    })
}

#[cfg(test)]
mod tests;
