/** The page of `tenon dev` that lists an app's tools, calls one, and shows the configurations of clients. */
import type { ServedPage } from "../schema/reference-page.ts";

/** The path of the page. */
export const toolsPath = "/tools";

/** The content of the page. */
export interface ToolsPage {
  /** The module's name. */
  readonly name: string;
  /** The project's folder, for clients that start `tenon mcp`. */
  readonly folder: string;
}

// The policy makes the browser enforce that the page contacts only its own server.
const POLICY = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'";

/** Returns the page and its script. It asks the served module itself, so it always shows the last build. */
export function toolsPages({ name, folder }: ToolsPage): ServedPage[] {
  return [
    { path: toolsPath, contentType: "text/html; charset=utf-8", body: html() },
    {
      path: `${toolsPath}/page.js`,
      contentType: "text/javascript; charset=utf-8",
      body: `(${page})(${JSON.stringify(name)}, ${JSON.stringify(folder)});\n`,
    },
  ];
}

function html(): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
    <title>Tools</title>
    <link rel="icon" href="data:," />
    <style>
      :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
      body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
      details { border: 1px solid #8886; border-radius: 6px; margin: 0.5rem 0; padding: 0.5rem 1rem; }
      summary { cursor: pointer; }
      code, pre, textarea { font: 13px/1.45 ui-monospace, monospace; }
      p { white-space: pre-line; }
      pre { background: #8882; border-radius: 6px; overflow: auto; overflow-wrap: anywhere; padding: 0.75rem; white-space: pre-wrap; }
      pre:empty { display: none; }
      textarea { border: 1px solid #8886; border-radius: 6px; box-sizing: border-box; padding: 0.5rem; width: 100%; }
      .hint { color: #888; font-size: 0.85em; margin-left: 0.5em; }
      .error { border-left: 4px solid #c33; }
    </style>
  </head>
  <body>
    <h1>Tools</h1>
    <p id="state">Asking the module …</p>
    <div id="served">
      <label>Headers of each call, one a line<br />
        <textarea id="headers" rows="2" placeholder="authorization: Bearer …"></textarea>
      </label>
      <div id="tools"></div>
      <h2>Clients</h2>
      <div id="clients"></div>
    </div>
    <script src="${toolsPath}/page.js"></script>
  </body>
</html>
`;
}

/** The parts of a page's DOM that the script uses; the compiler of this package knows no browser. */
interface Element {
  textContent: string;
  value: string;
  className: string;
  hidden: boolean;
  rows: number;
  append(...children: readonly (Element | string)[]): void;
  addEventListener(type: string, listener: () => void): void;
}
declare const document: { getElementById(id: string): Element; createElement(tag: string): Element };
declare const location: { readonly origin: string };

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: {
    readonly properties?: Readonly<
      Record<string, { readonly type?: string | readonly string[]; readonly default?: unknown }>
    >;
    readonly required?: readonly string[];
  };
  readonly annotations: Readonly<Record<string, boolean>>;
}

/** Runs in the browser, and so is all in one. Texts of the app are only ever set as text. */
function page(name: string, folder: string): void {
  const url = `/run/${name}/mcp`;
  const at = (id: string) => document.getElementById(id);
  const make = (tag: string, text = "", ...children: readonly Element[]): Element => {
    const element = document.createElement(tag);
    element.textContent = text;
    element.append(...children);
    return element;
  };

  async function ask(method: string, params: object): Promise<Record<string, never>> {
    const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
    for (const line of at("headers").value.split("\n")) {
      const colon = line.indexOf(":");
      if (colon > 0) headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
    }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await fetch(url, { method: "POST", headers, body });
    if (!(answer.headers.get("content-type") ?? "").startsWith("application/json"))
      throw new Error(String(answer.status));
    const { result, error } = (await answer.json()) as { result?: Record<string, never>; error?: { message: string } };
    if (result === undefined) throw new Error(error?.message ?? String(answer.status));
    return result;
  }

  function sample({ properties = {}, required = [] }: Tool["inputSchema"]): string {
    const values: Record<string, unknown> = {};
    for (const key of required) {
      const { type, default: fallback } = properties[key] ?? {};
      const [first] = [type].flat();
      const empty = { integer: 1, number: 1, boolean: true, array: [], object: {} } as Record<string, unknown>;
      values[key] = fallback ?? empty[first ?? ""] ?? "";
    }
    return JSON.stringify(values, null, 2);
  }

  function show(tool: Tool): Element {
    const summary = make("summary", "", make("code", tool.name));
    const hints = Object.keys(tool.annotations).filter((key) => tool.annotations[key]);
    const hint = make("span", [tool.title, ...hints.map((each) => each.replace("Hint", ""))].join(" · "));
    hint.className = "hint";
    summary.append(hint);
    // A program has lines, which JSON would write as one.
    const program =
      tool.name === "execute" && "code" in (tool.inputSchema.properties ?? {}) ? make("textarea") : undefined;
    if (program !== undefined) {
      program.value = "export default async () => {\n  return 1 + 1;\n};\n";
      program.rows = 12;
    }
    const args = make("textarea");
    args.value = program === undefined ? sample(tool.inputSchema) : "{}";
    args.rows = args.value.split("\n").length + 1;
    const given = () => ({ ...JSON.parse(args.value), ...(program === undefined ? {} : { code: program.value }) });
    const output = make("pre");
    const call = make("button", "Call");
    call.addEventListener("click", () => {
      output.textContent = "…";
      output.className = "";
      Promise.resolve()
        .then(() => ask("tools/call", { name: tool.name, arguments: given() }))
        .then((result) => {
          output.textContent = JSON.stringify(result, null, 2);
          output.className = result["isError"] ? "error" : "";
        })
        .catch((error: Error) => {
          output.textContent = error.message;
          output.className = "error";
        });
    });
    const schema = make(
      "details",
      "",
      make("summary", "Schema"),
      make("pre", JSON.stringify(tool.inputSchema, null, 2)),
    );
    return make(
      "details",
      "",
      summary,
      make("p", tool.description),
      ...(program === undefined ? [] : [program]),
      args,
      call,
      output,
      schema,
    );
  }

  async function list(): Promise<void> {
    const all: Tool[] = [];
    let params: { cursor?: string } = {};
    for (;;) {
      const { tools, nextCursor } = (await ask("tools/list", params)) as unknown as {
        tools: Tool[];
        nextCursor?: string;
      };
      all.push(...tools);
      if (nextCursor === undefined) break;
      params = { cursor: nextCursor };
    }
    at("state").textContent = `${all.length} ${all.length === 1 ? "tool" : "tools"} at POST ${location.origin}${url}`;
    at("tools").append(...all.map(show));
  }

  const full = location.origin + url;
  // A client starts it in any folder, where npx alone would install whatever has that name.
  const program = { command: "npx", args: ["--no", "--prefix", folder, "tenon", "mcp", "--project", folder] };
  const json = (value: object) => JSON.stringify(value, null, 2);
  const clients: readonly (readonly [string, string])[] = [
    ["Claude Code", `claude mcp add --transport http ${name} ${full}`],
    ["Cursor (.cursor/mcp.json), and most other clients", json({ mcpServers: { [name]: { url: full } } })],
    ["VS Code (.vscode/mcp.json)", json({ servers: { [name]: { type: "http", url: full } } })],
    [
      "Claude Desktop (claude_desktop_config.json), and clients that start programs",
      json({ mcpServers: { [name]: program } }),
    ],
    ["Codex (~/.codex/config.toml)", `[mcp_servers.${name}]\nurl = "${full}"`],
  ];
  for (const [title, text] of clients) at("clients").append(make("h3", title), make("pre", text));
  list().catch((error: Error) => {
    const isAbsent = error.message === "404";
    at("served").hidden = isAbsent;
    at("state").textContent = isAbsent
      ? "The module has no tools: routes(…, { mcp: {} }) serves its routes as tools."
      : `The module does not list its tools: ${error.message}`;
  });
}
