/** Shows a page for exceptions in development. */

interface Request {
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
}

interface Response {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: Uint8Array])[];
  readonly body?: Uint8Array;
}

type Handle = (request: Request) => Response | Promise<Response>;

/**
 * Watches for exceptions, in development alone. A browser whose request ends in an exception gets a page with its stack;
 * other clients get the answer that they get in production.
 *
 * @param page HTML, with `STACK` where the stack goes
 */
export function watchThrown(handle: Handle, page: string): Handle {
  // The bare name would add the methods that format (`cli/src/build/injections.ts`).
  const scope = globalThis;
  const { error } = scope.console;
  let thrown: string | undefined;
  scope.console.error = (...said: unknown[]) => {
    // As the SDK reports an exception that nobody has caught.
    if (String(said[0]).startsWith("Uncaught exception")) thrown = String(said[0]);
    error.apply(scope.console, said);
  };
  const encode = (text: string) => new TextEncoder().encode(text);
  const isBrowser = ({ headers }: Request) =>
    headers.some(
      ([name, value]) => name.toLowerCase() === "accept" && new TextDecoder().decode(value).includes("text/html"),
    );
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

  return (request) => {
    thrown = undefined;
    const answer = handle(request);
    return answer instanceof Promise ? answer.then(shown) : shown(answer);

    function shown(response: Response): Response {
      const stack = thrown;
      if (response.status !== 500 || stack === undefined || request.method === "HEAD" || !isBrowser(request))
        return response;
      const escaped = stack.replace(/[&<>]/g, (char) => names[char] as string);
      return {
        status: 500,
        headers: [
          ["content-type", encode("text/html; charset=utf-8")],
          ["cache-control", encode("no-store")],
        ],
        body: encode(page.replace("STACK", () => escaped)),
      };
    }
  };
}
