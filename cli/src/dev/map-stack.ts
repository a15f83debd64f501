/** The fields of a source map (https://tc39.es/ecma426/) that are used. */
export interface RawSourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
  readonly mappings: string;
}

/**
 * Maps the positions in a stack of the component's engine to the sources. Puts the lines around the first position
 * in the user's own code above the stack. Its text is embedded in a page, so it is one function without outside references.
 *
 * @param stack lines such as `read@shop.js:1203:9` or `    at read (shop.js:1203:9)`; other lines stay as they are
 */
export function mapStack(stack: string, map: RawSourceMap): string {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  // For each line of the bundle: column, source, and position in the source.
  const lines: [number, number, number, number][][] = [];
  let [source, line, column] = [0, 0, 0];
  for (const text of map.mappings.split(";")) {
    const segments: [number, number, number, number][] = [];
    let generated = 0;
    for (const segment of text.split(",")) {
      const numbers: number[] = [];
      let [value, shift] = [0, 0];
      for (const char of segment) {
        const digit = digits.indexOf(char);
        value += (digit & 31) << shift;
        shift += 5;
        if (digit & 32) continue;
        numbers.push(value & 1 ? -(value >> 1) : value >> 1);
        [value, shift] = [0, 0];
      }
      generated += numbers[0] ?? 0;
      if (numbers.length < 4) continue;
      source += numbers[1] as number;
      line += numbers[2] as number;
      column += numbers[3] as number;
      segments.push([generated, source, line, column]);
    }
    lines.push(segments);
  }
  // The entry is in the project's folder, to which paths are shown relative.
  const project = map.sources
    .map((each) => /^((?:\.\.\/)+)tenon-entry$/.exec(each)?.[1])
    .find((up) => up !== undefined);
  let frame: string | undefined;
  const mapped = stack.split("\n").map((each) => {
    const [, name = "", row, col] =
      /^ {4}at (?:<anonymous>|&lt;anonymous&gt;|(.*)) \(\S*?:(\d+):(\d+)\)$/.exec(each) ??
      /^(.*?)@\S*?:(\d+):(\d+)$/.exec(each) ??
      [];
    if (row === undefined || each.includes("__bindings")) return each;
    const found = lines[Number(row) - 1]?.filter(([at]) => at < Number(col)).at(-1);
    if (found === undefined) return each;
    const [, index, at, within] = found;
    const from = map.sources[index] ?? "";
    const file = project && from.startsWith(project) ? from.slice(project.length) : from.replace(/^(?:\.\.?\/)+/, "");
    const content = map.sourcesContent?.[index]?.split("\n");
    const isOwn = !/(?:^|\/)(?:node_modules|ts-sdk)\/|^tenon-entry(?::prologue)?$/.test(file);
    if (frame === undefined && isOwn && content !== undefined) {
      const shown = content.slice(Math.max(0, at - 2), at + 3);
      const first = Math.max(0, at - 2) + 1;
      const numbered = shown.map(
        (code, i) => `${first + i === at + 1 ? ">" : " "} ${String(first + i).padStart(4)} | ${code}`,
      );
      frame = `${file}:${at + 1}:${within + 1}\n${numbered.join("\n")}`;
    }
    return `    at ${name === "" ? "" : `${name} `}(${file}:${at + 1}:${within + 1})`;
  });
  if (frame === undefined) return mapped.join("\n");
  // Between the message and the stack, so that nobody has to scroll to it.
  const begins = mapped.findIndex((each, at) => each !== stack.split("\n")[at] || /^ {4}at /.test(each));
  return [...mapped.slice(0, begins), "", frame, "", ...mapped.slice(begins)].join("\n");
}
