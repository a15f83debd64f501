/** `URL.canParse` and `URL.parse` (URL Standard, section 6.1), which the engine lacks. */
const statics = {
  canParse(url: string, ...base: string[]): boolean {
    return parse(url, base) !== null;
  },
  parse(url: string, ...base: string[]): URL | null {
    return parse(url, base);
  },
};

function parse(url: string, [base]: readonly (string | undefined)[]): URL | null {
  try {
    return base === undefined ? new URL(url) : new URL(url, base);
  } catch {
    return null;
  }
}

for (const [name, value] of Object.entries(statics)) {
  Object.defineProperty(URL, name, { value, writable: true, enumerable: true, configurable: true });
}
