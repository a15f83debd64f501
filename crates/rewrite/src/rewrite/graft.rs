//! Grafts the functions of a small module onto another module.

use std::convert::Infallible;

use wasm_encoder::Function;
use wasm_encoder::reencode::{self, Reencode};
use wasmparser::{CompositeInnerType, FunctionBody, Parser, Payload, TypeRef, Validator};

use super::{Error, Known, Rewrite};
use crate::state::constant;

/// Import module that stands for the other module's exports and its memory.
const OWN: &str = "engine";

impl Rewrite<'_> {
    /// Adds the functions and globals of a small module, and returns the new number of each of its exports. Its imports
    /// are resolved in two ways: `engine` means the module's exports, memory and exported table, and any other name an import of
    /// the module from a module whose name starts with it. None when the module lacks one of them.
    ///
    /// # Errors
    ///
    /// When one of them has another type, or the small module is invalid or has something unsupported: tables, memory
    /// or data of its own, or globals that are not mutable numbers.
    pub fn graft<'g>(&mut self, graft: &'g [u8]) -> Result<Option<Vec<(&'g str, Known)>>, Error> {
        Validator::new().validate_all(graft)?;
        let mut map = Map::default();
        let types = self.added_types.len();
        let (mut exports, mut bodies, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(graft) {
            match payload? {
                Payload::TypeSection(types) => {
                    for group in types {
                        for ty in group?.into_types() {
                            let CompositeInnerType::Func(ty) = ty.composite_type.inner else {
                                return Err("the grafted module has types other than functions".into());
                            };
                            map.types.push(self.type_of(&ty)?);
                        }
                    }
                }
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let import = import?;
                        if matches!(import.ty, TypeRef::Table(_)) && !self.added_tables.contains(&import.name) {
                            return Err("the grafted module imports an unknown table".into());
                        }
                        let TypeRef::Func(ty) = import.ty else { continue };
                        let known = match import.module {
                            OWN => self.exported(import.name),
                            module => self.imported(module, import.name),
                        };
                        let Some(known) = known else {
                            self.added_types.truncate(types);
                            return Ok(None);
                        };
                        if !self.are_alike(known, Known { ty: map.types[ty as usize], ..known }) {
                            return Err(
                                format!("{} has another type than the grafted module expects", import.name).into()
                            );
                        }
                        map.functions.push(known.function);
                    }
                }
                Payload::FunctionSection(functions) => {
                    for ty in functions {
                        let function = u32::try_from(self.functions.len() + self.added.len() + own.len())?;
                        own.push(Known { function, ty: map.types[ty? as usize] });
                        map.functions.push(function);
                    }
                }
                Payload::GlobalSection(globals) => {
                    for global in globals {
                        let global = global?;
                        let value = constant(&global.init_expr)?.filter(|_| global.ty.mutable);
                        let value = value.ok_or("a grafted global is not a mutable number")?;
                        map.globals.push(self.add_global(value)?);
                    }
                }
                Payload::ExportSection(found) => {
                    for export in found {
                        let export = export?;
                        exports.push((export.name, export.index));
                    }
                }
                Payload::CodeSectionEntry(body) => bodies.push(body),
                Payload::TableSection(_) | Payload::MemorySection(_) | Payload::DataSection(_) => {
                    return Err("the grafted module has tables, memory or data of its own".into());
                }
                _ => {}
            }
        }
        let added = own.iter().zip(bodies).map(|(known, body)| Ok((known.ty, map.function(body)?)));
        let added = added.collect::<Result<Vec<_>, Error>>()?;
        self.added.extend(added);
        let shown = exports.into_iter().filter_map(|(name, index)| {
            let function = *map.functions.get(index as usize)?;
            own.iter().find(|known| known.function == function).map(|known| (name, *known))
        });
        Ok(Some(shown.collect()))
    }
}

/// Maps the numbers of a small module to their new ones.
#[derive(Default)]
struct Map {
    types: Vec<u32>,
    functions: Vec<u32>,
    globals: Vec<u32>,
}

impl Map {
    fn function(&mut self, body: FunctionBody<'_>) -> Result<Function, Error> {
        let mut function = self.new_function_with_parsed_locals(&body)?;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            function.instruction(&self.parse_instruction(&mut operators)?);
        }
        Ok(function)
    }
}

/// The module is valid, so its numbers are within range.
impl Reencode for Map {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        Ok(self.functions[function as usize])
    }

    fn type_index(&mut self, ty: u32) -> Result<u32, reencode::Error> {
        Ok(self.types[ty as usize])
    }

    fn global_index(&mut self, global: u32) -> Result<u32, reencode::Error> {
        Ok(self.globals[global as usize])
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Instance, Module, Store};

    use super::*;

    const MODULE: &str = r#"(module
      (memory (export "memory") 1)
      (global (mut i32) (i32.const 5))
      (func $two (result i32) (i32.const 2))
      (func $twice (export "twice") (param i32) (result i32) (i32.mul (local.get 0) (call $two)))
      (func (export "ask") (param i32) (result i32) (call $twice (local.get 0))))"#;

    const GRAFT: &str = r#"(module
      (import "engine" "memory" (memory 0))
      (import "engine" "twice" (func $twice (param i32) (result i32)))
      (global $asked (mut i32) (i32.const 100))
      (func $stored (param i32) (result i32) (local i64)
        (local.set 1 (i64.extend_i32_u (local.get 0)))
        (i64.store (i32.const 8) (local.get 1))
        (i32.load (i32.const 8)))
      (func (export "instead") (param i32) (result i32)
        (global.set $asked (i32.add (global.get $asked) (i32.const 1)))
        (i32.add (global.get $asked) (call $stored (call $twice (local.get 0))))))"#;

    fn grafted(graft: &str) -> Result<Option<Vec<u8>>, Error> {
        let (module, graft) = (wat::parse_str(MODULE).unwrap(), wat::parse_str(graft).unwrap());
        let mut rewrite = Rewrite::of(&module).unwrap();
        let twice = rewrite.exported("twice").unwrap();
        let Some(added) = rewrite.graft(&graft)? else { return Ok(None) };
        let (name, instead) = added[0];
        assert_eq!((added.len(), name, instead.ty), (1, "instead", twice.ty));
        rewrite.call_instead(twice.function, instead.function);
        Ok(Some(rewrite.finish()?))
    }

    #[test]
    fn functions_of_a_small_module_call_and_are_called() {
        let engine = Engine::default();
        let mut store = Store::new(&engine, ());
        let made = Module::new(&engine, grafted(GRAFT).unwrap().unwrap()).unwrap();
        let instance = Instance::new(&mut store, &made, &[]).unwrap();
        let ask = instance.get_typed_func::<i32, i32>(&mut store, "ask").unwrap();
        assert_eq!([10, 20].map(|value| ask.call(&mut store, value).unwrap()), [101 + 20, 102 + 40]);
    }

    #[test]
    fn functions_of_a_small_module_call_through_an_exported_table() {
        let graft = r#"(module
          (import "engine" "more" (table 1 funcref))
          (type $none (func))
          (type $number (func (param i32) (result i32)))
          (func (export "through") (param i32) (result i32)
            (call_indirect (type $number) (local.get 0) (i32.const 0))))"#;
        let text = MODULE.replace("(memory", "(table 2 funcref) (elem (i32.const 1) $two) (memory");
        let (module, graft) = (wat::parse_str(text).unwrap(), wat::parse_str(graft).unwrap());
        let mut rewrite = Rewrite::of(&module).unwrap();
        assert!(rewrite.graft(&graft).unwrap_err().to_string().contains("unknown table"));
        let mut rewrite = Rewrite::of(&module).unwrap();
        assert!(rewrite.export_table("more", 1).unwrap_err().to_string().contains("place 1"));
        rewrite.export_table("more", 0).unwrap();
        let through = rewrite.graft(&graft).unwrap().unwrap()[0].1;
        let twice = rewrite.exported("twice").unwrap();
        rewrite.call_instead(twice.function, through.function);
        let engine = Engine::default();
        let mut store = Store::new(&engine, ());
        let made = Module::new(&engine, rewrite.finish().unwrap()).unwrap();
        let instance = Instance::new(&mut store, &made, &[]).unwrap();
        let table = instance.get_table(&mut store, "more").unwrap();
        let twice = instance.get_func(&mut store, "twice").unwrap();
        let ask = instance.get_typed_func::<i32, i32>(&mut store, "ask").unwrap();
        assert!(ask.call(&mut store, 21).is_err());
        table.set(&mut store, 0, wasmtime::Ref::Func(Some(twice))).unwrap();
        assert_eq!(ask.call(&mut store, 21).unwrap(), 42);
    }

    #[test]
    fn what_a_module_lacks_is_told() {
        assert_eq!(grafted(&GRAFT.replace("\"twice\"", "\"thrice\"")).unwrap(), None);
        let error = |graft: &str| grafted(graft).unwrap_err().to_string();
        let other = GRAFT.replace("$twice (param i32) (result i32)", "$twice (result i32)");
        assert!(
            error(&other.replace("(call $twice (local.get 0))", "(call $twice)")).contains("twice has another type")
        );
        assert!(error(&other).contains("type mismatch"));
        let constant = GRAFT.replace("(mut i32)", "i32").replace("(global.set $asked", "(drop");
        assert!(error(&constant).contains("mutable"));
    }
}
