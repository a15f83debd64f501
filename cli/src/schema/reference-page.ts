import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { packageFolder } from "../package.ts";

/** A page to be served at an exact path. */
export interface Page {
  readonly path: string;
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** What the reference page shows. */
export interface Reference {
  /** Of the window. */
  readonly title: string;
  /** The document's URL, as the page's own server has it: `/run/<module>/openapi.json`. */
  readonly specUrl: string;
}

/** The viewer's files that the page loads, and as what. */
const assets = [
  ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["swagger-ui.css", "text/css; charset=utf-8"],
] as const;

/**
 * The reference of an API, for `tenon dev`: a page at `/docs` and what it loads, below it. The viewer is Swagger UI,
 * which comes inside this package; nothing is loaded from anywhere else.
 */
export function referencePage(reference: Reference): Page[] {
  const folder = viewerFolder();
  return [
    { path: "/docs", contentType: "text/html; charset=utf-8", body: html(reference) },
    { path: "/docs/page.js", contentType: "text/javascript; charset=utf-8", body: script(reference) },
    ...assets.map(([file, contentType]) => ({
      path: `/docs/${file}`,
      contentType,
      body: readFileSync(join(folder, file)),
    })),
  ];
}

/** In the package when it was packed, where npm put the viewer in a clone. */
function viewerFolder(): string {
  const packed = join(packageFolder, "viewer");
  return existsSync(packed) ? packed : dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
}

// The policy is the browser's own proof that the page needs no network: only its server may be asked for anything.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

function html({ title }: Reference): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/page.js"></script>
  </body>
</html>
`;
}

/**
 * Shows the document. Its server is `/`, which is right where the component is served by itself; here the module is
 * below `/run/<module>`, where the document is, and requests that are tried out go there.
 */
function script({ specUrl }: Reference): string {
  return `const url = ${JSON.stringify(specUrl)};
const base = url.slice(0, url.lastIndexOf("/")) || "/";
const show = (more) => SwaggerUIBundle({ dom_id: "#reference", deepLinking: true, validatorUrl: null, ...more });
fetch(url)
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status)))))
  .then((spec) => show({ spec: { ...spec, servers: [{ url: base, description: "This server" }] } }))
  // The viewer's own loading says what is wrong.
  .catch(() => show({ url }));
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
