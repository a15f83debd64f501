/** The option `min` of a reader that fills buffers (Streams Standard, section 4.5.3), which the engine ignores. */
const { prototype } = ReadableStreamBYOBReader;
const read = prototype.read as (this: unknown, view: ArrayBufferView) => Promise<Result>;

type Result = { readonly done: boolean; readonly value: ArrayBufferView | undefined };
type View = ArrayBufferView & { readonly length?: number; readonly BYTES_PER_ELEMENT?: number };

/** The reads of a reader that take several of the engine's; those after them wait. */
const pending = new WeakMap<object, Promise<unknown>>();

/** A view of the same kind. @param length in elements; in bytes for a `DataView` */
function viewOf(kind: View, buffer: ArrayBufferLike, offset: number, length: number): View {
  const Class = kind.constructor as new (buffer: ArrayBufferLike, offset: number, length: number) => View;
  return new Class(buffer, offset, length);
}

async function readAtLeast(reader: unknown, view: View, min: number): Promise<Result> {
  const size = view.BYTES_PER_ELEMENT ?? 1;
  const { byteOffset: start, byteLength: room } = view;
  let filled = 0;
  let buffer = view.buffer as ArrayBufferLike;
  for (;;) {
    const rest = filled === 0 ? view : viewOf(view, buffer, start + filled, (room - filled) / size);
    const { done, value } = await read.call(reader, rest);
    if (value === undefined) return { done, value };
    buffer = value.buffer;
    filled += value.byteLength;
    if (done || filled >= min * size) return { done, value: viewOf(view, buffer, start, filled / size) };
  }
}

Object.defineProperty(prototype, "read", {
  value: {
    read(this: unknown, view: View, ...[options]: [{ readonly min?: number }?]) {
      const { min = 1 } = options ?? {};
      const before = pending.get(Object(this));
      if (min === 1 || !ArrayBuffer.isView(view)) {
        const one = () => read.call(this, view);
        return before === undefined ? one() : before.then(one, one);
      }
      const length = view.length ?? view.byteLength;
      const error = !Number.isInteger(Number(min)) || min < 1 ? TypeError : min > length ? RangeError : undefined;
      if (error) return Promise.reject(new error(`read: "min" must be from 1 to the length of the view, ${length}`));
      const all = () => readAtLeast(this, view, Number(min));
      const result = before === undefined ? all() : before.then(all, all);
      pending.set(Object(this), result);
      const over = () => {
        if (pending.get(Object(this)) === result) pending.delete(Object(this));
      };
      result.then(over, over);
      return result;
    },
  }.read,
  writable: true,
  enumerable: true,
  configurable: true,
});
