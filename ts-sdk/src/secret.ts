import { SECRET_PREFIX } from "./abi.ts";
import { hideInReports } from "./app/report.ts";
import { findVariable, requireRequest } from "./platform.ts";

/**
 * A secret of `[secrets]` in `tenon.toml`. The server reads its value from its own environment or from a file, and it
 * is in no component, log or document; `env` hides it. It becomes `***` in the message of a reported exception. In
 * other log lines the runtime replaces a value of 8 bytes or more with `[secret NAME]`.
 *
 * Read it in a handler or a middleware: while the component is built there are no secrets yet, and the build fails.
 *
 * @example
 * const token = await signJwt({ sub: user.id }, { key: secret("JWT_KEY"), algorithm: "HS256", expiresIn: "15m" });
 * @throws Error naming the secret when it does not exist.
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

/** The value of a secret; `undefined` when it does not exist. */
function findSecret(name: string): string | undefined {
  return findVariable(SECRET_PREFIX + name);
}
