//! `tenon_link` for Node.

use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_link::{Component, ComponentFunction, CoreModule, Function, Imported, LinkError, Linked};

use crate::failure::{Failure, compute, promise};

/// A WebAssembly module that a bundle imports.
#[napi(object)]
pub struct LinkedModule {
    /// The number under which the bundle finds it: 64 bits in hexadecimal.
    pub id: String,
    /// Its name in errors.
    pub name: String,
    /// The module.
    pub bytes: Buffer,
}

/// Reads the ids of modules.
pub(crate) fn read_all(modules: &[LinkedModule]) -> std::result::Result<Vec<Linked<'_>>, Failure> {
    let mut read = Vec::new();
    for LinkedModule { id, name, bytes } in modules {
        let id = u64::from_str_radix(id, 16).map_err(|error| Failure::new("BUILD", format!("{id}: {error}")))?;
        read.push(Linked { id, name, bytes });
    }
    Ok(read)
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        Self::new("BUILD", error.to_string())
    }
}

/// A function of a module.
#[napi(object, object_from_js = false)]
pub struct ModuleFunction {
    pub name: String,
    /// Types of the parameters: `i32`, `i64`, `f32`, `f64`.
    pub params: Vec<String>,
    /// Types of the results.
    pub results: Vec<String>,
}

/// An export that JavaScript does not get.
#[napi(object, object_from_js = false)]
pub struct ModuleOther {
    pub name: String,
    /// The reason, such as `it is a global`.
    pub reason: String,
}

/// A function of a component.
#[napi(object, object_from_js = false)]
pub struct TypedFunction {
    /// The interface that it belongs to, such as `example:image/resize@1.0.0`.
    pub interface: Option<String>,
    pub name: String,
    /// JSON: `{"params": [[name, type], …], "result": type or null}`.
    pub signature: String,
}

/// The exports of a module, or of a component.
#[napi(object, object_from_js = false)]
pub struct ModuleExports {
    pub functions: Vec<ModuleFunction>,
    /// Names of memories.
    pub memories: Vec<String>,
    pub others: Vec<ModuleOther>,
    /// The functions of a component, which has none of the above.
    pub typed: Option<Vec<TypedFunction>>,
}

/// Reads the exports of a WebAssembly module or component. Rejects with `BUILD` when it cannot be linked; the message
/// continues the module's name.
#[napi]
pub fn exports_of_module<'env>(env: &'env Env, bytes: Buffer) -> Result<PromiseRaw<'env, ModuleExports>> {
    let read = compute(move || Imported::read(&bytes).map_err(Failure::from));
    promise(env, read, |imported| match imported {
        Imported::Core(module) => ModuleExports::of_module(module),
        Imported::Component(component) => ModuleExports::of_component(*component),
    })
}

impl ModuleExports {
    fn of_module(CoreModule { functions, memories, others, .. }: CoreModule) -> Self {
        let names = |types: Vec<tenon_link::ValType>| types.iter().map(ToString::to_string).collect();
        let function = |Function { name, params, results }| ModuleFunction {
            name,
            params: names(params),
            results: names(results),
        };
        let other = |(name, reason): (String, &str)| ModuleOther { name, reason: reason.to_owned() };
        Self {
            functions: functions.into_iter().map(function).collect(),
            memories,
            others: others.into_iter().map(other).collect(),
            typed: None,
        }
    }

    fn of_component(Component { exports, .. }: Component) -> Self {
        let mut typed = Vec::new();
        for export in exports {
            let interface = export.interface.map(|_| export.name);
            let function = |ComponentFunction { name, signature, .. }| TypedFunction {
                interface: interface.clone(),
                name,
                signature,
            };
            typed.extend(export.functions.into_iter().map(function));
        }
        Self { functions: Vec::new(), memories: Vec::new(), others: Vec::new(), typed: Some(typed) }
    }
}
