/** Removes documentation from a module's text. */
import { parseSync } from "oxc-parser";
import { docsProperties } from "./docs-properties.ts";
import { apply, type Edit } from "./edits.ts";
import type { SdkNames } from "./sdk-names.ts";

/**
 * A module's text with its documentation blanked; unchanged when it does not parse, because esbuild reports that
 * better.
 */
export async function withoutDocs(file: string, text: string, names: SdkNames): Promise<string> {
  if (!text.includes("/**") && !text.includes("docs")) return text;
  const parsed = parseSync(file, text);
  if (parsed.errors.length > 0) return text;
  const edits: Edit[] = parsed.comments
    .filter(({ type, value }) => type === "Block" && value.startsWith("*"))
    .map(({ start, end }) => ({ start, end, put: "" }));
  // A spread of nothing stands where any property may, whatever commas are around it.
  const properties = text.includes("docs") ? await docsProperties(file, parsed, names) : [];
  for (const { start, end } of properties) edits.push({ start, end, put: "...0" });
  return apply(text, edits);
}
