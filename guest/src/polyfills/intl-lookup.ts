/**
 * The choice of a locale among those with data, by ECMA-402's `LookupMatcher`. The default of formatjs is the nearest
 * language, so that `de-AT` would be formatted as `de-CH` although `de` is there.
 */

/** The names that data for a locale may have, the most special first. */
export function candidates(tag: string): readonly string[] {
  const { baseName } = new Intl.Locale(tag);
  const { language, script, region } = new Intl.Locale(tag).maximize();
  // A language that the likely subtags do not know has neither.
  if (script === undefined || region === undefined) return [baseName, language];
  const ofScript = (each: string) => new Intl.Locale(each).maximize().script === script;
  const shorter = [`${language}-${region}`, `${language}-${script}`, language].filter(ofScript);
  return [baseName, `${language}-${script}-${region}`, ...shorter];
}

/** Replaces each requested locale by the available one that `LookupMatcher` finds; its extension (`-u-nu-arab`) stays. */
export function lookedUp(available: Iterable<string>, requested: readonly string[]): readonly string[] {
  const names = new Set(available);
  return requested.map((tag) => {
    if (names.has(tag)) return tag;
    const found = candidates(tag).find((each) => names.has(each));
    return found === undefined ? tag : found + tag.slice(new Intl.Locale(tag).baseName.length);
  });
}
