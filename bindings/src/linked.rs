//! `tenon_link` for Node.

use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_link::{CoreModule, LinkError, Linked};

use crate::failure::{Failure, compute, promise};

/// A WebAssembly module that a bundle imports.
#[napi(object)]
pub struct LinkedModule {
    /// The number under which the bundle finds it: 64 bits in hexadecimal.
    pub id: String,
    /// The module.
    pub bytes: Buffer,
}

/// Reads the ids of modules.
pub(crate) fn read_all(modules: &[LinkedModule]) -> std::result::Result<Vec<Linked<'_>>, Failure> {
    let mut read = Vec::new();
    for LinkedModule { id, bytes } in modules {
        let id = u64::from_str_radix(id, 16).map_err(|error| Failure::new("BUILD", format!("{id}: {error}")))?;
        read.push(Linked { id, bytes });
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

/// The exports of a module.
#[napi(object, object_from_js = false)]
pub struct ModuleExports {
    pub functions: Vec<ModuleFunction>,
    /// Names of memories.
    pub memories: Vec<String>,
    pub others: Vec<ModuleOther>,
}

/// Reads the exports of a WebAssembly module. Rejects with `BUILD` when it cannot be linked; the message continues
/// "the module …".
#[napi]
pub fn exports_of_module<'env>(env: &'env Env, bytes: Buffer) -> Result<PromiseRaw<'env, ModuleExports>> {
    let read = compute(move || CoreModule::read(&bytes).map_err(Failure::from));
    promise(env, read, |CoreModule { functions, memories, others, .. }| {
        let names = |types: Vec<tenon_link::ValType>| types.iter().map(ToString::to_string).collect();
        ModuleExports {
            functions: functions
                .into_iter()
                .map(|function| ModuleFunction {
                    name: function.name,
                    params: names(function.params),
                    results: names(function.results),
                })
                .collect(),
            memories,
            others: others.into_iter().map(|(name, reason)| ModuleOther { name, reason: reason.to_owned() }).collect(),
        }
    })
}
