//! Pages that nearly every request changes, and a function that touches what lies between them.
//!
//! A server that resets an instance's memory after each request asks the system which pages were changed. Wasmtime takes
//! 32 runs of pages as an answer, and gives the memory behind the last of them back to the system, whose pages the next
//! request then faults in again, one by one, with all processors told of each. The routes of an app together change a
//! hundred pages in twice as many runs. Where the gaps between runs are closed, by touching the few pages in between, all of them stay.
//!
//! A build observes what requests change and notes the runs, with their gaps closed, in a custom section. Tenon's runtime
//! puts them into globals of the engine (`tenon-code`), which are zero in the component: on other servers nothing is touched.
//! Whatever one request has changed stays resident for those after it, so the runs are those of all requests together.

use std::collections::BTreeSet;
use std::ops::Range;

use tenon_code::{PAGE, RESIDENT};
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, CustomSection, Encode, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, GlobalType, MemArg, Module, TypeSection, ValType,
};
use wasmparser::{
    CodeSectionReader, ExportSectionReader, ExternalKind, FunctionSectionReader, GlobalSectionReader, Parser, Payload,
    TypeRef, TypeSectionReader,
};

use crate::error::SnapshotError;

/// What answers requests.
pub(crate) const HANDLE: &str = "sdk:core/handler@0.1.0#handle";

/// How many runs can be touched.
const TOUCHABLE: u32 = 48;

/// How many runs requests should leave at most: fewer than 32, because others will come.
const RUNS: usize = 26;

/// How many pages are touched at most: each is reset after each request, which costs less than one more fault, but not
/// nothing.
const TOUCHED: usize = 320;

/// An engine whose [`HANDLE`] first touches the pages that its globals name: in each the first page, and how many, 32 bits
/// each. An engine that has no such function stays as it is.
pub(crate) fn with_touch(engine: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    let Some(mut handle) = Handle::find(engine).map_err(SnapshotError::engine)? else { return Ok(engine.to_vec()) };
    let mut module = Module::new();
    handle.parse_core_module(&mut module, Parser::new(0), engine).map_err(SnapshotError::engine)?;
    Ok(module.finish())
}

/// The function that answers requests, and where what is added to its module goes.
#[derive(Default)]
struct Handle {
    function: u32,
    /// Its type, and how many parameters that has.
    signature: u32,
    parameters: u32,
    types: u32,
    functions: u32,
    globals: u32,
}

impl Handle {
    fn find(engine: &[u8]) -> wasmparser::Result<Option<Self>> {
        let (mut handle, mut found) = (Self::default(), false);
        let mut parameters = Vec::new();
        let mut signatures = Vec::new();
        for payload in Parser::new(0).parse_all(engine) {
            match payload? {
                Payload::TypeSection(types) => {
                    handle.types = types.count();
                    for ty in types.into_iter_err_on_gc_types() {
                        parameters.push(ty?.params().len());
                    }
                }
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        match import?.ty {
                            TypeRef::Func(ty) => signatures.push(ty),
                            TypeRef::Global(_) => handle.globals += 1,
                            _ => {}
                        }
                    }
                }
                Payload::FunctionSection(functions) => {
                    for ty in functions {
                        signatures.push(ty?);
                    }
                }
                Payload::GlobalSection(globals) => handle.globals += globals.count(),
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export?;
                        if export.name == HANDLE && export.kind == ExternalKind::Func {
                            (handle.function, found) = (export.index, true);
                        }
                    }
                }
                _ => {}
            }
        }
        let signature = signatures.get(handle.function as usize).copied().unwrap_or_default();
        handle.signature = signature;
        handle.parameters = parameters.get(signature as usize).map_or(0, |count| u32::try_from(*count).unwrap_or(0));
        handle.functions = u32::try_from(signatures.len()).unwrap_or(u32::MAX);
        Ok(found.then_some(handle))
    }

    /// Touches the pages of all globals up to the first that is 0, and does what the function did.
    fn touching(&self) -> Function {
        let mut function = Function::new([]);
        let mut code = function.instructions();
        code.block(BlockType::Empty);
        for global in self.globals..self.globals + TOUCHABLE {
            code.global_get(global).i64_eqz().br_if(0).global_get(global).call(self.functions);
        }
        code.end();
        for parameter in 0..self.parameters {
            code.local_get(parameter);
        }
        code.call(self.function).end();
        function
    }
}

/// Writes to each page of a range what it holds.
fn touch_pages() -> Function {
    const BYTE: MemArg = MemArg { offset: 0, align: 0, memory_index: 0 };
    let (range, at, end) = (0, 1, 2);
    let mut function = Function::new([(2, ValType::I32)]);
    let mut code = function.instructions();
    let page = PAGE.cast_signed();
    code.local_get(range).i64_const(32).i64_shr_u().i32_wrap_i64().i32_const(page).i32_mul().local_tee(at);
    code.local_get(range).i32_wrap_i64().i32_const(page).i32_mul().i32_add().local_set(end);
    code.block(BlockType::Empty).loop_(BlockType::Empty);
    code.local_get(at).local_get(end).i32_ge_u().br_if(1);
    code.local_get(at).local_get(at).i32_load8_u(BYTE).i32_store8(BYTE);
    code.local_get(at).i32_const(page).i32_add().local_set(at).br(0);
    code.end().end().end();
    function
}

impl Reencode for Handle {
    type Error = std::convert::Infallible;

    fn parse_type_section(&mut self, to: &mut TypeSection, from: TypeSectionReader<'_>) -> Result<(), Error> {
        utils::parse_type_section(self, to, from)?;
        to.ty().function([ValType::I64], []);
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        to: &mut FunctionSection,
        from: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_function_section(self, to, from)?;
        to.function(self.types).function(self.signature);
        Ok(())
    }

    fn parse_global_section(&mut self, to: &mut GlobalSection, from: GlobalSectionReader<'_>) -> Result<(), Error> {
        utils::parse_global_section(self, to, from)?;
        for _ in 0..TOUCHABLE {
            to.global(GlobalType { val_type: ValType::I64, mutable: true, shared: false }, &ConstExpr::i64_const(0));
        }
        Ok(())
    }

    fn parse_export_section(&mut self, to: &mut ExportSection, from: ExportSectionReader<'_>) -> Result<(), Error> {
        for export in from {
            let export = export?;
            if export.name == HANDLE {
                to.export(HANDLE, ExportKind::Func, self.functions + 1);
            } else {
                utils::parse_export(self, to, export)?;
            }
        }
        Ok(())
    }

    fn parse_code_section(&mut self, to: &mut CodeSection, from: CodeSectionReader<'_>) -> Result<(), Error> {
        utils::parse_code_section(self, to, from)?;
        to.function(&touch_pages()).function(&self.touching());
        Ok(())
    }
}

/// The custom section that notes runs in a component whose engine defines as many globals.
pub(crate) fn section(globals: u32, runs: &[Range<u32>]) -> CustomSection<'static> {
    let mut data = Vec::new();
    globals.saturating_sub(TOUCHABLE).encode(&mut data);
    runs.len().encode(&mut data);
    for run in runs {
        run.start.encode(&mut data);
        run.len().encode(&mut data);
    }
    CustomSection { name: RESIDENT.into(), data: data.into() }
}

/// The pages in which two states of a memory differ.
pub(crate) fn changed(before: &[u8], after: &[u8]) -> impl Iterator<Item = u32> {
    let page = PAGE as usize;
    let pages = (0_u32..).zip(before.chunks(page).zip(after.chunks(page)));
    pages.filter_map(|(number, (before, after))| (before != after).then_some(number))
}

/// The runs of pages to touch in each request so that few are left, whichever of some requests comes. Those that change the
/// most are left out when it would be too many pages with them: an answer of megabytes, above all.
pub(crate) fn runs_of(mut requests: Vec<BTreeSet<u32>>) -> Vec<Range<u32>> {
    requests.sort_by_key(BTreeSet::len);
    let (mut all, mut found) = (BTreeSet::new(), Vec::new());
    for changed in requests {
        all.extend(changed);
        let runs = runs(&all);
        if runs.iter().map(ExactSizeIterator::len).sum::<usize>() > TOUCHED {
            break;
        }
        found = runs;
    }
    found
}

/// The runs that pages make when the narrowest gaps between them are closed, without those of one page.
fn runs(changed: &BTreeSet<u32>) -> Vec<Range<u32>> {
    let gaps = changed.iter().zip(changed.iter().skip(1)).map(|(one, next)| one + 1..*next);
    let mut gaps = gaps.filter(|gap| !gap.is_empty()).collect::<Vec<_>>();
    gaps.sort_by_key(ExactSizeIterator::len);
    let wide = gaps.len().min(RUNS - 1);
    let mut ends = gaps.split_off(gaps.len() - wide);
    ends.sort_by_key(|gap| gap.start);
    let (Some(first), Some(last)) = (changed.first(), changed.last()) else { return Vec::new() };
    let starts = std::iter::once(*first).chain(ends.iter().map(|gap| gap.end));
    let ends = ends.iter().map(|gap| gap.start).chain(std::iter::once(last + 1));
    starts.zip(ends).map(|(start, end)| start..end).filter(|run| run.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use wasmtime::{Instance, Module, Store, Val};

    use super::*;

    #[test]
    fn the_narrowest_gaps_are_closed_until_few_runs_are_left() {
        let runs = |pages: &[u32]| runs_of(vec![pages.iter().copied().collect()]);
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[1, 2, 5, 90]), std::slice::from_ref(&(1..3)), "few runs stay as they are");
        // Of 25 gaps, of 1 to 25 pages, 4 are closed.
        let spread = (0..26).map(|n| n * (n + 3) / 2).collect::<Vec<_>>();
        assert_eq!(runs(&spread), std::slice::from_ref(&(0..15)));
        let far = (0..40).map(|n| n * 100).collect::<Vec<_>>();
        assert_eq!(runs(&far), [], "no more pages than it is worth");
    }

    #[test]
    fn a_request_that_changes_too_much_is_left_out() {
        let usual = BTreeSet::from([1, 2, 9, 10]);
        assert_eq!(runs_of(vec![(1..1_000).collect(), usual, BTreeSet::from([20, 21])]), [1..3, 9..11, 20..22]);
    }

    #[test]
    fn pages_that_differ_are_found() {
        let page = PAGE as usize;
        let before = vec![0; 5 * page];
        let mut after = before.clone();
        (after[7], after[4 * page - 1]) = (1, 1);
        assert_eq!(changed(&before, &after).collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn what_the_globals_name_is_touched_and_the_function_does_what_it_did() {
        let text = format!(
            r#"(module
              (import "" "one" (global i32))
              (import "" "function" (func (param i32)))
              (memory 1)
              (global (mut i32) (i32.const 3))
              (func $add (param i32 i64) (result i32) (i32.add (local.get 0) (i32.wrap_i64 (local.get 1))))
              (data (i32.const 4096) "kept")
              (func (export "kept") (result i32) (i32.load (i32.const 4096)))
              (export "{HANDLE}" (func $add)))"#
        );
        let module = with_touch(&wat::parse_str(text).unwrap()).unwrap();
        let engine = wasmtime::Engine::default();
        let call = |module: &[u8]| -> wasmtime::Result<(i32, [u8; 4])> {
            let module = Module::new(&engine, module).unwrap();
            let mut store = Store::new(&engine, ());
            let one = wasmtime::GlobalType::new(wasmtime::ValType::I32, wasmtime::Mutability::Const);
            let one = wasmtime::Global::new(&mut store, one, Val::I32(1)).unwrap();
            let function = wasmtime::Func::wrap(&mut store, |_: i32| {});
            let instance = Instance::new(&mut store, &module, &[one.into(), function.into()]).unwrap();
            let handle = instance.get_typed_func::<(i32, i64), i32>(&mut store, HANDLE).unwrap();
            let sum = handle.call(&mut store, (2, 3))?;
            let kept = instance.get_typed_func::<(), i32>(&mut store, "kept").unwrap();
            Ok((sum, kept.call(&mut store, ()).unwrap().to_le_bytes()))
        };
        assert_eq!(call(&module).unwrap(), (5, *b"kept"));
        // A mutable i64 that is 0: the first of the globals that were added.
        let zero = [0x7e, 0x01, 0x42, 0x00, 0x0b];
        let named = |first: i64, count: i64| {
            let mut value = vec![0x7e, 0x01, 0x42];
            (first << 32 | count).encode(&mut value);
            value.push(0x0b);
            let mut all = sections(&module);
            let globals = all.iter_mut().find(|section| section.0 == 6).unwrap();
            let at = globals.1.windows(zero.len()).position(|bytes| bytes == zero).unwrap();
            globals.1.splice(at..at + zero.len(), value);
            joined(&all)
        };
        assert_eq!(call(&named(0, 16)).unwrap(), (5, *b"kept"), "all of the memory");
        assert!(call(&named(15, 2)).is_err(), "more than the memory");
    }

    #[test]
    fn an_engine_without_a_handler_stays_as_it_is() {
        let module = wat::parse_str("(module (func (export \"other\")))").unwrap();
        assert_eq!(with_touch(&module).unwrap(), module);
    }

    fn sections(module: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let found = tenon_code::sections(module, 8..module.len()).unwrap();
        found.into_iter().map(|section| (section.id, module[section.content].to_vec())).collect()
    }

    fn joined(sections: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut module = wasm_encoder::Module::new();
        for (id, data) in sections {
            module.section(&wasm_encoder::RawSection { id: *id, data });
        }
        module.finish()
    }
}
