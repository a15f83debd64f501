//! Functions of the engine's that are replaced by some that are written as text.

use tenon_code::rewrite::{Error, Rewrite};

/// Lets the engine call functions of `source`, the text of a module (`Rewrite::graft`), where it calls some that it imports. Each is
/// told by where it is imported from, and what it is called there and in the source. The engine stays as it is when it lacks
/// what the source needs.
pub(crate) fn replace(engine: &mut Rewrite<'_>, source: &str, replaced: &[(&str, &str, &str)]) -> Result<(), Error> {
    let known: Option<Vec<_>> = replaced.iter().map(|(module, name, _)| engine.imported(module, name)).collect();
    let Some(known) = known else { return Ok(()) };
    let graft = wat::parse_str(source)?;
    let Some(added) = engine.graft(&graft)? else { return Ok(()) };
    for (known, (_, name, instead)) in known.into_iter().zip(replaced) {
        let added = added.iter().find(|(exported, _)| exported == instead);
        let (_, added) = added.ok_or_else(|| format!("the source has no {instead}"))?;
        if !engine.are_alike(*added, known) {
            return Err(format!("{name} is another function than what replaces it").into());
        }
        engine.call_instead(known.function, added.function);
    }
    Ok(())
}
