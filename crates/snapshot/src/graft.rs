//! Replaces functions of the engine with functions of a module in text format.

use tenon_rewrite::{Error, Rewrite};

/// Redirects calls of imported functions in the engine to functions of `source`, a module's text (`Rewrite::graft`).
/// Each replacement names the import's module, the import, and the function of the source. The engine stays unchanged
/// when it lacks an import that the source needs.
pub(crate) fn replace(engine: &mut Rewrite<'_>, source: &str, replaced: &[(&str, &str, &str)]) -> Result<(), Error> {
    let known: Option<Vec<_>> = replaced.iter().map(|(module, name, _)| engine.imported(module, name)).collect();
    let Some(known) = known else { return Ok(()) };
    let graft = wat::parse_str(source)?;
    let Some(added) = engine.graft(&graft)? else { return Ok(()) };
    for (known, (_, name, instead)) in known.into_iter().zip(replaced) {
        let added = added.iter().find(|(exported, _)| exported == instead);
        let (_, added) = added.ok_or_else(|| format!("the source has no {instead}"))?;
        if !engine.are_alike(*added, known) {
            return Err(format!("{name} has another type than its replacement").into());
        }
        engine.call_instead(known.function, added.function);
    }
    Ok(())
}
