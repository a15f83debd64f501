const most = 100;

/** Reports what is wrong with a list of locales; undefined when nothing is. */
export function localesProblem(tags: readonly string[]): string | undefined {
  for (const [index, tag] of tags.entries()) {
    const problem = tagProblem(tag);
    if (problem !== undefined) return `has ${JSON.stringify(tag)}, which ${problem}`;
    if (tags.indexOf(tag) < index) return `has ${JSON.stringify(tag)} twice`;
  }
  if (tags.length > most) return `names more than ${most} locales`;
  return tags.length === 0 ? "is empty: name a locale, or leave it out" : undefined;
}

function tagProblem(tag: string): string | undefined {
  try {
    const { baseName } = new Intl.Locale(tag);
    return baseName === tag ? undefined : `is written ${JSON.stringify(baseName)}`;
  } catch {
    return 'is no language tag, such as "en" or "de-CH"';
  }
}
