import { enableMapSet, enablePatches, produce, produceWithPatches } from "immer";

enablePatches();
enableMapSet();

export default () => {
  const before = { list: [1, 2], map: new Map([["a", { n: 1 }]]) };
  const after = produce(before, (draft) => {
    draft.list.push(3);
    draft.map.get("a").n = 2;
  });
  return [
    after.list,
    [...after.map],
    before.list,
    Object.isFrozen(after),
    produceWithPatches({ a: 1 }, (draft) => Object.assign(draft, { b: 2 }) && undefined)[1],
  ];
};
