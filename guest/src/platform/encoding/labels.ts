/** The labels of UTF-8 (Encoding Standard, section 4.2). The build asks for them, too: it chooses between `utf8.ts` and `all.ts`. */
const labels: readonly string[] = [
  "unicode-1-1-utf-8",
  "unicode11utf8",
  "unicode20utf8",
  "utf-8",
  "utf8",
  "x-unicode20utf8",
];

export function isUtf8(label: string): boolean {
  if (label === "utf-8") return true;
  // ASCII whitespace alone is trimmed.
  return labels.includes(label.replaceAll(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "").toLowerCase());
}
