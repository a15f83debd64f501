//! Names of variables in the environment of modules.

pub use tenon_abi::SECRET_PREFIX;

/// Returns the value of a variable.
pub(crate) fn variable<'a>(environment: &'a [(String, String)], name: &str) -> Option<&'a str> {
    environment.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
}

/// Returns whether a variable has a secret as its value: one of `[secrets]`, or the token of a sidecar.
pub(crate) fn is_secret(name: &str) -> bool {
    name.starts_with(SECRET_PREFIX) || (name.starts_with("SIDECAR_") && name.ends_with("_TOKEN"))
}

/// Returns the start of the names of a sidecar's variables.
pub(crate) fn sidecar_variable(name: &str) -> String {
    format!("SIDECAR_{}", name.to_ascii_uppercase().replace('-', "_"))
}

/// Returns the bearer token of a sidecar: the secret `SIDECAR_<NAME>_TOKEN`, or else the variable of that name.
#[must_use]
pub fn sidecar_token<'a>(name: &str, environment: &'a [(String, String)]) -> Option<&'a str> {
    let name = format!("{}_TOKEN", sidecar_variable(name));
    variable(environment, &format!("{SECRET_PREFIX}{name}")).or_else(|| variable(environment, &name))
}
