import { createId, isCuid } from "@paralleldrive/cuid2";

export default () => {
  const ids = Array.from({ length: 10 }, () => createId());
  return [new Set(ids).size, ids.every((id) => isCuid(id)), ids[0].length];
};
