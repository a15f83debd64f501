import _ from "lodash";

export default () => [
  _.chunk([1, 2, 3], 2),
  _.merge({ a: { b: 1 } }, { a: { c: 2 } }),
  _.kebabCase("fooBar Éa"),
  _.deburr("déjà vu"),
  _.template("<%= a %>")({ a: 1 }),
  _.words("fred, barney, & pebbles"),
  _.cloneDeep(new Map([[1, { a: 2 }]])).get(1),
  _.groupBy([1.2, 1.4, 2], Math.floor),
];
