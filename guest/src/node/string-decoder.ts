/** `node:string_decoder` inside a component. */
import decoder from "string_decoder/lib/string_decoder.js";

export const { StringDecoder } = decoder;
export default { StringDecoder };
