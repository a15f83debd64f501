import { hideInReports } from "./app/report.ts";
import { findVariable, requireRequest, SECRET_PREFIX } from "./platform.ts";

/**
 * A secret of `[secrets]` in `tenon.toml`. The server reads its value from its own environment or from a file, and it is in no
 * component, log or document; `env` does not give it. In the message of an exception that is reported it becomes `***`; in
 * other lines of the log the runtime shows `[secret NAME]` in the place of a value of 8 bytes or more.
 *
 * Read it in a handler or a middleware: while the component is built there are no secrets yet, and the build fails.
 *
 * @throws Error naming the secret when there is none of this name.
 */
export function secret(name: string): string {
  requireRequest("secret");
  const found = findSecret(name);
  if (found !== undefined) {
    hideInReports(found);
    return found;
  }
  throw new Error(
    `there is no secret called ${JSON.stringify(name)}: put ${name} = "env:NAME" or "file:/path" under [secrets] in ` +
      `tenon.toml (in a test: testApp(app, { secrets: { ${name}: … } }))`,
  );
}

/** The value of a secret; `undefined` when there is none of this name. */
function findSecret(name: string): string | undefined {
  return findVariable(SECRET_PREFIX + name);
}
