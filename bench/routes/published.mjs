// The table in README.md and the plot docs/routes.svg, made from the section "bench/routes" of bench/RESULTS.md:
//   node bench/routes/published.mjs
// `bench/routes/run.mjs --record` does this after each recording.
import { readFileSync, writeFileSync } from "node:fs";
import { plot } from "./plot.mjs";

const root = new URL("../../", import.meta.url);
const pages = { results: "bench/RESULTS.md", readme: "README.md", plot: "docs/routes.svg" };

/** The rows of the README's table: the name of a row in the section, and its name there. */
const shown = new Map([
  ["plain JSON", "plain JSON"],
  ["a log line (`console.log`)", "a log line"],
  ["one `httpClient.get` to a trivial service", "one call to a service over HTTP"],
  ["one row by key from PostgreSQL", "one row from PostgreSQL, sidecar on a Unix socket"],
  [
    "the same, sidecar in the process",
    "the same, [sidecar in the server's process](docs/sidecars.md#in-the-servers-process)",
  ],
  ["a body of 20 validated items", "a body of 20 validated items"],
  ["HMAC-SHA-256 by `crypto.subtle`", "HMAC-SHA-256 by `crypto.subtle`"],
  ["a list of 200 objects as JSON", "a list of 200 objects as JSON"],
  ["6 KB of HTML", "6 KB of HTML"],
]);

/** Reads the section: the commit, the conditions, and its rows, with numbers as they are written there. */
function sectionOf(results) {
  const section = results.split(/^(?=## )/m).find((part) => part.startsWith("## bench/routes\n")) ?? "";
  const heading = /^Commit (\S+), (.+?, \d{4}-\d\d-\d\d)\./m.exec(section);
  if (heading === null) throw new Error("bench/RESULTS.md has no section bench/routes with a commit and a date");
  const table = section.slice(section.indexOf("\n| route |")).trim().split("\n\n")[0];
  const rows = table
    .split("\n")
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, name, request, shared, peer, ofRequest, ofShared]) => ({
      name,
      rates: [request, shared, peer],
      ratios: { request: ofRequest, shared: ofShared },
    }));
  return { commit: heading[1], conditions: heading[2], rows };
}

/** Returns README.md and the plot for the results. */
export function published(results, readme) {
  const { commit, conditions, rows } = sectionOf(results);
  const lines = [...shown].map(([name, title]) => {
    const row = rows.find((each) => each.name === name);
    if (row === undefined) throw new Error(`bench/RESULTS.md has no row "${name}" of bench/routes; record all rows`);
    return `| ${[title, ...row.rates].join(" | ")} |`;
  });
  const table = ["| route | `request` | `shared` | Node + Hono |", "|---|---:|---:|---:|", ...lines].join("\n");
  const begin = "<!-- routes: written by bench/routes/run.mjs --record -->\n";
  const from = readme.indexOf(begin) + begin.length;
  const to = readme.indexOf("\n<!-- end -->", from);
  if (from < begin.length || to < 0) throw new Error("README.md has no place for the table of routes");
  // The last row repeats the first one.
  const bars = rows.slice(0, -1).filter(({ ratios }) => ratios.request !== "");
  return {
    readme: `${readme.slice(0, from)}\n${table}\n${readme.slice(to)}`,
    plot: plot(
      bars.map(({ name, ratios }) => ({ name, request: Number(ratios.request), shared: Number(ratios.shared) })),
      `bench/routes at ${commit}, ${conditions}`,
    ),
  };
}

const fileOf = (page) => new URL(pages[page], root);

/** Writes both files. */
export function publish() {
  const made = published(readFileSync(fileOf("results"), "utf8"), readFileSync(fileOf("readme"), "utf8"));
  for (const [page, text] of Object.entries(made)) writeFileSync(fileOf(page), text);
}

if (process.argv[1] === new URL(import.meta.url).pathname) publish();
