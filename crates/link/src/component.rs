//! A component as JavaScript sees it: functions of values, whose types are written as JSON for `cli/src/build`.

use std::fmt::Write;

use wasm_encoder::ComponentTypeSection;
use wasmparser::{Parser, Payload, ValType};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::decoding::{DecodedWasm, decode};
use wit_parser::{Function as WitFunction, FunctionKind, InterfaceId, Resolve, Type, TypeDefKind, WorldItem};

use crate::error::LinkError;
use crate::import_types::{RootTypes, Unsupported};
use crate::limits::MAX_TYPE_BYTES;
use crate::module::{Function, check};

/// A component that can be linked.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its exports: functions, and interfaces with functions.
    pub exports: Vec<Export>,
    /// The number of memories that its modules define.
    pub(crate) memories: usize,
    resolve: Resolve,
}

/// An export of a component.
#[derive(Clone, Debug)]
pub struct Export {
    /// The function's name, or the interface's with its version, such as `example:image/resize@1.0.0`.
    pub name: String,
    /// The functions: one, or those of the interface.
    pub functions: Vec<ComponentFunction>,
    /// The interface, unless it is a function.
    pub interface: Option<InterfaceId>,
}

/// A function that a component exports, alone or in an interface.
#[derive(Clone, Debug)]
pub struct ComponentFunction {
    /// Its name.
    pub name: String,
    /// The signature in JSON: `{"params": [[name, type], …], "result": type or null}`. A type is the name of a primitive
    /// one, or an object with one member, such as `{"list": "u8"}`.
    pub signature: String,
    /// The function of numbers that it becomes, named by its number.
    lowered: Function,
    declared: WitFunction,
}

/// Packages whose interfaces servers provide.
const PROVIDED: [&str; 7] =
    ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:http/", "wasi:io/", "wasi:random/", "wasi:sockets/"];

impl Component {
    /// Reads a component.
    ///
    /// # Errors
    ///
    /// The variants of [`LinkError`] about one module.
    pub fn read(bytes: &[u8]) -> Result<Self, LinkError> {
        check(bytes)?;
        let decoded = decode(bytes).map_err(|error| LinkError::Invalid(format!("{error:#}")))?;
        let DecodedWasm::Component(resolve, world) = decoded else {
            return Err(LinkError::Invalid("it is a package of interfaces and has no code".to_owned()));
        };
        let mut lacking = Vec::new();
        for (key, item) in &resolve.worlds[world].imports {
            match item {
                WorldItem::Interface { .. } => lacking.push(resolve.name_world_key(key)),
                WorldItem::Function(function) => lacking.push(function.name.clone()),
                // A type that its functions use.
                WorldItem::Type { .. } => {}
            }
        }
        lacking.retain(|import| !PROVIDED.iter().any(|package| import.starts_with(package)));
        if !lacking.is_empty() {
            return Err(LinkError::Imports(lacking));
        }
        let mut exports = Vec::new();
        let mut number = 0;
        for (key, item) in &resolve.worlds[world].exports {
            let (name, interface, declared): (_, _, Vec<&WitFunction>) = match item {
                WorldItem::Interface { id, .. } => {
                    (resolve.name_world_key(key), Some(*id), resolve.interfaces[*id].functions.values().collect())
                }
                WorldItem::Function(function) => (function.name.clone(), None, vec![function]),
                WorldItem::Type { .. } => continue,
            };
            let mut functions = Vec::new();
            for function in declared {
                functions.push(read(&resolve, function, number)?);
                number += 1;
            }
            exports.push(Export { name, functions, interface });
        }
        let mut memories = 0;
        for payload in Parser::new(0).parse_all(bytes) {
            if let Payload::MemorySection(all) = payload.map_err(LinkError::invalid)? {
                memories += all.count() as usize;
            }
        }
        let read = Self { exports, memories, resolve };
        // Types that the engine cannot import are found now, with the file's name at hand.
        let mut types = RootTypes { section: ComponentTypeSection::new(), first: 0 };
        for export in &read.exports {
            read.import_type(export, &mut types)
                .map_err(|(function, what)| LinkError::Unsupported { function, what })?;
        }
        Ok(read)
    }

    /// The functions as the dispatcher calls them.
    pub(crate) fn lowered(&self) -> impl Iterator<Item = &Function> {
        self.exports.iter().flat_map(|export| &export.functions).map(|function| &function.lowered)
    }

    /// Adds the type with which the engine imports an export, and returns its number. An error names the export.
    pub(crate) fn import_type(&self, export: &Export, types: &mut RootTypes) -> Result<u32, (String, Unsupported)> {
        let declared = export.functions.iter().map(|function| &function.declared);
        let number = match export.interface {
            Some(interface) => types.interface(&self.resolve, interface, declared),
            None => declared.map(|function| types.function(&self.resolve, function)).next().unwrap_or(Err("nothing")),
        };
        number.map_err(|what| (export.name.clone(), what))
    }
}

fn read(resolve: &Resolve, function: &WitFunction, number: usize) -> Result<ComponentFunction, LinkError> {
    let unsupported = |what| LinkError::Unsupported { function: function.name.clone(), what };
    match function.kind {
        FunctionKind::Freestanding => {}
        FunctionKind::AsyncFreestanding => return Err(unsupported("an asynchronous function")),
        _ => return Err(unsupported("a function of a resource")),
    }
    let mut signature = String::from(r#"{"params":["#);
    let mut types = Types { resolve, written: &mut signature };
    for (index, param) in function.params.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(types.written, r#"{comma}["{}","#, param.name);
        types.write(&param.ty).map_err(unsupported)?;
        types.written.push(']');
    }
    types.written.push_str(r#"],"result":"#);
    types.write_optional(function.result.as_ref()).map_err(unsupported)?;
    signature.push('}');
    let core = resolve.wasm_signature(AbiVariant::GuestImport, function);
    let numbers = |types: Vec<WasmType>| types.into_iter().map(number_type).collect();
    let lowered = Function { name: number.to_string(), params: numbers(core.params), results: numbers(core.results) };
    Ok(ComponentFunction { name: function.name.clone(), signature, lowered, declared: function.clone() })
}

fn number_type(ty: WasmType) -> ValType {
    match ty {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => ValType::I32,
        WasmType::I64 | WasmType::PointerOrI64 => ValType::I64,
        WasmType::F32 => ValType::F32,
        WasmType::F64 => ValType::F64,
    }
}

/// Writes types as JSON. Names of WIT need no escapes.
struct Types<'a> {
    resolve: &'a Resolve,
    written: &'a mut String,
}

impl Types<'_> {
    fn write(&mut self, ty: &Type) -> Result<(), Unsupported> {
        // A type that is used twice is written twice, so a small component can have a long signature.
        if self.written.len() > MAX_TYPE_BYTES {
            return Err("a type that is too large");
        }
        let name = match ty {
            Type::Bool => "bool",
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::S8 => "s8",
            Type::S16 => "s16",
            Type::S32 => "s32",
            Type::S64 => "s64",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::Char => "char",
            Type::String => "string",
            Type::ErrorContext => return Err("an error context"),
            Type::Id(id) => return self.write_defined(&self.resolve.types[*id].kind),
        };
        let _ = write!(self.written, r#""{name}""#);
        Ok(())
    }

    fn write_optional(&mut self, ty: Option<&Type>) -> Result<(), Unsupported> {
        match ty {
            Some(ty) => self.write(ty),
            None => {
                self.written.push_str("null");
                Ok(())
            }
        }
    }

    fn write_defined(&mut self, kind: &TypeDefKind) -> Result<(), Unsupported> {
        match kind {
            TypeDefKind::Type(ty) => self.write(ty),
            TypeDefKind::List(ty) => self.member("list", |types| types.write(ty)),
            TypeDefKind::Option(ty) => self.member("option", |types| types.write(ty)),
            TypeDefKind::Tuple(tuple) => {
                self.member("tuple", |types| types.list(&tuple.types, |types, ty| types.write(ty)))
            }
            TypeDefKind::Record(record) => self.member("record", |types| {
                types.list(&record.fields, |types, field| types.named(&field.name, Some(&field.ty)))
            }),
            TypeDefKind::Variant(variant) => self.member("variant", |types| {
                types.list(&variant.cases, |types, case| types.named(&case.name, case.ty.as_ref()))
            }),
            TypeDefKind::Enum(cases) => {
                self.member("enum", |types| types.list(&cases.cases, |types, case| types.text(&case.name)))
            }
            TypeDefKind::Flags(flags) => {
                self.member("flags", |types| types.list(&flags.flags, |types, flag| types.text(&flag.name)))
            }
            TypeDefKind::Result(result) => self.member("result", |types| {
                types.list(&[result.ok, result.err], |types, ty| types.write_optional(ty.as_ref()))
            }),
            TypeDefKind::Resource | TypeDefKind::Handle(_) => Err("a resource"),
            TypeDefKind::Map(..) => Err("a map"),
            TypeDefKind::FixedLengthList(..) => Err("a list of fixed length"),
            TypeDefKind::Future(_) => Err("a future"),
            TypeDefKind::Stream(_) => Err("a stream"),
            TypeDefKind::Unknown => Err("an unknown type"),
        }
    }

    fn member(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let _ = write!(self.written, r#"{{"{name}":"#);
        write(self)?;
        self.written.push('}');
        Ok(())
    }

    fn list<T>(
        &mut self,
        all: &[T],
        mut write: impl FnMut(&mut Self, &T) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        self.written.push('[');
        for (index, each) in all.iter().enumerate() {
            if index > 0 {
                self.written.push(',');
            }
            write(self, each)?;
        }
        self.written.push(']');
        Ok(())
    }

    fn named(&mut self, name: &str, ty: Option<&Type>) -> Result<(), Unsupported> {
        let _ = write!(self.written, r#"["{name}","#);
        self.write_optional(ty)?;
        self.written.push(']');
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Unsupported> {
        let _ = write!(self.written, r#""{text}""#);
        Ok(())
    }
}
