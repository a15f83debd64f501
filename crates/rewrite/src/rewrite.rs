//! Adds globals and functions to a core module.

use wasm_encoder::{ConstExpr, Encode, Function, Instruction, Module, RawSection};
use wasmparser::{
    BinaryReader, CompositeInnerType, FuncType, FunctionSectionReader, GlobalSectionReader, ImportSectionReader,
    TypeRef, TypeSectionReader, ValType,
};

use crate::section::{CODE, EXPORT, FUNCTION, GLOBAL, IMPORT, PREAMBLE, Section, TYPE, sections};
use crate::state::{Global, constant};

/// The reason why a module cannot be rewritten.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// The types of added functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    /// Without parameters and results.
    Nothing,
    /// From a 64-bit number to another one.
    Number,
}

impl Signature {
    const ALL: [Self; 2] = [Self::Nothing, Self::Number];

    fn encoded(self) -> &'static [u8] {
        match self {
            Self::Nothing => &[0x60, 0, 0],
            Self::Number => &[0x60, 1, 0x7e, 1, 0x7e],
        }
    }

    fn of(ty: &FuncType) -> Option<Self> {
        match (ty.params(), ty.results()) {
            ([], []) => Some(Self::Nothing),
            ([ValType::I64], [ValType::I64]) => Some(Self::Number),
            _ => None,
        }
    }
}

/// The kind of an exported function.
const FUNC: u8 = 0;

/// A module and the additions.
#[derive(Debug)]
pub(crate) struct Rewrite<'a> {
    module: &'a [u8],
    sections: Vec<Section>,
    types: u32,
    /// Numbers of the types of [`Signature::ALL`] that the module has.
    known: [Option<u32>; 2],
    functions: u32,
    globals: u32,
    imported_globals: u32,
    added: Vec<(&'a str, Signature, Function)>,
    added_globals: Vec<Global>,
}

impl<'a> Rewrite<'a> {
    /// Reads a module.
    ///
    /// # Errors
    ///
    /// When the module is malformed.
    pub(crate) fn of(module: &'a [u8]) -> Result<Self, Error> {
        let mut rewrite = Self {
            module,
            sections: sections(module, PREAMBLE..module.len())?,
            types: 0,
            known: [None; 2],
            functions: 0,
            globals: 0,
            imported_globals: 0,
            added: Vec::new(),
            added_globals: Vec::new(),
        };
        if let Some(types) = rewrite.reader(TYPE) {
            for group in TypeSectionReader::new(types)? {
                for ty in group?.into_types() {
                    if let CompositeInnerType::Func(ty) = ty.composite_type.inner
                        && let Some(signature) = Signature::of(&ty)
                    {
                        rewrite.known[signature as usize].get_or_insert(rewrite.types);
                    }
                    rewrite.types += 1;
                }
            }
        }
        if let Some(imports) = rewrite.reader(IMPORT) {
            for import in ImportSectionReader::new(imports)?.into_imports() {
                match import?.ty {
                    TypeRef::Func(_) => rewrite.functions += 1,
                    TypeRef::Global(_) => rewrite.imported_globals += 1,
                    _ => {}
                }
            }
        }
        if let Some(functions) = rewrite.reader(FUNCTION) {
            rewrite.functions += FunctionSectionReader::new(functions)?.count();
        }
        rewrite.globals = rewrite.imported_globals;
        if let Some(globals) = rewrite.reader(GLOBAL) {
            rewrite.globals += GlobalSectionReader::new(globals)?.count();
        }
        Ok(rewrite)
    }

    fn reader(&self, id: u8) -> Option<BinaryReader<'a>> {
        let section = self.sections.iter().find(|section| section.id == id)?;
        Some(section.reader(self.module))
    }

    /// Returns the mutable globals that the module defines, by number, with their initial values. None stands for a
    /// computed value, or one of a type that [`Global`] does not have.
    ///
    /// # Errors
    ///
    /// When one is malformed.
    pub(crate) fn mutable_globals(&self) -> Result<Vec<(u32, Option<Global>)>, Error> {
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

    /// Adds a function, and exports it under a name that is not taken.
    pub(crate) fn add_exported(&mut self, name: &'a str, signature: Signature, instructions: &[Instruction<'_>]) {
        let mut function = Function::new([]);
        for instruction in instructions {
            function.instruction(instruction);
        }
        function.instruction(&Instruction::End);
        self.added.push((name, signature, function));
    }

    /// Adds a mutable global.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub(crate) fn add_global(&mut self, value: Global) -> Result<u32, Error> {
        self.added_globals.push(value);
        Ok(self.globals + u32::try_from(self.added_globals.len() - 1)?)
    }

    /// Encodes the rewritten module.
    ///
    /// # Errors
    ///
    /// When an addition would need a section that the module does not have.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Error> {
        let functions = self.added.len();
        let additions = [
            (TYPE, self.added_types().count()),
            (FUNCTION, functions),
            (GLOBAL, self.added_globals.len()),
            (EXPORT, functions),
            (CODE, functions),
        ];
        if additions.iter().any(|(id, count)| *count > 0 && self.reader(*id).is_none()) {
            return Err("the module has no section for an added item".into());
        }
        let mut module = Module::new();
        for section in &self.sections {
            let content = match additions.iter().find(|(id, count)| *id == section.id && *count > 0) {
                Some((id, count)) => &self.longer(*id, *count)?,
                None => &self.module[section.content.clone()],
            };
            module.section(&RawSection { id: section.id, data: content });
        }
        Ok(module.finish())
    }

    /// The types that added functions need and the module does not have.
    fn added_types(&self) -> impl Iterator<Item = Signature> {
        let is_missing = |signature: &Signature| self.known[*signature as usize].is_none();
        let is_used = |signature: &Signature| self.added.iter().any(|(_, of, _)| of == signature);
        Signature::ALL.into_iter().filter(is_missing).filter(is_used)
    }

    /// The number of a type that the module has, or that is added.
    fn type_number(&self, signature: Signature) -> u32 {
        let added = || (self.types..).zip(self.added_types()).find(|(_, added)| *added == signature);
        self.known[signature as usize].or_else(|| added().map(|(number, _)| number)).unwrap_or(self.types)
    }

    /// Encodes a section with the additions.
    fn longer(&self, id: u8, more: usize) -> Result<Vec<u8>, Error> {
        let mut was = self.reader(id).ok_or("the module has no section for an added item")?;
        let mut content = Vec::new();
        (was.read_var_u32()? + u32::try_from(more)?).encode(&mut content);
        content.extend_from_slice(was.read_bytes(was.bytes_remaining())?);
        match id {
            TYPE => self.added_types().for_each(|signature| content.extend(signature.encoded())),
            GLOBAL => self.added_globals.iter().for_each(|value| encode_global(*value, &mut content)),
            _ => {
                for (number, (name, signature, function)) in (self.functions..).zip(&self.added) {
                    match id {
                        FUNCTION => self.type_number(*signature).encode(&mut content),
                        EXPORT => {
                            name.encode(&mut content);
                            content.push(FUNC);
                            number.encode(&mut content);
                        }
                        _ => function.encode(&mut content),
                    }
                }
            }
        }
        Ok(content)
    }
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
