//! `tenon-server compile`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use serde_json::Value;
use tenon_runtime::{Runtime, compile_ahead};

use crate::configuration::Configuration;
use crate::error::ServerError;
use crate::in_process::InProcessSidecars;
use crate::output::note;

/// Time for a start that compiles, in milliseconds.
const COMPILE_MS: u64 = 3_600_000;

/// Extension of a file of machine code.
const CODE: &str = "cwasm";

/// Compiles the modules into the cache folder, which other users may read then.
pub(crate) async fn into_cache(configuration: &Path) -> Result<ExitCode, ServerError> {
    let configuration = Configuration::read(configuration)?;
    let has_sidecars = configuration.has_sidecars_in_process();
    let configuration = configuration.without_reach();
    tenon_log::start("info", &configuration.log_format)?;
    let mut config = configuration.runtime(&mut InProcessSidecars::default()).await?;
    let Some(cache) = config.cache.clone() else {
        return Err(ServerError::Usage("set TENON_CACHE_DIR to the folder for machine code".to_string()));
    };
    for name in ["startup_timeout_ms", "load_timeout_ms"] {
        config.limits.set(name, COMPILE_MS).map_err(|wrong| ServerError::Usage(wrong.to_string()))?;
    }
    let modules = config.modules.len();
    let runtime = Runtime::new(config).await?;
    // A module that could not be compiled is in the log, and an image must not lack it.
    let ready = runtime.ready_modules().len();
    drop(runtime);
    if has_sidecars {
        tenon_services::compile_sqlite(&cache)?;
    }
    open_for_reading(&cache)?;
    note("Compile", &format!("{ready} of {modules} modules, into {}", cache.display()));
    Ok(if ready == modules { ExitCode::SUCCESS } else { ExitCode::from(crate::FAILED) })
}

/// Lets other users read a cache. They may not write, so its content stays trusted. Code that only further compiling
/// would use is removed. On Windows the cache stays this user's.
fn open_for_reading(cache: &Path) -> Result<(), ServerError> {
    #[cfg(unix)]
    let set = |path: &Path, mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|error| failed(path, error))
    };
    #[cfg(windows)]
    let set = |_: &Path, _| Ok(());
    for entry in fs::read_dir(cache).map_err(|error| failed(cache, error))? {
        let path = entry.map_err(|error| failed(cache, error))?.path();
        let is_shared = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.contains(".shared"));
        if is_shared {
            fs::remove_file(&path).map_err(|error| failed(&path, error))?;
        } else if path.is_file() {
            set(&path, 0o644)?;
        }
    }
    set(cache, 0o755)
}

/// Replaces the components in the folder of a configuration by their machine code, and changes the configuration to
/// match: it trusts that code. The folder needs neither the components nor a cache then.
pub(crate) fn in_place(path: &Path, cpu: &str) -> Result<ExitCode, ServerError> {
    let configuration = Configuration::read(path)?;
    tenon_log::start("info", &configuration.log_format)?;
    // Modules of one component have one file of code.
    let mut compiled: HashMap<Vec<u8>, PathBuf> = HashMap::new();
    let mut replaced = BTreeMap::new();
    for (name, source) in configuration.sources() {
        if source.extension().is_some_and(|extension| extension == CODE) {
            continue;
        }
        let component = configuration.folder.join(source);
        let bytes = fs::read(&component).map_err(|error| failed(&component, error))?;
        let code = match compiled.get(&bytes) {
            Some(code) => code.clone(),
            None => {
                let code = compile_ahead(&bytes, Some(cpu), None)?;
                let file = source.with_extension(CODE);
                let path = configuration.folder.join(&file);
                fs::write(&path, &code).map_err(|error| failed(&path, error))?;
                note("Compile", &format!("{name}, {} bytes, into {}", code.len(), path.display()));
                compiled.insert(bytes, file.clone());
                file
            }
        };
        replaced.insert(name.to_string(), (component, code));
    }
    if configuration.has_sidecars_in_process() {
        tenon_services::compile_sqlite(&configuration.folder)?;
    }
    rewrite(path, &replaced).map_err(|error| failed(path, error))?;
    for (component, _) in replaced.values() {
        match fs::remove_file(component) {
            // Two modules may have one component.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(component, error)),
            _ => {}
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(path: &Path, source: io::Error) -> ServerError {
    ServerError::File { path: path.into(), source }
}

/// Writes the new sources of modules into a configuration. Its variables stay references.
fn rewrite(path: &Path, replaced: &BTreeMap<String, (PathBuf, PathBuf)>) -> io::Result<()> {
    let mut values: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    for (name, (_, code)) in replaced {
        if let Some(source) = values.pointer_mut(&format!("/modules/{name}/source")) {
            *source = Value::String(code.display().to_string());
        }
    }
    if let Some(values) = values.as_object_mut() {
        values.insert("trustCompiled".to_string(), Value::Bool(true));
    }
    let partial = path.with_extension("part");
    fs::write(&partial, serde_json::to_string_pretty(&values)? + "\n")?;
    fs::rename(partial, path)
}
