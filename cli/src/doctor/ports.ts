/** Checks that the ports of `tenon dev` are free. */
import { createServer } from "node:net";
import { type Check, error, note, ok } from "./check.ts";

/** Checks a port. `todo` says how to choose another one; without it, `tenon dev` uses the next free one. */
export async function portCheck(name: string, host: string, port: number, todo: string): Promise<Check> {
  const code = await listenError(host, port);
  const at = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  switch (code) {
    case undefined:
      return ok(name, `${at} is free`);
    case "EADDRINUSE":
      return note(name, `${at} is taken, so \`tenon dev\` takes the next free one`, todo);
    case "EACCES":
      return error(name, `${at} needs administrator rights`, todo);
    default:
      return error(name, `${at} cannot be listened on (${code})`, todo);
  }
}

function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (thrown: NodeJS.ErrnoException) => resolve(thrown.code ?? "unknown"));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
