//! A core module as JavaScript sees it: its functions of numbers, and its memories.

use wasmparser::{
    CompositeInnerType, ExternalKind, FuncType, Parser, Payload, TypeRef, ValType, Validator, WasmFeatures,
};

use crate::error::LinkError;
use crate::limits::{MAX_BYTES, MAX_VALUES};

/// An exported function whose parameters and results are numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The export's name.
    pub name: String,
    /// Types of the parameters: `i32`, `i64`, `f32` and `f64`.
    pub params: Vec<ValType>,
    /// Types of the results.
    pub results: Vec<ValType>,
}

/// A core module that can be linked: valid, without imports.
#[derive(Clone, Debug)]
pub struct CoreModule {
    /// Functions that JavaScript can call, in the order of the exports.
    pub functions: Vec<Function>,
    /// Names of the exported memories, in the same order.
    pub memories: Vec<String>,
    /// Names of the other exports, and the reason why JavaScript has none of them.
    pub others: Vec<(String, &'static str)>,
    /// The number of memories that it defines.
    pub(crate) own_memories: usize,
}

/// Features that the runtime and current servers have, without those of garbage collection.
fn features() -> WasmFeatures {
    (WasmFeatures::WASM2
        | WasmFeatures::TAIL_CALL
        | WasmFeatures::EXTENDED_CONST
        | WasmFeatures::MULTI_MEMORY
        | WasmFeatures::RELAXED_SIMD
        | WasmFeatures::COMPONENT_MODEL)
        .difference(WasmFeatures::GC_TYPES)
}

/// Refuses a file that is too large or not valid.
pub(crate) fn check(bytes: &[u8]) -> Result<(), LinkError> {
    if bytes.len() > MAX_BYTES {
        return Err(LinkError::TooLarge(bytes.len()));
    }
    // The validator, and the decoder of components, need bounds on counts and depths.
    tenon_screen::screen(bytes).map_err(LinkError::invalid)?;
    Validator::new_with_features(features()).validate_all(bytes).map(drop).map_err(LinkError::invalid)
}

impl CoreModule {
    /// Reads a core module.
    ///
    /// # Errors
    ///
    /// The variants of [`LinkError`] about one module.
    pub fn read(bytes: &[u8]) -> Result<Self, LinkError> {
        match bytes {
            [0, b'a', b's', b'm', ..] => {}
            _ if bytes.trim_ascii_start().starts_with(b"(") => return Err(LinkError::Text),
            _ => return Err(LinkError::NotWebAssembly),
        }
        check(bytes)?;
        let mut types = Vec::new();
        let (mut functions, mut memories) = (Vec::new(), 0);
        let mut imports = Vec::new();
        let mut read = Self { functions: Vec::new(), memories: Vec::new(), others: Vec::new(), own_memories: 0 };
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.map_err(LinkError::invalid)? {
                Payload::TypeSection(all) => {
                    for group in all {
                        let group = group.map_err(LinkError::invalid)?;
                        types.extend(group.into_types().map(|ty| match ty.composite_type.inner {
                            CompositeInnerType::Func(ty) => Some(ty),
                            _ => None,
                        }));
                    }
                }
                Payload::ImportSection(all) => {
                    for import in all.into_imports() {
                        let import = import.map_err(LinkError::invalid)?;
                        imports.push(format!("{}.{}", import.module, import.name));
                        debug_assert!(!matches!(import.ty, TypeRef::Tag(_)), "exceptions are off");
                    }
                }
                Payload::FunctionSection(all) => {
                    for ty in all {
                        functions.push(ty.map_err(LinkError::invalid)?);
                    }
                }
                Payload::MemorySection(all) => {
                    for memory in all {
                        let memory = memory.map_err(LinkError::invalid)?;
                        memories += 1;
                        if memory.shared {
                            return Err(LinkError::Memory("shared between threads"));
                        }
                        if memory.memory64 {
                            return Err(LinkError::Memory("of 64-bit addresses"));
                        }
                    }
                }
                Payload::ExportSection(all) => {
                    for export in all {
                        let export = export.map_err(LinkError::invalid)?;
                        let name = export.name.to_owned();
                        let ty = functions.get(export.index as usize).and_then(|ty| types.get(*ty as usize)?.as_ref());
                        match (export.kind, ty) {
                            (ExternalKind::Func | ExternalKind::FuncExact, Some(ty)) => read.add(name, ty)?,
                            (ExternalKind::Memory, _) => read.memories.push(name),
                            (ExternalKind::Global, _) => read.others.push((name, "it is a global")),
                            (ExternalKind::Table, _) => read.others.push((name, "it is a table")),
                            _ => read.others.push((name, "it has a type of its own")),
                        }
                    }
                }
                _ => {}
            }
        }
        if !imports.is_empty() {
            return Err(LinkError::Imports(imports));
        }
        read.own_memories = memories;
        Ok(read)
    }

    fn add(&mut self, name: String, ty: &FuncType) -> Result<(), LinkError> {
        let values = ty.params().len() + ty.results().len();
        let is_number = |ty: &ValType| matches!(ty, ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64);
        if !ty.params().iter().chain(ty.results()).all(is_number) {
            self.others.push((name, "it takes or returns a value that JavaScript does not have"));
        } else if values > MAX_VALUES {
            return Err(LinkError::TooMany {
                what: "parameters and results of a function",
                found: values,
                most: MAX_VALUES,
            });
        } else {
            self.functions.push(Function { name, params: ty.params().to_vec(), results: ty.results().to_vec() });
        }
        Ok(())
    }
}
