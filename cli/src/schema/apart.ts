/**
 * Makes documents and tools in a process of its own. A top level can fill the memory, leave a promise that is rejected later, or
 * change Node's globals, and each of these would end the build.
 */
import { type ChildProcess, fork } from "node:child_process";
import { relative } from "node:path";
import { type OpenApiVersion, sourceOf, type ToolTable } from "@tenon/sdk/openapi";
import { type ErrorCode, TenonError } from "../errors.ts";
import type { Project } from "../project/project.ts";

/** MiB of JavaScript's heap for a top level: more than a component may have. */
const HEAP_MIB = 512;

/** A question to the process: for the document of a package, or for the tools of a project. */
export type DocumentQuestion =
  | { readonly folder: string; readonly version: OpenApiVersion | undefined }
  | { readonly folder: string; readonly isForTools: true };

/** Its answer: the document or the tools as JSON, or an error, and what the top level printed. */
export type DocumentAnswer = { readonly printed?: string } & (
  | { readonly text: string }
  | { readonly error: string; readonly code?: ErrorCode; readonly hint?: string }
);

/** The process, for the documents of several packages. Output of top levels goes to standard error. */
export class DocumentProcess {
  readonly #child: ChildProcess;
  #dump = "";
  readonly #stop = () => this.#child.kill("SIGKILL");

  constructor() {
    const execArgv = [...process.execArgv, `--max-old-space-size=${HEAP_MIB}`];
    const stdio = ["ignore", "ignore", "pipe", "ipc"] as const;
    this.#child = fork(new URL("./document-child.js", import.meta.url), { execArgv, stdio: [...stdio] });
    this.#child.stderr?.on("data", (data) => {
      this.#dump += data;
    });
    process.once("exit", this.#stop);
  }

  /**
   * Returns the document of a package. One is made at a time.
   *
   * @throws TenonError as `handledDocument` does, and `SCHEMA` when the process dies
   */
  async document(folder: string, version: OpenApiVersion): Promise<string> {
    const answer = await this.#ask({ folder, version }, sourceOf(folder));
    process.stderr.write(answer.printed ?? "");
    return textIn(answer);
  }

  /**
   * Returns the tools of a project's app; undefined without the option `mcp`. The build prints what the top level prints when
   * it runs in the component.
   *
   * @throws TenonError as `toolsFor` does, and `SCHEMA` when the process dies
   */
  async tools({ folder, source }: Project): Promise<ToolTable | undefined> {
    return JSON.parse(textIn(await this.#ask({ folder, isForTools: true }, source))) ?? undefined;
  }

  close(): void {
    process.off("exit", this.#stop);
    this.#stop();
  }

  #ask(question: DocumentQuestion, file: string): Promise<DocumentAnswer> {
    return new Promise((resolve, reject) => {
      const child = this.#child;
      const settle = (end: () => void) => {
        child.off("message", receive).off("close", dead).off("error", reject);
        end();
      };
      const receive = (answer: DocumentAnswer) => settle(() => resolve(answer));
      const dead = (code: number | null, signal: string | null) => {
        const isFull = /heap out of memory|FATAL ERROR: .*(?:memory|allocation)/i.test(this.#dump);
        const source = relative(process.cwd(), file);
        const error = isFull
          ? `${source}: the module's top level needs more than ${HEAP_MIB} MiB of memory`
          : `${source}: the module's top level ended the process (${signal ?? code})`;
        settle(() => resolve({ code: "SCHEMA", error }));
      };
      child.on("message", receive).on("close", dead).on("error", reject);
      child.send(question);
    });
  }
}

function textIn(answer: DocumentAnswer): string {
  if ("text" in answer) return answer.text;
  if (answer.code !== undefined) throw new TenonError(answer.code, answer.error, answer.hint);
  throw new Error(answer.error);
}
