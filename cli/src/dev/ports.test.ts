import { expect, test } from "vitest";
import { TenonError } from "../errors.ts";
import { listenNear } from "./ports.ts";

const taken = (ports: readonly number[]) => async (port: number) => {
  if (ports.includes(port)) throw new TenonError("ADDRESS_IN_USE", `${port} is taken`);
  return port;
};

test("the port itself, or the next that is free", async () => {
  expect(await listenNear(3000, taken([]))).toBe(3000);
  expect(await listenNear(3000, taken([3000, 3001]))).toBe(3002);
});

test("it gives up after a while, and at the end of all ports", async () => {
  const all = Array.from({ length: 100 }, (_, index) => 65_436 + index);
  await expect(listenNear(65_436, taken(all))).rejects.toThrow("65456 is taken");
  await expect(listenNear(65_530, taken(all))).rejects.toThrow("65535 is taken");
});

test("other failures are not about ports", async () => {
  const fail = async () => {
    throw new TenonError("LISTEN", "no such address");
  };
  await expect(listenNear(1, fail)).rejects.toThrow("no such address");
});
