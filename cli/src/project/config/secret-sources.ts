/** The source of a secret: `env:NAME` or `file:path`. */
export const secretSource = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/;

/**
 * The problem of a text that should name a secret's source; `undefined` for a valid one. The text is not repeated,
 * because it may be the secret itself.
 */
export function secretProblem(text: string): string | undefined {
  return secretSource.test(text)
    ? undefined
    : 'must say where the secret is: "env:NAME" or "file:/path"; the secret itself does not belong here';
}
