import { parse, parseDocument, stringify } from "yaml";

export default () => {
  const document = parseDocument("# kept\na: 1 # here\nb: [2, é]\n");
  document.set("a", 3);
  return [
    parse("a: &x [1, 2.5, é]\nb: *x\nc: >\n  text\n  more\n"),
    String(document),
    stringify({ a: [1, { b: "x: y" }], c: null }),
  ];
};
