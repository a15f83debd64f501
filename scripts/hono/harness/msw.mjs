// Stands in for the package `msw`, which replaces Node's own `fetch`: answers calls of fixed URLs with functions.

const methods = ["all", "get", "post", "put", "patch", "delete"];

export const http = Object.fromEntries(
  methods.map((method) => [method, (url, answer) => ({ method: method.toUpperCase(), url, answer })]),
);

const texts = { 404: "Not Found", 500: "Internal Server Error" };

export class HttpResponse extends Response {
  constructor(body, init) {
    super(body, { statusText: texts[init?.status], ...init });
  }
  static json(value, init) {
    return new HttpResponse(JSON.stringify(value), withType("application/json", init));
  }
  static text(body, init) {
    return new HttpResponse(body, withType("text/plain", init));
  }
  static arrayBuffer(body, init) {
    return new HttpResponse(body, withType("application/octet-stream", init));
  }
}

const withType = (type, init) => ({ ...init, headers: { "content-type": type, ...init?.headers } });

/** Answers with the exception of a function. */
const failed = ({ name, message }) => HttpResponse.json({ name, message }, { status: 500 });

export function setupServer(...handlers) {
  const before = globalThis.fetch;
  let used = [];
  return {
    listen() {
      globalThis.fetch = async (input, init) => {
        const request = new Request(input, init);
        const url = request.url.replace(/[?#].*$/, "");
        const isFor = (each) => each.url === url && (each.method === "ALL" || each.method === request.method);
        const handler = [...used, ...handlers].find(isFor);
        if (handler === undefined) throw new TypeError("fetch failed");
        const answer = await (async () => handler.answer({ request }))().catch(failed);
        if (answer.type === "error") throw new TypeError("Failed to fetch");
        return answer;
      };
    },
    use: (...more) => {
      used = [...more, ...used];
    },
    resetHandlers: () => {
      used = [];
    },
    close() {
      globalThis.fetch = before;
    },
  };
}
