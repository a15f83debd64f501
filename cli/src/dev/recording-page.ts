/** The page of `tenon dev --recording`: a recorded request, step by step, and the answer of the last build to it. */
import { basename } from "node:path";
import { report } from "../commands/replay.ts";
import type { Replayed } from "../replay/replayer.ts";
import type { TapeView } from "../replay/tapes.ts";
import { page, reloadFrom } from "./error-page.ts";

/** The path of the page. */
export const recordingPath = "/_tenon/recording";

/** The comparison with the last successful build: an outcome, or the reason why there is none. */
export type Compared = Replayed | { readonly failure: string };

/** Kinds of events that are shown at first. The others are values of clocks and random values, and steps of waiting. */
const MAIN = ["request", "call", "result of a call", "log", "answer", "trap", "end by the host"];

/**
 * Renders the page. It reloads after the next build.
 *
 * @param compared undefined before the first build
 * @param build the number of the build that was compared
 */
export function recordingPage(file: string, view: TapeView, compared: Compared | undefined, build: number): string {
  const outcome = compared === undefined ? ["being built"] : outcomeLines(compared);
  const data = JSON.stringify({ view, outcome, main: MAIN }).replaceAll("<", "\\u003c");
  // Texts are a stranger's, perhaps: they become text of elements, and the policy lets nothing else run.
  return page("Recording", basename(file), `${script(data)}\n${reloadFrom(build)}`, content, {
    style,
    hasPolicy: true,
  });
}

function outcomeLines(compared: Compared): string[] {
  if ("failure" in compared) return ["cannot be compared", compared.failure];
  const [first = "", ...rest] = report("", compared);
  return [first.replace(/^: /, ""), ...rest.map((line) => line.replace(/^ {2}/, ""))];
}

const content = [
  '<p class="subject" id="head"></p>',
  '<section><h2>The last successful build: <span id="verdict"></span></h2><pre id="outcome" tabindex="0" hidden></pre></section>',
  `<div class="bar"><button type="button" id="previous">← Previous</button><button type="button" id="next">Next →</button>
<span id="position"></span><label><input type="checkbox" id="all"> clocks, random values and waits</label></div>`,
  '<div class="steps"><ol id="steps"></ol><section id="step" aria-live="polite"></section></div>',
  "<footer>← and → step through it. Save a change, and the recording runs in the new build.</footer>",
];

const script = (data: string) => `
const { view, outcome, main } = ${data};
const at = (id) => document.getElementById(id);
const el = (tag, text, kind) => {
  const element = document.createElement(tag);
  element.textContent = text;
  if (kind !== undefined) element.className = kind;
  return element;
};
const masked = view.masked.length === 0 ? "" : ", masked: " + view.masked.join(", ");
at("head").textContent = view.module + " " + view.status + ", " + view.durationMs.toFixed(1) + " ms, " + new Date(view.time).toISOString()
  + ", " + view.requestId + " (" + view.kept + masked + ")";
at("verdict").textContent = outcome[0];
at("outcome").textContent = outcome.slice(1).join("\\n");
at("outcome").hidden = outcome.length < 2;
let shown = [];
// A reload after a build stays at its step.
let current = Number(sessionStorage.getItem("step") ?? 0);
const headers = (event) => (event.headers ?? []).map(([name, value]) => name + ": " + value).join("\\n");
function select(number) {
  current = Math.max(0, Math.min(shown.length - 1, number));
  sessionStorage.setItem("step", String(current));
  for (const [n, item] of [...at("steps").children].entries()) item.firstChild.setAttribute("aria-current", String(n === current));
  at("steps").children[current]?.scrollIntoView({ block: "nearest" });
  const event = shown[current];
  const parts = [el("h2", event.kind), el("pre", event.text)];
  if (event.headers?.length > 0) parts.push(el("pre", headers(event)));
  if (event.names !== undefined) parts.push(el("pre", event.names.join("\\n")));
  if (event.nanoseconds !== undefined) parts.push(el("pre", event.nanoseconds + " ns"));
  if (event.kind === "answer" && view.answer !== undefined) parts.push(el("h2", "Body"), el("pre", view.answer.body));
  at("step").replaceChildren(...parts);
  at("position").textContent = (current + 1) + " of " + shown.length;
  at("previous").disabled = current === 0;
  at("next").disabled = current === shown.length - 1;
}
function list() {
  const event = shown[current];
  // An event without a text, such as a look for results that finds none, has its kind as the text.
  shown = view.events.filter(({ kind, text }) => at("all").checked || (main.includes(kind) && kind !== text));
  at("steps").replaceChildren(...shown.map(({ kind, text }, n) => {
    const button = el("button", kind === text ? kind : text, "step " + (main.includes(kind) && kind !== text ? "" : "soft"));
    button.type = "button";
    button.addEventListener("click", () => select(n));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  select(event === undefined ? current : Math.max(0, shown.indexOf(event)));
}
at("all").addEventListener("change", list);
at("previous").addEventListener("click", () => select(current - 1));
at("next").addEventListener("click", () => select(current + 1));
addEventListener("keydown", ({ key, altKey, ctrlKey, metaKey }) => {
  if (altKey || ctrlKey || metaKey) return;
  if (key === "ArrowLeft") select(current - 1);
  if (key === "ArrowRight") select(current + 1);
});
list();
`;

const style = `
body { border-top-color: #2563eb; }
h1 { color: inherit; }
main { max-width: 80rem; }
.bar { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: 0 0 1rem; color: var(--soft); }
button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .15rem .75rem; cursor: pointer; }
button:disabled { opacity: .5; cursor: default; }
:focus-visible { outline: 2px solid #2563eb; outline-offset: 1px; }
.steps { margin-bottom: 1rem; display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1rem; align-items: start; }
@media (max-width: 45rem) { .steps { grid-template-columns: minmax(0, 1fr); } }
ol { margin: 0; padding: 0; list-style: none; max-height: 70vh; overflow-y: auto; }
.step { display: block; width: 100%; text-align: left; border: 0; border-radius: 0; border-left: 3px solid transparent; background: none; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; font-family: ui-monospace, monospace; font-size: .875rem; }
.step[aria-current="true"] { border-left-color: #2563eb; background: var(--card); }
.soft { color: var(--soft); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
`;
