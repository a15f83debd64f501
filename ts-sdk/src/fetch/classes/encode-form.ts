/** Encodes `FormData` as `multipart/form-data` (HTML Standard, section 4.10.22.7). */
import { escapedName } from "../../encoding/form-name.ts";
import { encodeUtf8, platform } from "../../platform.ts";
import type { BlobLike, BodyPart } from "./body.ts";

/** The members of a `FormData` that are used. */
export type FormEntries = Iterable<readonly [name: string, value: string | (BlobLike & { readonly name: string })]>;

/** Encodes the entries that a form has now. The boundary is random, so that no value can have it. */
export function encodeForm(form: FormEntries): { readonly parts: readonly BodyPart[]; readonly type: string } {
  const boundary = `form-${platform.crypto.randomUUID()}`;
  const parts: BodyPart[] = [];
  // Texts in a row become one part.
  let text = "";
  for (const [name, value] of form) {
    text += `--${boundary}\r\nContent-Disposition: form-data; name="${escapedName(withLineBreaks(name))}"`;
    if (typeof value === "string") {
      text += `\r\n\r\n${withLineBreaks(value)}\r\n`;
      continue;
    }
    const type = value.type || "application/octet-stream";
    text += `; filename="${escapedName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
    parts.push(encodeUtf8(text), value);
    text = "\r\n";
  }
  parts.push(encodeUtf8(`${text}--${boundary}--\r\n`));
  return { parts, type: `multipart/form-data; boundary=${boundary}` };
}

function withLineBreaks(text: string): string {
  return text.replace(/\r\n?|\n/g, "\r\n");
}
