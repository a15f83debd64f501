import qs from "qs";

export default () => [
  qs.parse("a[b][]=1&a[b][]=2&c=%C3%A9&d.e=3", { allowDots: true }),
  qs.stringify({ a: { b: [1, 2] }, c: "é &", d: null }, { arrayFormat: "brackets" }),
];
