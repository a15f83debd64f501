/** Escapes a name in `multipart/form-data`, as browsers do (HTML Standard, section 4.10.22.7). */
export function escapedName(text: string): string {
  return text.replace(/[\n\r"]/g, (found) => ESCAPES[found] as string);
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "%0A", "\r": "%0D", '"': "%22" };
