// Builds the documentation as a site in docs/.vitepress/dist: `npm run docs`. `npm run docs -- dev` serves it and
// updates changed pages, `npm run docs -- preview` serves the built one. VitePress is installed in docs/ on demand,
// because only this needs it.
import { argv, execPath } from "node:process";
import { isStale, run, say } from "./setup.mjs";

const [command = "build", ...options] = argv.slice(2);

if (isStale("docs/node_modules/.package-lock.json", ["docs/package.json", "docs/package-lock.json"])) {
  say("Installing VitePress");
  run("npm", ["ci", "--prefix", "docs", "--no-audit", "--no-fund", "--loglevel=error"]);
}
run(execPath, ["docs/node_modules/vitepress/bin/vitepress.js", command, "docs", ...options]);
if (command === "build") say("The site is in docs/.vitepress/dist. To look at it: npm run docs -- preview");
