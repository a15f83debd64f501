/** The process of `apart.ts`. */

import { failureToTell, TenonError } from "../errors.ts";
import { findProject } from "../project/project.ts";
import type { DocumentAnswer, DocumentQuestion } from "./apart.ts";
import { handledDocument, setVariables } from "./document.ts";

// Its own pipe would be read later than the answer.
let printed = "";
process.stderr.write = (text: Uint8Array | string) => {
  printed += String(text);
  return true;
};

process.on("message", async ({ folder, version }: DocumentQuestion) => {
  let answer: DocumentAnswer;
  const project = await findProject(folder).catch(() => undefined);
  const end = setVariables(project?.config.env ?? {});
  try {
    answer = { text: await handledDocument(folder, version) };
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
