/** The page of `tenon dev` that shows an OpenAPI document. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { packageFolder } from "../package.ts";

/** A page served at an exact path. */
export interface ServedPage {
  readonly path: string;
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** Content of the reference page. */
export interface ReferenceContent {
  /** Title of the window. */
  readonly title: string;
  /** URL of the document on the page's own server: `/run/<module>/openapi.json`. */
  readonly specUrl: string;
}

/** The viewer's files for the page, with their types. */
const assets = [
  ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["swagger-ui.css", "text/css; charset=utf-8"],
] as const;

/**
 * Returns the reference of an API for `tenon dev`: a page at `/docs` and `/docs/`, and its files below. The viewer is Swagger UI,
 * which is part of this package. Nothing is loaded from elsewhere.
 */
export function referencePage(reference: ReferenceContent): ServedPage[] {
  const folder = viewerFolder();
  const page = { contentType: "text/html; charset=utf-8", body: html(reference) };
  return [
    { path: "/docs", ...page },
    { path: "/docs/", ...page },
    { path: "/docs/page.js", contentType: "text/javascript; charset=utf-8", body: script(reference) },
    ...assets.map(([file, contentType]) => ({
      path: `/docs/${file}`,
      contentType,
      body: readFileSync(join(folder, file)),
    })),
  ];
}

/** Returns the viewer's folder: in the package after packing, in `node_modules` of a clone. */
function viewerFolder(): string {
  const packed = join(packageFolder, "viewer");
  return existsSync(packed) ? packed : dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
}

// The policy makes the browser enforce that the page contacts only its own server.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

function html({ title }: ReferenceContent): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
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
 * Shows the document. Its server is `/`, which is right for a component that is served alone. Here the module is below
 * `/run/<module>`, so requests that are tried out go there.
 */
function script({ specUrl }: ReferenceContent): string {
  return `const dark = matchMedia("(prefers-color-scheme: dark)");
// The viewer's own switch is in a bar that this page does not have.
const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", paint);
paint();
const url = ${JSON.stringify(specUrl)};
const base = url.slice(0, url.lastIndexOf("/")) || "/";
const show = (more) => SwaggerUIBundle({ dom_id: "#reference", deepLinking: true, validatorUrl: null, ...more });
fetch(url)
  .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status)))))
  .then((spec) => show({ spec: { ...spec, servers: [{ url: base, description: "This server" }] } }))
  // The viewer's own loading reports the error.
  .catch(() => show({ url }));
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
