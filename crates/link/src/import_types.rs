//! Types of a component's exports, written as types of imports.
//!
//! The engine imports what another component exports. Records, variants, enumerations and flags in an import must have
//! names, which an instance type exports. So such a type belongs to the interface whose functions use it.

use std::collections::HashMap;

use wasm_encoder::{
    ComponentTypeEncoder, ComponentTypeRef, ComponentTypeSection, ComponentValType, InstanceType, PrimitiveValType,
    TypeBounds,
};
use wit_parser::{Function, InterfaceId, Resolve, Type, TypeDefKind, TypeId, TypeOwner};

/// The name of a type that no import can have, with an article.
pub(crate) type Unsupported = &'static str;

/// A place for types.
trait Sink {
    fn encoder(&mut self) -> ComponentTypeEncoder<'_>;
    /// The number of the next type.
    fn next(&self) -> u32;
    /// Gives a type a name, and returns its number under that name.
    fn export(&mut self, name: &str, ty: u32) -> Result<u32, Unsupported>;
}

impl Sink for InstanceType {
    fn encoder(&mut self) -> ComponentTypeEncoder<'_> {
        self.ty()
    }

    fn next(&self) -> u32 {
        self.type_count()
    }

    fn export(&mut self, name: &str, ty: u32) -> Result<u32, Unsupported> {
        let number = self.type_count();
        InstanceType::export(self, name, ComponentTypeRef::Type(TypeBounds::Eq(ty)));
        Ok(number)
    }
}

/// Types of the engine's component, from a first number on.
pub(crate) struct RootTypes {
    pub(crate) section: ComponentTypeSection,
    pub(crate) first: u32,
}

impl RootTypes {
    /// Adds the type of an interface with functions, and returns its number.
    pub(crate) fn interface<'a>(
        &mut self,
        resolve: &Resolve,
        interface: InterfaceId,
        functions: impl Iterator<Item = &'a Function>,
    ) -> Result<u32, Unsupported> {
        let mut types = Types { resolve, owner: Some(interface), sink: InstanceType::new(), known: HashMap::new() };
        for function in functions {
            let ty = types.function(function)?;
            InstanceType::export(&mut types.sink, &*function.name, ComponentTypeRef::Func(ty));
        }
        self.section.instance(&types.sink);
        Ok(self.next() - 1)
    }

    /// Adds the type of a function outside of interfaces, and returns its number.
    pub(crate) fn function(&mut self, resolve: &Resolve, function: &Function) -> Result<u32, Unsupported> {
        let mut types = Types { resolve, owner: None, sink: self, known: HashMap::new() };
        types.function(function)
    }
}

impl Sink for &mut RootTypes {
    fn encoder(&mut self) -> ComponentTypeEncoder<'_> {
        self.section.ty()
    }

    fn next(&self) -> u32 {
        RootTypes::next(self)
    }

    fn export(&mut self, _: &str, _: u32) -> Result<u32, Unsupported> {
        Err("a type with a name outside of an interface")
    }
}

impl RootTypes {
    fn next(&self) -> u32 {
        self.first + self.section.len()
    }
}

struct Types<'a, S> {
    resolve: &'a Resolve,
    owner: Option<InterfaceId>,
    sink: S,
    known: HashMap<TypeId, ComponentValType>,
}

impl<S: Sink> Types<'_, S> {
    fn function(&mut self, function: &Function) -> Result<u32, Unsupported> {
        let mut params = Vec::new();
        for param in &function.params {
            params.push((&*param.name, self.value(&param.ty)?));
        }
        let result = function.result.as_ref().map(|ty| self.value(ty)).transpose()?;
        self.sink.encoder().function().params(params).result(result);
        Ok(self.sink.next() - 1)
    }

    fn value(&mut self, ty: &Type) -> Result<ComponentValType, Unsupported> {
        Ok(ComponentValType::Primitive(match ty {
            Type::Bool => PrimitiveValType::Bool,
            Type::U8 => PrimitiveValType::U8,
            Type::U16 => PrimitiveValType::U16,
            Type::U32 => PrimitiveValType::U32,
            Type::U64 => PrimitiveValType::U64,
            Type::S8 => PrimitiveValType::S8,
            Type::S16 => PrimitiveValType::S16,
            Type::S32 => PrimitiveValType::S32,
            Type::S64 => PrimitiveValType::S64,
            Type::F32 => PrimitiveValType::F32,
            Type::F64 => PrimitiveValType::F64,
            Type::Char => PrimitiveValType::Char,
            Type::String => PrimitiveValType::String,
            Type::ErrorContext => return Err("an error context"),
            Type::Id(id) => return self.defined(*id),
        }))
    }

    fn optional(&mut self, ty: Option<&Type>) -> Result<Option<ComponentValType>, Unsupported> {
        ty.map(|ty| self.value(ty)).transpose()
    }

    fn defined(&mut self, id: TypeId) -> Result<ComponentValType, Unsupported> {
        if let Some(known) = self.known.get(&id) {
            return Ok(*known);
        }
        let ty = &self.resolve.types[id];
        let mut needs_name = true;
        match &ty.kind {
            TypeDefKind::Type(ty) => return self.value(ty),
            TypeDefKind::Record(record) => {
                let mut fields = Vec::new();
                for field in &record.fields {
                    fields.push((&*field.name, self.value(&field.ty)?));
                }
                self.sink.encoder().defined_type().record(fields);
            }
            TypeDefKind::Variant(variant) => {
                let mut cases = Vec::new();
                for case in &variant.cases {
                    cases.push((&*case.name, self.optional(case.ty.as_ref())?));
                }
                self.sink.encoder().defined_type().variant(cases);
            }
            TypeDefKind::Enum(cases) => {
                self.sink.encoder().defined_type().enum_type(cases.cases.iter().map(|case| &*case.name));
            }
            TypeDefKind::Flags(flags) => {
                self.sink.encoder().defined_type().flags(flags.flags.iter().map(|flag| &*flag.name));
            }
            kind => {
                needs_name = false;
                self.unnamed(kind)?;
            }
        }
        let mut number = self.sink.next() - 1;
        if needs_name {
            let name = ty.name.as_deref().ok_or("a type without a name")?;
            let own = self.owner.map(TypeOwner::Interface);
            if own.is_some_and(|own| own != ty.owner) {
                return Err("a type of another interface");
            }
            number = self.sink.export(name, number)?;
        }
        let made = ComponentValType::Type(number);
        self.known.insert(id, made);
        Ok(made)
    }

    /// Types that need no name.
    fn unnamed(&mut self, kind: &TypeDefKind) -> Result<(), Unsupported> {
        match kind {
            TypeDefKind::List(ty) => {
                let ty = self.value(ty)?;
                self.sink.encoder().defined_type().list(ty);
            }
            TypeDefKind::Option(ty) => {
                let ty = self.value(ty)?;
                self.sink.encoder().defined_type().option(ty);
            }
            TypeDefKind::Tuple(tuple) => {
                let types = tuple.types.iter().map(|ty| self.value(ty)).collect::<Result<Vec<_>, _>>()?;
                self.sink.encoder().defined_type().tuple(types);
            }
            TypeDefKind::Result(result) => {
                let (ok, err) = (self.optional(result.ok.as_ref())?, self.optional(result.err.as_ref())?);
                self.sink.encoder().defined_type().result(ok, err);
            }
            TypeDefKind::Resource | TypeDefKind::Handle(_) => return Err("a resource"),
            TypeDefKind::Map(..) => return Err("a map"),
            TypeDefKind::FixedLengthList(..) => return Err("a list of fixed length"),
            TypeDefKind::Future(_) => return Err("a future"),
            TypeDefKind::Stream(_) => return Err("a stream"),
            _ => return Err("an unknown type"),
        }
        Ok(())
    }
}
