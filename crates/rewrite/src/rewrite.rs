//! Adds functions to a core module, and redirects calls between its functions.

mod graft;

use std::collections::HashMap;
use std::convert::Infallible;

use wasm_encoder::reencode::{self, Reencode, RoundtripReencoder};
use wasm_encoder::{
    CodeSection, ConstExpr, Encode, ExportKind, ExportSection, Function, Instruction, Module, RawSection,
};
use wasmparser::{
    BinaryReader, CodeSectionReader, CompositeInnerType, CustomSectionReader, ElementItems, ElementKind,
    ElementSectionReader, ExportSectionReader, ExternalKind, FuncType, FunctionSectionReader, GlobalSectionReader,
    ImportSectionReader, KnownCustom, Name, Operator, TypeRef, TypeSectionReader, ValType,
};

use crate::section::{
    CODE, CUSTOM, ELEMENT, EXPORT, FUNCTION, GLOBAL, IMPORT, PREAMBLE, Section, TABLE, TYPE, sections,
};
use crate::state::{Global, constant};

/// The reason why a module cannot be rewritten.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A function of a module and its type, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The function's number.
    pub function: u32,
    /// Its type's.
    pub ty: u32,
}

/// A module and the changes to make.
#[derive(Debug)]
pub struct Rewrite<'a> {
    module: &'a [u8],
    sections: Vec<Section>,
    types: Vec<CompositeInnerType>,
    /// Types of all functions, imported ones first.
    functions: Vec<u32>,
    imports: Vec<(&'a str, &'a str)>,
    exports: Vec<(&'a str, u32)>,
    globals: u32,
    imported_globals: u32,
    added: Vec<(u32, Function)>,
    /// Function types that the module lacks; their numbers follow its own.
    added_types: Vec<FuncType>,
    added_globals: Vec<Global>,
    added_exports: Vec<(&'a str, u32)>,
    /// Names under which the first table is exported.
    added_tables: Vec<&'a str>,
    calls: HashMap<u32, u32>,
    shown: HashMap<&'a str, u32>,
}

impl<'a> Rewrite<'a> {
    /// Reads a module.
    ///
    /// # Errors
    ///
    /// When the module is malformed.
    pub fn of(module: &'a [u8]) -> Result<Self, Error> {
        let mut rewrite = Self {
            module,
            sections: sections(module, PREAMBLE..module.len())?,
            types: Vec::new(),
            functions: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            globals: 0,
            imported_globals: 0,
            added: Vec::new(),
            added_types: Vec::new(),
            added_globals: Vec::new(),
            added_exports: Vec::new(),
            added_tables: Vec::new(),
            calls: HashMap::new(),
            shown: HashMap::new(),
        };
        if let Some(types) = rewrite.reader(TYPE) {
            for group in TypeSectionReader::new(types)? {
                rewrite.types.extend(group?.into_types().map(|ty| ty.composite_type.inner));
            }
        }
        if let Some(imports) = rewrite.reader(IMPORT) {
            for import in ImportSectionReader::new(imports)?.into_imports() {
                let import = import?;
                match import.ty {
                    TypeRef::Func(ty) => {
                        rewrite.functions.push(ty);
                        rewrite.imports.push((import.module, import.name));
                    }
                    TypeRef::Global(_) => rewrite.imported_globals += 1,
                    _ => {}
                }
            }
        }
        if let Some(functions) = rewrite.reader(FUNCTION) {
            for ty in FunctionSectionReader::new(functions)? {
                rewrite.functions.push(ty?);
            }
        }
        if let Some(mut globals) = rewrite.reader(GLOBAL) {
            rewrite.globals = rewrite.imported_globals + globals.read_var_u32()?;
        }
        if let Some(exports) = rewrite.reader(EXPORT) {
            for export in ExportSectionReader::new(exports)? {
                let export = export?;
                if export.kind == ExternalKind::Func {
                    rewrite.exports.push((export.name, export.index));
                }
            }
        }
        Ok(rewrite)
    }

    fn reader(&self, id: u8) -> Option<BinaryReader<'a>> {
        let section = self.sections.iter().find(|section| section.id == id)?;
        Some(section.reader(self.module))
    }

    /// Finds the function that is imported under a name, from a module whose name starts with `module`.
    #[must_use]
    pub fn imported(&self, module: &str, name: &str) -> Option<Known> {
        let index = self.imports.iter().position(|(from, known)| from.starts_with(module) && *known == name)?;
        self.known(u32::try_from(index).ok()?)
    }

    /// Finds the function that is exported under a name.
    #[must_use]
    pub fn exported(&self, name: &str) -> Option<Known> {
        self.exports.iter().find(|(known, _)| *known == name).and_then(|(_, function)| self.known(*function))
    }

    /// Finds the function of a name whose only instruction is `unreachable`. Tools put such a stub in place of an
    /// import.
    ///
    /// # Errors
    ///
    /// When the names or the function are malformed.
    pub fn stubbed(&self, name: &str) -> Result<Option<Known>, Error> {
        let Some(function) = self.named(name)? else { return Ok(None) };
        let imported = u32::try_from(self.imports.len())?;
        let (Some(index), Some(code)) = (function.checked_sub(imported), self.reader(CODE)) else { return Ok(None) };
        let Some(body) = CodeSectionReader::new(code)?.into_iter().nth(index as usize) else { return Ok(None) };
        let operators = body?.get_operators_reader()?.into_iter().collect::<Result<Vec<_>, _>>()?;
        let traps = matches!(operators[..], [Operator::Unreachable, Operator::End]);
        Ok(if traps { self.known(function) } else { None })
    }

    /// Finds the function that the module's name section gives this name.
    fn named(&self, name: &str) -> Result<Option<u32>, Error> {
        for section in self.sections.iter().filter(|section| section.id == CUSTOM) {
            let KnownCustom::Name(names) = CustomSectionReader::new(section.reader(self.module))?.as_known() else {
                continue;
            };
            for names in names {
                let Name::Function(functions) = names? else { continue };
                for function in functions {
                    let function = function?;
                    if function.name == name {
                        return Ok(Some(function.index));
                    }
                }
            }
        }
        Ok(None)
    }

    fn known(&self, function: u32) -> Option<Known> {
        self.functions.get(function as usize).map(|ty| Known { function, ty: *ty })
    }

    /// Returns whether a function has these parameters and results.
    #[must_use]
    pub fn takes(&self, Known { ty, .. }: Known, params: &[ValType], results: &[ValType]) -> bool {
        match self.types.get(ty as usize) {
            Some(CompositeInnerType::Func(ty)) => ty.params() == params && ty.results() == results,
            _ => false,
        }
    }

    /// Returns the number of parameters of a function.
    #[must_use]
    pub fn params(&self, Known { ty, .. }: Known) -> u32 {
        match self.types.get(ty as usize) {
            Some(CompositeInnerType::Func(ty)) => u32::try_from(ty.params().len()).unwrap_or(u32::MAX),
            _ => 0,
        }
    }

    /// Returns the mutable globals that the module defines, by number, with their initial values. None stands for a
    /// computed value, or one of a type that [`Global`] does not have.
    ///
    /// # Errors
    ///
    /// When one is malformed.
    pub fn mutable_globals(&self) -> Result<Vec<(u32, Option<Global>)>, Error> {
        let mut mutable = Vec::new();
        let Some(globals) = self.reader(GLOBAL) else { return Ok(mutable) };
        for (index, global) in (self.imported_globals..).zip(GlobalSectionReader::new(globals)?) {
            let global = global?;
            if global.ty.mutable {
                mutable.push((index, constant(&global.init_expr)?));
            }
        }
        Ok(mutable)
    }

    /// Adds a function of the same type as another, with locals of type `i32` after its parameters.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub fn add(&mut self, like: Known, locals: u32, instructions: &[Instruction<'_>]) -> Result<u32, Error> {
        let mut function = Function::new(Some((locals, wasm_encoder::ValType::I32)).filter(|(count, _)| *count > 0));
        for instruction in instructions {
            function.instruction(instruction);
        }
        function.instruction(&Instruction::End);
        self.added.push((like.ty, function));
        Ok(u32::try_from(self.functions.len() + self.added.len() - 1)?)
    }

    /// Adds a function without parameters and results, and exports it under a name that is not taken.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub fn add_exported(&mut self, name: &'a str, instructions: &[Instruction<'_>]) -> Result<(), Error> {
        let ty = self.type_of(&FuncType::new([], []))?;
        let function = self.add(Known { function: 0, ty }, 0, instructions)?;
        self.added_exports.push((name, function));
        Ok(())
    }

    /// Returns the number of a function type, and adds the type if the module lacks it.
    fn type_of(&mut self, ty: &FuncType) -> Result<u32, Error> {
        let known = self.types.iter().position(|known| matches!(known, CompositeInnerType::Func(known) if known == ty));
        let added = || Some(self.types.len() + self.added_types.iter().position(|added| added == ty)?);
        if let Some(number) = known.or_else(added) {
            return Ok(u32::try_from(number)?);
        }
        self.added_types.push(ty.clone());
        Ok(u32::try_from(self.types.len() + self.added_types.len() - 1)?)
    }

    /// Returns whether two functions are of the same type. A module may define one type more than once.
    #[must_use]
    pub fn are_alike(&self, one: Known, other: Known) -> bool {
        one.ty == other.ty
            || self.types.get(one.ty as usize).is_some_and(|ty| self.types.get(other.ty as usize) == Some(ty))
    }

    /// Adds a mutable global.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub fn add_global(&mut self, value: Global) -> Result<u32, Error> {
        self.added_globals.push(value);
        Ok(self.globals + u32::try_from(self.added_globals.len() - 1)?)
    }

    /// Exports the first table under a name that is not taken, so that functions can be put into a place of it.
    ///
    /// # Errors
    ///
    /// When the module has no table, or another function in that place.
    pub fn export_table(&mut self, name: &'a str, place: u32) -> Result<(), Error> {
        let mut tables = self.reader(TABLE).ok_or("the module has no table")?;
        if tables.read_var_u32()? == 0 {
            return Err("the module has no table".into());
        }
        if let Some(elements) = self.reader(ELEMENT) {
            for element in ElementSectionReader::new(elements)? {
                let element = element?;
                let ElementKind::Active { offset_expr, .. } = element.kind else { continue };
                let length = match element.items {
                    ElementItems::Functions(items) => items.count(),
                    ElementItems::Expressions(_, items) => items.count(),
                };
                match constant(&offset_expr)? {
                    Some(Global::I32(start))
                        if !(start.cast_unsigned()..).take(length as usize).any(|at| at == place) => {}
                    _ => return Err(format!("place {place} of the table is not known to be empty").into()),
                }
            }
        }
        self.added_tables.push(name);
        Ok(())
    }

    /// Redirects calls of `from` to `to` in the functions of the original. References to `from`, as in tables, stay.
    pub fn call_instead(&mut self, from: u32, to: u32) {
        self.calls.insert(from, to);
    }

    /// Replaces the function that is exported under an existing name.
    pub fn export_instead(&mut self, name: &'a str, to: u32) {
        self.shown.insert(name, to);
    }

    /// Encodes the rewritten module.
    ///
    /// # Errors
    ///
    /// When an addition would need a section that the module does not have.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        let needed = [
            (TYPE, !self.added_types.is_empty()),
            (FUNCTION, !self.added.is_empty()),
            (GLOBAL, !self.added_globals.is_empty()),
            (EXPORT, !self.added_exports.is_empty() || !self.added_tables.is_empty()),
        ];
        if needed.iter().any(|(id, needed)| *needed && self.reader(*id).is_none()) {
            return Err("the module has no section for an added item".into());
        }
        let mut module = Module::new();
        for section in &self.sections {
            let reader = section.reader(self.module);
            match section.id {
                TYPE => {
                    let mut types = Vec::new();
                    self.added_types.iter().try_for_each(|ty| encode_type(ty, &mut types))?;
                    let add = |made: &mut Vec<u8>| made.extend(types);
                    module.section(&longer(TYPE, reader, self.added_types.len(), add)?.section())
                }
                FUNCTION => module.section(
                    &longer(FUNCTION, reader, self.added.len(), |made| {
                        self.added.iter().for_each(|(ty, _)| ty.encode(made));
                    })?
                    .section(),
                ),
                GLOBAL => module.section(
                    &longer(GLOBAL, reader, self.added_globals.len(), |made| {
                        self.added_globals.iter().for_each(|value| encode_global(*value, made));
                    })?
                    .section(),
                ),
                EXPORT => module.section(&self.exports_of(reader)?),
                CODE => module.section(&self.code(reader)?),
                id => module.section(&RawSection { id, data: &self.module[section.content.clone()] }),
            };
        }
        Ok(module.finish())
    }

    fn exports_of(&self, reader: BinaryReader<'_>) -> Result<ExportSection, Error> {
        let mut exports = ExportSection::new();
        for export in ExportSectionReader::new(reader)? {
            let export = export?;
            let index = match self.shown.get(export.name) {
                Some(function) if export.kind == ExternalKind::Func => *function,
                _ => export.index,
            };
            exports.export(export.name, RoundtripReencoder.export_kind(export.kind)?, index);
        }
        for (name, function) in &self.added_exports {
            exports.export(name, ExportKind::Func, *function);
        }
        for name in &self.added_tables {
            exports.export(name, ExportKind::Table, 0);
        }
        Ok(exports)
    }

    fn code(&self, reader: BinaryReader<'_>) -> Result<CodeSection, Error> {
        let mut code = CodeSection::new();
        let mut calls = Calls(&self.calls);
        for body in CodeSectionReader::new(reader)? {
            let body = body?;
            let mut changes = false;
            if !self.calls.is_empty() {
                for operator in body.get_operators_reader()? {
                    changes |= calls.changes(&operator?);
                }
            }
            if changes {
                calls.parse_function_body(&mut code, body)?;
            } else {
                code.raw(body.as_bytes());
            }
        }
        for (_, function) in &self.added {
            code.function(function);
        }
        Ok(code)
    }
}

/// Marker of a function type in the binary format.
const FUNCTION_TYPE: u8 = 0x60;

fn encode_type(ty: &FuncType, made: &mut Vec<u8>) -> Result<(), Error> {
    made.push(FUNCTION_TYPE);
    for list in [ty.params(), ty.results()] {
        list.len().encode(made);
        for ty in list {
            RoundtripReencoder.val_type(*ty)?.encode(made);
        }
    }
    Ok(())
}

fn encode_global(value: Global, made: &mut Vec<u8>) {
    let (val_type, value) = match value {
        Global::I32(value) => (wasm_encoder::ValType::I32, ConstExpr::i32_const(value)),
        Global::I64(value) => (wasm_encoder::ValType::I64, ConstExpr::i64_const(value)),
        Global::F32(bits) => (wasm_encoder::ValType::F32, ConstExpr::f32_const(f32::from_bits(bits).into())),
        Global::F64(bits) => (wasm_encoder::ValType::F64, ConstExpr::f64_const(f64::from_bits(bits).into())),
    };
    wasm_encoder::GlobalType { val_type, mutable: true, shared: false }.encode(made);
    value.encode(made);
}

/// A section with entries appended.
struct Longer {
    id: u8,
    content: Vec<u8>,
}

impl Longer {
    fn section(&self) -> RawSection<'_> {
        RawSection { id: self.id, data: &self.content }
    }
}

fn longer(id: u8, mut was: BinaryReader<'_>, more: usize, add: impl FnOnce(&mut Vec<u8>)) -> Result<Longer, Error> {
    let mut content = Vec::new();
    (was.read_var_u32()? + u32::try_from(more)?).encode(&mut content);
    content.extend_from_slice(was.read_bytes(was.bytes_remaining())?);
    add(&mut content);
    Ok(Longer { id, content })
}

/// Redirects calls of the functions in the map and keeps everything else.
#[derive(Debug)]
struct Calls<'a>(&'a HashMap<u32, u32>);

impl Calls<'_> {
    fn changes(&self, operator: &Operator<'_>) -> bool {
        match operator {
            Operator::Call { function_index } | Operator::ReturnCall { function_index } => {
                self.0.contains_key(function_index)
            }
            _ => false,
        }
    }

    fn instead_of(&self, function: u32) -> u32 {
        self.0.get(&function).copied().unwrap_or(function)
    }
}

impl Reencode for Calls<'_> {
    type Error = Infallible;

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Result<Instruction<'a>, reencode::Error> {
        match operator {
            Operator::Call { function_index } => Ok(Instruction::Call(self.instead_of(function_index))),
            Operator::ReturnCall { function_index } => Ok(Instruction::ReturnCall(self.instead_of(function_index))),
            other => reencode::utils::instruction(self, other),
        }
    }
}

#[cfg(test)]
mod tests;
