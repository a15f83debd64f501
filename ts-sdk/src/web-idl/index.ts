/** `@tenon/sdk/web-idl`: parts of Web IDL for classes of the platform, here and in `guest/src/platform`. */
export { pairIterators } from "./pair-iterators.ts";
export { platformPrototypes, shapeClass } from "./shape-class.ts";
