const most = 100;

/** Reports what is wrong with a list of locales; undefined when nothing is. */
export function localesProblem(tags: readonly string[]): string | undefined {
  for (const [index, tag] of tags.entries()) {
    const problem = tagProblem(tag);
    const which = tags.length === 1 ? "has an entry" : `has as entry ${index + 1} one`;
    // The entry is not repeated, because a variable may have a secret by mistake.
    if (problem !== undefined) return `${which} that ${problem}`;
    if (tags.indexOf(tag) < index) return `${which} that is there twice`;
  }
  if (tags.length > most) return `names more than ${most} locales`;
  return tags.length === 0 ? "is empty: name a locale, or leave it out" : undefined;
}

function tagProblem(tag: string): string | undefined {
  try {
    const isPlain = new Intl.Locale(tag).baseName === tag;
    return isPlain ? undefined : 'is not in its usual form without extensions, such as "de-CH"';
  } catch {
    return 'is not a language tag, such as "en" or "de-CH"';
  }
}
