/** Where a secret is: `env:NAME` or `file:path`. */
export const secretSource = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/;

/** The problem of a text that should say where a secret is; `undefined` when there is none. The text is not repeated: it may be the secret itself. */
export function secretProblem(text: string): string | undefined {
  return secretSource.test(text)
    ? undefined
    : 'must say where the secret is: "env:NAME" or "file:/path"; the secret itself does not belong here';
}
