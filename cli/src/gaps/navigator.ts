/** `navigator.userAgent`, by which code finds out where it runs (WinterTC, Minimum Common Web API). */
Object.defineProperty(globalThis, "navigator", {
  value: Object.freeze({ userAgent: "Tenon" }),
  configurable: true,
  enumerable: true,
  writable: true,
});
