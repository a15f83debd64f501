// What building for Linux needs beyond the common tools: nothing.

/** Returns how cargo builds for a target: `{ cargo, environment, rustflags }`. */
export function prepare(target) {
  // A library that Node loads shares the C library with it. rustc links musl statically unless told otherwise.
  return { environment: {}, rustflags: target.libc === "musl" ? ["-Ctarget-feature=-crt-static"] : [] };
}
