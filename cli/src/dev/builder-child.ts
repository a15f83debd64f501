/** The process in which `tenon dev` builds; see `builder.ts`. */
import { buildProject } from "../build/build.ts";
import { failureToTell, TenonError } from "../errors.ts";
import type { Project } from "../project/project.ts";
import { documentFor } from "../schema/document.ts";
import { Terminal } from "../terminal.ts";
import type { BuilderMessage, BuilderQuestion, BuildFailure, Built } from "./builder.ts";

/** Prints nothing, and reports each step to the parent. */
class Steps extends Terminal {
  constructor() {
    super("quiet");
  }

  override step<T>(verb: string, object: string, run: () => Promise<T>): Promise<T> {
    answer({ kind: "step", verb });
    return super.step(verb, object, run);
  }
}

const answer = (message: BuilderMessage) => process.send?.(message);

async function build(project: Project): Promise<Built> {
  const begun = Date.now();
  const read = (files: readonly string[], isWhole: boolean) => answer({ kind: "read", files, begun, isWhole });
  const how = { release: false, compose: false, checkResponses: true, read };
  const { component } = await buildProject(project, how, new Steps());
  return { component: component.path };
}

process.on("message", async ({ wanted, project }: BuilderQuestion) => {
  try {
    answer({ kind: "done", result: await (wanted === "component" ? build(project) : documentFor(project)) });
  } catch (error) {
    answer({ kind: "failed", failure: failureOf(error) });
  }
});
// The parent ends this process. A terminal sends signals to both.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) process.on(signal, () => {});
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));

function failureOf(error: unknown): BuildFailure {
  const told = failureToTell(error);
  if (told !== undefined) return { code: error instanceof TenonError ? error.code : "BUILD", ...told };
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack } = error;
  return stack === undefined ? { message } : { message, stack };
}
