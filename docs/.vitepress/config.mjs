/** The documentation as a site. The pages are the files of docs/ as GitHub shows them; nothing is written for the site alone. */
import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const docs = fileURLToPath(new URL("..", import.meta.url));
const root = dirname(docs.replace(/\/$/, ""));
const repository = "https://github.com/tenon-wasm/tenon";

/** A heading's anchor, as GitHub writes it. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\p{Mark} _-]/gu, "")
    .replaceAll(" ", "-");

/** Links to files outside of docs/ lead to the repository. One that leads nowhere ends the build. */
function linkRepository(markdown) {
  const render =
    markdown.renderer.rules.link_open ?? ((tokens, at, options, _env, self) => self.renderToken(tokens, at, options));
  markdown.renderer.rules.link_open = (tokens, at, options, env, self) => {
    const href = tokens[at].attrGet("href") ?? "";
    const [path, anchor] = href.split("#");
    if (path.startsWith("../")) {
      const file = resolve(docs, env.relativePath ? dirname(env.relativePath) : ".", path);
      if (!existsSync(file)) throw new Error(`${env.relativePath}: ${href} leads nowhere`);
      tokens[at].attrSet("href", `${repository}/blob/main/${relative(root, file)}${anchor ? `#${anchor}` : ""}`);
      tokens[at].attrSet("target", "_blank");
      tokens[at].attrSet("rel", "noreferrer");
      return self.renderToken(tokens, at, options);
    }
    return render(tokens, at, options, env, self);
  };
}

const page = (text, name) => ({ text, link: `/${name}` });

export default {
  title: "Tenon",
  description: "HTTP handlers in TypeScript, served as WebAssembly components",
  lang: "en",
  cleanUrls: true,
  lastUpdated: false,
  ignoreDeadLinks: false,
  srcExclude: ["node_modules/**"],
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    // Tested examples name their file after the language: ```ts src/auth.ts
    config: linkRepository,
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: repository }],
    sidebar: [
      {
        text: "Start",
        items: [
          page("Overview", ""),
          page("Tutorial", "tutorial"),
          page("Concepts", "concepts"),
          page("Glossary", "glossary"),
        ],
      },
      {
        text: "Guides",
        items: [
          page("Coming from Hono, Workers or Spin", "coming-from"),
          page("Testing", "testing"),
          page("Going to production", "production"),
          page("Scale", "scale"),
          page("Recording and replay", "replay"),
          page("The sandbox", "sandbox"),
          page("Embedding", "embedding"),
          page("Publishing components", "publishing"),
          page("Platforms", "platforms"),
          page("Compared with Hono and Zod", "compared"),
        ],
      },
      {
        text: "Reference",
        items: [
          {
            ...page("SDK", "sdk"),
            collapsed: true,
            items: [
              page("Routes", "sdk/routes"),
              page("Groups", "sdk/groups"),
              page("Middleware", "sdk/middleware"),
              page("Passwords", "sdk/passwords"),
              page("Schemas", "sdk/schemas"),
              page("Types of other Types", "sdk/derived-types"),
              page("Forms", "sdk/forms"),
              page("Other schema libraries", "sdk/schema-libraries"),
              page("Responses", "sdk/responses"),
              page("Streams", "sdk/streams"),
              page("Cookies", "sdk/cookies"),
              page("The raw request", "sdk/requests"),
              page("Errors", "sdk/errors"),
              page("Helpers", "sdk/helpers"),
              page("A typed client", "sdk/client"),
            ],
          },
          page("Globals of the engine", "globals"),
          page("SQL", "sql"),
          page("Kysely and Drizzle", "orm"),
          page("Command line", "cli"),
          page("Building", "build"),
          page("tenon.toml", "configuration"),
          page("Runtime", "runtime"),
          page("Sidecars", "sidecars"),
          page("OpenAPI", "openapi"),
          page("Tools for models", "mcp"),
          page("Packages from npm", "packages"),
          page("WebAssembly modules", "wasm"),
          page("Apps that speak fetch", "fetch"),
        ],
      },
      {
        text: "Internals",
        items: [page("Design", "design"), page("Builds and the engine", "engine"), page("Conformance", "conformance")],
      },
    ],
  },
};
