/** Packages without their own types, or with Node's types. */
declare module "buffer/index.js";
declare module "events/events.js";
declare module "path-browserify";
declare module "readable-stream/lib/stream.js";
declare module "string_decoder/lib/string_decoder.js";
