/** The process of `apart.ts`. */

import { failureToTell, TenonError } from "../errors.ts";
import { findProject } from "../project/project.ts";
import type { DocumentAnswer, DocumentQuestion } from "./apart.ts";
import { handledDocument, setVariables } from "./document.ts";
import { toolsFor } from "./tools.ts";

// Its own pipe would be read later than the answer.
let printed = "";
process.stderr.write = (text: Uint8Array | string) => {
  printed += String(text);
  return true;
};

process.on("message", async (question: DocumentQuestion) => {
  let answer: DocumentAnswer;
  const project = await findProject(question.folder).catch(() => undefined);
  const end = setVariables(project?.config.env ?? {});
  try {
    if (!("isForTools" in question)) answer = { text: await handledDocument(question.folder, question.version) };
    else if (project === undefined) throw new Error("the project is gone");
    else answer = { text: JSON.stringify((await toolsFor(project)) ?? null) };
  } catch (error) {
    const told = failureToTell(error);
    if (told === undefined) answer = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    else {
      const { message, hint } = told;
      const code = error instanceof TenonError ? error.code : "SCHEMA";
      answer = { error: message, code, ...(hint === undefined ? {} : { hint }) };
    }
  }
  end();
  process.send?.({ ...answer, printed } satisfies DocumentAnswer);
  printed = "";
});
process.once("disconnect", () => process.exit());
