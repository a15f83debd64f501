import { dump, load } from "js-yaml";

export default () => [
  load("a: &x [1, 2.5, é]\nb: *x\nc: |\n  text\n  more\nd: 2024-02-29\n"),
  dump({ a: [1, { b: "x: y" }], c: null, d: "é" }),
];
