//! Validates a component before it is rewritten, function bodies included.
//!
//! Rewriting adds globals, functions, types and exports at the end of their index spaces (`with_restore`). A body that
//! names an index of an added item is invalid, but would be valid in the rewritten module. It could read and write the
//! values that instances are restored from. So the original is validated first, with the features of the engine.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

use wasmparser::{FuncValidatorAllocations, Parser, ValidPayload, Validator, WasmFeatures};
use wasmtime::{Engine, Result};

/// Bodies that a thread takes at once.
const BATCH: usize = 64;

/// Returns the proposals that an engine accepts.
pub(crate) fn features(engine: &Engine) -> WasmFeatures {
    engine.get_wasm_features()
}

/// Validates a component with all its nested parts.
///
/// # Errors
///
/// The first error, with its offset.
pub(crate) fn validate(engine: &Engine, component: &[u8]) -> Result<()> {
    let mut validator = Validator::new_with_features(features(engine));
    let mut parser = Parser::new(0);
    parser.set_features(features(engine));
    let mut bodies = Vec::new();
    for payload in parser.parse_all(component) {
        if let ValidPayload::Func(function, body) = validator.payload(&payload?)? {
            bodies.push((function, body));
        }
    }
    let bodies = Mutex::new(bodies.into_iter());
    let work = || {
        let mut allocations = FuncValidatorAllocations::default();
        loop {
            let batch: Vec<_> = bodies.lock().unwrap_or_else(PoisonError::into_inner).by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(());
            }
            for (function, body) in batch {
                let mut validator = function.into_validator(allocations);
                validator.validate(&body)?;
                allocations = validator.into_allocations();
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own: Result<(), wasmparser::BinaryReaderError> = work();
        let ended = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.chain([own]).collect::<Result<(), _>>()
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use wasmtime::Config;

    use super::*;
    use crate::compiler::tests::here;
    use crate::fixture::with;
    use crate::store::compile;

    fn refusal(bytes: &[u8], folder: Option<&Path>) -> String {
        let refused = compile(&Engine::default(), bytes, folder, &here());
        format!("{:#}", refused.err().expect("the component is invalid"))
    }

    /// Builds a module with one mutable global, two functions and one type. Restoring adds one of each.
    fn component(definitions: &str, body: &str, around: &str) -> Vec<u8> {
        let text = format!(
            r#"(component
                 (core module $m
                   (type (func (param i32) (result i32)))
                   (memory 1) (table 1 funcref)
                   (global (mut i32) (i32.const 7))
                   (data (i32.const 8) "state")
                   {definitions}
                   (func (export "f") (type 0) {body} (i32.const 1))
                   (func (type 0) (global.set 0 (i32.const 8)) (i32.const 1)))
                 (core instance $i (instantiate $m))
                 {around}
                 (func (export "f") (param "x" u32) (result u32) (canon lift (core func $i "f"))))"#
        );
        wat::parse_str(text).unwrap()
    }

    #[test]
    fn a_component_without_confusion_is_restorable() {
        let bytes = component("", "(drop (global.get 0))", "");
        // Instances of an engine with the async ABI are never restored.
        for has_tasks in [false, true] {
            let engine = Engine::new(Config::new().concurrency_support(has_tasks)).unwrap();
            let code = compile(&engine, &bytes, None, &here()).unwrap();
            assert_eq!(code.component().get_export_index(None, crate::RESTORE).is_none(), has_tasks);
        }
    }

    /// Each index exists only after the component is rewritten.
    #[test]
    fn what_names_an_index_that_only_rewriting_adds_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (definitions, body, around) in [
            ("", "(drop (global.get 1))", ""),
            ("", "(global.set 1 (i32.const 9))", ""),
            ("", "(call 2)", ""),
            ("", "(return_call 2)", ""),
            ("", "(call_indirect (type 1) (i32.const 0))", ""),
            ("", "(block (type 1))", ""),
            ("", "(drop (ref.func 2))", ""),
            ("(elem declare func 2)", "(drop (ref.func 2))", ""),
            ("(elem (i32.const 0) func 2)", "", ""),
            (r#"(export "x" (func 2))"#, "", ""),
            (r#"(export "x" (global 1))"#, "", ""),
            ("(start 2)", "", ""),
            ("(global i32 (global.get 2))", "", ""),
            (r#"(data (global.get 1) "x")"#, "", ""),
            ("", "", r#"(alias core export $i "tenon-restore" (core func))"#),
            ("", "", "(core instance (instantiate 1))"),
            ("", "", r#"(alias core export 1 "tenon-restore" (core func))"#),
            ("", "", "(func (canon lift (core func 0)))"),
            ("", "", r#"(export "x" (func 1))"#),
        ] {
            let bytes = component(definitions, body, around);
            assert!(wasmtime::component::Component::new(&Engine::default(), &bytes).is_err(), "{definitions} {body}");
            for folder in [None, Some(folder.path())] {
                refusal(&bytes, folder);
            }
        }
    }

    #[test]
    fn a_body_that_is_invalid_is_refused_with_its_offset() {
        let said = refusal(&component("", "(global.set 1 (i32.const 9))", ""), None);
        assert!(said.contains("unknown global") && said.contains("offset 0x"), "{said}");
    }

    /// Code that names a data segment by number is shared only with components that have a segment of that number.
    #[test]
    fn code_that_names_data_of_one_state_does_not_serve_another() {
        let engine = Engine::default();
        let folder = tempfile::tempdir().unwrap();
        let shared = || {
            let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            names.filter(|path| path.extension().is_some_and(|extension| extension == "shared")).count()
        };
        // Segment 0 is passive; 1 and 2 are the state.
        let naming = |segment: u32, data: &[(u32, &[u8])]| {
            let more = format!("(func (memory.init {segment} (i32.const 0) (i32.const 0) (i32.const 0)))");
            with(&more, 1, 7, data)
        };
        let (two, one) = ([(5_000, &b"a"[..]), (6_000, b"b")], [(5_000, &b"a"[..])]);
        compile(&engine, &naming(2, &two), Some(folder.path()), &here()).unwrap();
        assert_eq!(shared(), 0);
        refusal(&naming(2, &one), Some(folder.path()));
        compile(&engine, &naming(0, &two), Some(folder.path()), &here()).unwrap();
        assert_eq!(shared(), 1);
        compile(&engine, &naming(0, &one), Some(folder.path()), &here()).unwrap();
        assert_eq!(shared(), 1);
    }
}
