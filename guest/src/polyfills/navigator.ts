/** `navigator.userAgent`, which identifies the runtime to code (WinterTC, Minimum Common Web API). */
Object.defineProperty(globalThis, "navigator", {
  value: Object.freeze({ userAgent: "Tenon" }),
  configurable: true,
  enumerable: true,
  writable: true,
});
