/** `node:punycode` inside a component. */
import punycode, { decode, encode, toASCII, toUnicode, ucs2, version } from "unenv/node/punycode";

export { decode, encode, toASCII, toUnicode, ucs2, version };
export default punycode;
