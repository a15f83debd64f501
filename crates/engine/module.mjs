// Reads core modules (Core 5).

/** Encodes an unsigned number (Core 5.2.2). */
export const leb = (value) => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)]);

/** Reads numbers, texts and bytes one after the other. */
export function read(bytes, start = 0) {
  let at = start;
  const u32 = () => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  };
  const take = (length) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  return { u32, take, text: () => take(u32()).toString(), at: () => at, isDone: () => at >= bytes.length };
}

/** Encodes a section. */
export const section = (id, content) => Buffer.concat([Buffer.from([id, ...leb(content.length)]), content]);

/** Lists the sections. */
export function sections(binary) {
  const reader = read(binary, 8);
  const found = [];
  while (!reader.isDone()) found.push({ id: reader.take(1)[0], content: reader.take(reader.u32()) });
  return found;
}

/** Lists the function types. */
export function types(binary) {
  const reader = read(sections(binary).find(({ id }) => id === 1).content);
  return Array.from({ length: reader.u32() }, () => {
    if (reader.take(1)[0] !== 0x60) throw new Error("the engine has a type that is not a function's");
    return { params: [...reader.take(reader.u32())], results: [...reader.take(reader.u32())] };
  });
}

/** Lists the imported functions, with their names in the program. */
export function imports(binary) {
  const reader = read(sections(binary).find(({ id }) => id === 2).content);
  const names = functionNames(binary);
  return Array.from({ length: reader.u32() }, (_, index) => {
    const [module, name] = [reader.text(), reader.text()];
    if (reader.take(1)[0] !== 0) throw new Error(`${module} ${name} is not a function`);
    return { module, name, type: reader.u32(), symbol: names.get(index) ?? "" };
  });
}

/** The names of functions in the name section (Core, appendix A.4). */
function functionNames(binary) {
  const names = new Map();
  for (const { id, content } of sections(binary)) {
    const reader = read(content);
    if (id !== 0 || reader.text() !== "name") continue;
    while (!reader.isDone()) {
      const kind = reader.take(1)[0];
      const map = read(reader.take(reader.u32()));
      if (kind !== 1) continue;
      for (let count = map.u32(); count > 0; count--) names.set(map.u32(), map.text());
    }
  }
  return names;
}
