/** The recipes of `docs/embedding.md` in a folder where they run. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { helloProject, root } from "./servers.ts";

/** The answer of `dist/hello.wasm` to `GET /hello/Ada`. */
export const greeting = '{"greeting":"Hello, Ada!"}';

/** A program that prints {@link greeting}. */
export const program = `
import { Runtime } from "tenon";
const runtime = await Runtime.create({ modules: ["dist/hello.wasm"] });
console.log(await (await runtime.fetch("http://localhost/run/hello/hello/Ada")).text());
await runtime.close();
`;

/** A project with `dist/hello.wasm`, in which recipes can be written. */
export class RecipeFolder {
  /** The text of the page. */
  readonly page: string;
  readonly folder: string;

  private constructor(folder: string, page: string) {
    this.folder = folder;
    this.page = page;
  }

  /** Makes the folder inside the clone, where Node finds the packages. */
  static async create(name: string): Promise<RecipeFolder> {
    await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
    const folder = await mkdtemp(join(root, `cli/e2e/.tenon/${name}-`));
    await writeFile(join(folder, "package.json"), '{ "name": "app", "version": "9.9.9", "type": "module" }');
    await mkdir(join(folder, "dist"));
    await cp(join(helloProject, "dist/hello.wasm"), join(folder, "dist/hello.wasm"));
    return new RecipeFolder(folder, await readFile(join(root, "docs/embedding.md"), "utf8"));
  }

  /** Returns the recipe whose first line is a comment with this file name. */
  recipe(file: string): string {
    for (const [, text = "", name] of this.page.matchAll(/```js\n(\/\/ (\S+\.js).*\n[\s\S]*?)```/g)) {
      if (name === file) return text;
    }
    throw new Error(`docs/embedding.md has no ${file}`);
  }

  /** Writes a text into a file of the folder. */
  async write(file: string, text: string): Promise<void> {
    await mkdir(join(this.folder, file, ".."), { recursive: true });
    await writeFile(join(this.folder, file), text);
  }

  /** Writes the recipe of a server that listens on this port. */
  async writeServer(file: string, port: number): Promise<void> {
    expect(this.recipe(file)).toContain("3000");
    await this.write(file, this.recipe(file).replace("3000", String(port)));
  }

  async delete(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

/** Checks answers of `hello` at a base address. */
export async function expectAnswers(base: string): Promise<void> {
  const answer = await fetch(`${base}/run/hello/hello/Ada`);
  expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
    200,
    "application/json",
    greeting,
  ]);
  const body = JSON.stringify({ name: "Ada" });
  const headers = { "content-type": "application/json" };
  expect(await fetch(`${base}/run/hello/users`, { method: "POST", headers, body })).toMatchObject({ status: 201 });
}
