/** Pages of `tenon dev` for failed builds and for exceptions. */
import { TenonError } from "../errors.ts";
import { mapStack } from "./map-stack.ts";

/** Path at which the error page queries the served build; the answer is {@link buildState}. */
export const statePath = "/_tenon/build";

/** Path of the source map of the served build, for the page of an exception. */
export const mapPath = "/_tenon/map";

/** Returns the content of {@link statePath}. The page reloads when it changes. */
export function buildState(number: number): string {
  return JSON.stringify({ build: number });
}

/**
 * Renders the page for browsers while the newest sources can't be built. It shows the error as in the terminal, in
 * light and dark, wide and narrow, and reloads after the next build.
 *
 * @param number number of the failed build; see {@link buildState}
 */
export function errorPage(name: string, error: unknown, number: number): string {
  const { message, hint } = describe(error);
  return page("Build failed", name, reloadFrom(number), [
    `<p class="subject"><b>${escapeHtml(name)}</b> cannot be built from the current sources.</p>`,
    ...message.map(problem),
    ...(hint === undefined ? [] : [`<p class="hint"><b>Hint</b> ${escapeHtml(hint)}</p>`]),
    "<footer>Save a change and this page reloads. Other clients get the last successful build, if there is one.</footer>",
  ]);
}

/** Renders the page for browsers before the end of the first build. It reloads, too. */
export function buildingPage(name: string): string {
  return page("Building", name, reloadFrom(0), [
    `<p class="subject"><b>${escapeHtml(name)}</b> is being built.</p>`,
    "<footer>This page reloads when the build has ended.</footer>",
  ]);
}

/**
 * Renders the page in the place of the API's reference, when the served build has no OpenAPI document. It reloads after the next build.
 *
 * @param number number of the served build
 */
export function noDocumentPage(name: string, error: unknown, number: number): string {
  return page("No OpenAPI document", name, reloadFrom(number), [
    `<p class="subject"><b>${escapeHtml(name)}</b> is served, but its API has no reference.</p>`,
    ...describe(error).message.map(problem),
    "<footer>Save a change and this page reloads.</footer>",
  ]);
}

/**
 * Renders the page for a browser whose request ended in an exception. `STACK` is replaced by the stack, which the page
 * maps to the sources. It reloads after the next build.
 */
export function thrownPage(): string {
  const script = `
const stack = document.querySelector("pre");
fetch(${JSON.stringify(mapPath)}).then((answer) => answer.json()).then((map) => {
  stack.textContent = (${mapStack})(stack.textContent, map);
}).catch(() => {});
let known;
${reload("(known ??= build)")}`;
  return page("Internal Server Error", "tenon dev", script, [
    '<p class="subject">The handler has thrown an exception. Other clients, and every client in production, see no details.</p>',
    '<section><pre tabindex="0">STACK</pre></section>',
    "<footer>Save a change and this page reloads.</footer>",
  ]);
}

/** Writes a script that reloads after the next build. */
export function reloadFrom(number: number): string {
  return `
const known = ${buildState(number).replaceAll("<", "\\u003c")}.build;
${reload("known")}`;
}

/** Writes a script that reloads when the served build is not the known one. */
function reload(known: string): string {
  return `setInterval(async () => {
  if (document.hidden) return;
  try {
    const { build } = await (await fetch(${JSON.stringify(statePath)})).json();
    if (build !== ${known}) location.reload();
  } catch {}
}, 700);
`;
}

/** Optional parts of a page. */
interface PageOptions {
  /** Styles besides those of all pages. */
  readonly style?: string;
  /** True when nothing but the page's own script and style may be loaded. */
  readonly hasPolicy?: boolean;
}

const policy = `<meta http-equiv="content-security-policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'">
`;

/** Renders a page. The title and the content are markup, the name is a text. */
export function page(
  title: string,
  name: string,
  script: string,
  content: readonly string[],
  { style: more = "", hasPolicy = false }: PageOptions = {},
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${hasPolicy ? policy : ""}<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${escapeHtml(name)}</title>
<link rel="icon" href="data:,">
<style>${style}${more}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content.join("\n")}
</main>
<script>${script}</script>
</body>
</html>
`;
}

/** An error with its position, its text and its source lines. */
interface Problem {
  readonly place?: string;
  readonly text: string;
  readonly lines: string;
}

function describe(error: unknown): { message: Problem[]; hint: string | undefined } {
  if (!(error instanceof TenonError)) return { message: problems(String(error)), hint: undefined };
  return { message: problems(error.message), hint: error.hint };
}

/** Splits a message at lines that begin with a position: `src/handler.ts:3:1: …`. */
function problems(message: string): Problem[] {
  const found: { place?: string; text: string; lines: string[] }[] = [];
  for (const line of message.split("\n")) {
    const [, place, text] = /^(\S+?:\d+:\d+): (.*)$/.exec(line) ?? [];
    const last = found.at(-1);
    if (place !== undefined && text !== undefined) found.push({ place, text, lines: [] });
    else if (last === undefined) found.push({ text: line, lines: [] });
    else last.lines.push(line);
  }
  return found.map(({ lines, ...rest }) => ({ ...rest, lines: lines.join("\n") }));
}

function problem({ place, text, lines }: Problem): string {
  const where = place === undefined ? "" : `<code class="place">${escapeHtml(place)}</code>\n`;
  const code = lines === "" ? "" : `\n<pre tabindex="0">${escapeHtml(lines)}</pre>`;
  return `<section>\n${where}<h2>${escapeHtml(text)}</h2>${code}\n</section>`;
}

function escapeHtml(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? character);
}

const style = `
:root { color-scheme: light dark; --ink: #1c1917; --soft: #57534e; --paper: #fafaf9; --card: #fff; --line: #e7e5e4; --red: #b91c1c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #f5f5f4; --soft: #a8a29e; --paper: #171412; --card: #211d1a; --line: #3a3430; --red: #f87171; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; border-top: 4px solid var(--red); }
main { max-width: 56rem; margin: 0 auto; padding: clamp(1rem, 4vw, 3rem); }
h1 { margin: 0; font-size: 1.5rem; color: var(--red); }
h2 { margin: .25rem 0 0; font-size: 1.05rem; font-weight: 600; overflow-wrap: anywhere; }
.subject { margin: .25rem 0 1.5rem; color: var(--soft); overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem; margin: 0 0 1rem; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .875rem; }
.place { color: var(--soft); overflow-wrap: anywhere; }
pre { margin: .75rem 0 0; padding-bottom: .5rem; overflow-x: auto; line-height: 1.6; tab-size: 2; }
.hint { margin: 0 0 1rem; }
.hint b { margin-right: .5em; }
footer { color: var(--soft); font-size: .875rem; }
`;
