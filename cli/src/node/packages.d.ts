/** Packages without types of their own, or whose types are those of Node. */
declare module "buffer/index.js";
declare module "events/events.js";
declare module "path-browserify";
declare module "readable-stream/lib/stream.js";
declare module "string_decoder/lib/string_decoder.js";
