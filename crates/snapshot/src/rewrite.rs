//! Changing how functions of a core module reach each other.

use std::collections::HashMap;
use std::convert::Infallible;

use tenon_code::{Section, sections};
use wasm_encoder::reencode::{self, Reencode, RoundtripReencoder};
use wasm_encoder::{CodeSection, Encode, ExportSection, Function, Instruction, Module, RawSection};
use wasmparser::{
    BinaryReader, CodeSectionReader, CompositeInnerType, ExportSectionReader, ExternalKind, FunctionSectionReader,
    ImportSectionReader, Operator, TypeRef, TypeSectionReader, ValType,
};

use crate::section::{CODE, EXPORT, FUNCTION, GLOBAL, IMPORT, PREAMBLE, TYPE, reader};

/// Why a module cannot be rewritten.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// A function of a module and its type, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) function: u32,
    pub(crate) ty: u32,
}

/// A module, and what is to become of it.
pub(crate) struct Rewrite<'a> {
    module: &'a [u8],
    sections: Vec<Section>,
    types: Vec<CompositeInnerType>,
    /// The types of all functions, of those that are imported first.
    functions: Vec<u32>,
    imports: Vec<(&'a str, &'a str)>,
    exports: Vec<(&'a str, u32)>,
    globals: u32,
    added: Vec<(u32, Function)>,
    added_globals: Vec<i32>,
    calls: HashMap<u32, u32>,
    shown: HashMap<&'a str, u32>,
}

impl<'a> Rewrite<'a> {
    pub(crate) fn of(module: &'a [u8]) -> Result<Self, Error> {
        let mut rewrite = Self {
            module,
            sections: sections(module, PREAMBLE..module.len())?,
            types: Vec::new(),
            functions: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            globals: 0,
            added: Vec::new(),
            added_globals: Vec::new(),
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
                    TypeRef::Global(_) => rewrite.globals += 1,
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
            rewrite.globals += globals.read_var_u32()?;
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
        Some(reader(self.module, section))
    }

    /// The function that is imported under a name, from a module whose name starts with `module`.
    pub(crate) fn imported(&self, module: &str, name: &str) -> Option<Known> {
        let index = self.imports.iter().position(|(from, known)| from.starts_with(module) && *known == name)?;
        self.known(u32::try_from(index).ok()?)
    }

    /// The function that is exported under a name.
    pub(crate) fn exported(&self, name: &str) -> Option<Known> {
        self.exports.iter().find(|(known, _)| *known == name).and_then(|(_, function)| self.known(*function))
    }

    fn known(&self, function: u32) -> Option<Known> {
        self.functions.get(function as usize).map(|ty| Known { function, ty: *ty })
    }

    /// Whether a function is of a type.
    pub(crate) fn takes(&self, Known { ty, .. }: Known, params: &[ValType], results: &[ValType]) -> bool {
        match self.types.get(ty as usize) {
            Some(CompositeInnerType::Func(ty)) => ty.params() == params && ty.results() == results,
            _ => false,
        }
    }

    /// How many parameters a function has.
    pub(crate) fn params(&self, Known { ty, .. }: Known) -> u32 {
        match self.types.get(ty as usize) {
            Some(CompositeInnerType::Func(ty)) => u32::try_from(ty.params().len()).unwrap_or(u32::MAX),
            _ => 0,
        }
    }

    /// Adds a function of the same type as another, with locals of type `i32` behind its parameters.
    pub(crate) fn add(&mut self, like: Known, locals: u32, instructions: &[Instruction<'_>]) -> Result<u32, Error> {
        let index = self.functions.len() + self.added.len();
        let mut function = Function::new(Some((locals, wasm_encoder::ValType::I32)).filter(|(count, _)| *count > 0));
        for instruction in instructions {
            function.instruction(instruction);
        }
        function.instruction(&Instruction::End);
        self.added.push((like.ty, function));
        Ok(u32::try_from(index)?)
    }

    /// Adds a mutable global of type `i32`.
    pub(crate) fn add_global(&mut self, value: i32) -> Result<u32, Error> {
        self.added_globals.push(value);
        Ok(self.globals + u32::try_from(self.added_globals.len() - 1)?)
    }

    /// Lets functions that were there call `to` where they call `from`.
    pub(crate) fn call_instead(&mut self, from: u32, to: u32) {
        self.calls.insert(from, to);
    }

    /// Exports another function under a name that was there.
    pub(crate) fn export_instead(&mut self, name: &'a str, to: u32) {
        self.shown.insert(name, to);
    }

    /// The module that has become of it.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Error> {
        let mut module = Module::new();
        for section in &self.sections {
            let reader = reader(self.module, section);
            match section.id {
                FUNCTION => module.section(
                    &longer(FUNCTION, reader, self.added.len(), |made| {
                        self.added.iter().for_each(|(ty, _)| ty.encode(made));
                    })?
                    .section(),
                ),
                GLOBAL => module.section(
                    &longer(GLOBAL, reader, self.added_globals.len(), |made| {
                        for value in &self.added_globals {
                            wasm_encoder::GlobalType {
                                val_type: wasm_encoder::ValType::I32,
                                mutable: true,
                                shared: false,
                            }
                            .encode(made);
                            wasm_encoder::ConstExpr::i32_const(*value).encode(made);
                        }
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
        Ok(exports)
    }

    fn code(&self, reader: BinaryReader<'_>) -> Result<CodeSection, Error> {
        let mut code = CodeSection::new();
        let mut renumber = Renumber(&self.calls);
        for body in CodeSectionReader::new(reader)? {
            let body = body?;
            let mut calls = false;
            if !self.calls.is_empty() {
                for operator in body.get_operators_reader()? {
                    calls |= matches!(operator?, Operator::Call { function_index } if self.calls.contains_key(&function_index));
                }
            }
            if calls {
                renumber.parse_function_body(&mut code, body)?;
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

/// A section with entries added at its end.
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

/// Functions get other numbers where there are some for them; all else stays.
pub(crate) struct Renumber<'a>(pub(crate) &'a HashMap<u32, u32>);

impl Reencode for Renumber<'_> {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        Ok(self.0.get(&function).copied().unwrap_or(function))
    }
}
