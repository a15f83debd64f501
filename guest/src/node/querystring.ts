/** `node:querystring` inside a component. */
import { decode, encode, escape, parse, stringify, unescape, unescapeBuffer } from "unenv/node/querystring";

export { decode, encode, escape, parse, stringify, unescape, unescapeBuffer };
export default { decode, encode, escape, parse, stringify, unescape, unescapeBuffer };
