import { LRUCache } from "lru-cache";

export default async () => {
  const cache = new LRUCache({ max: 2, ttl: 1000, fetchMethod: async (key) => `${key}!` });
  cache.set("a", 1);
  cache.set("b", 2);
  cache.get("a");
  cache.set("c", 3);
  return [[...cache.keys()], cache.has("b"), await cache.fetch("d")];
};
