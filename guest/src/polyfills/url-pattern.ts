/** `URLPattern` (URL Pattern Standard). */
import { URLPattern } from "urlpattern-polyfill/urlpattern";

Object.defineProperty(globalThis, "URLPattern", { value: URLPattern, configurable: true, writable: true });
