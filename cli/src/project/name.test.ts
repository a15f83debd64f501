import { expect, test } from "vitest";
import type { TenonError } from "../errors.ts";
import { checkProjectName, witName } from "./name.ts";

test.each(["demo", "my-service", "a", "app2", "my_app", "2fast", "a.b", "console", "com", "com10", "nul-1"])(
  "%s may name a project",
  (name) => {
    expect(() => checkProjectName(name)).not.toThrow();
  },
);

test.each([
  ["", "it is empty"],
  ["Demo", "lower case"],
  ["-demo", "it must begin with a letter (a to z) or a digit"],
  [".demo", "it must begin with a letter (a to z) or a digit"],
  ["a/b", "only letters (a to z), digits"],
  ["../up", "it must begin with"],
  ["@scope/name", "it has a scope"],
  ["de mo", "only letters (a to z), digits"],
  ["日本", "it must begin with a letter (a to z)"],
  ["dé", "only letters (a to z), digits"],
  ["node_modules", "npm reserves it"],
  ["x-composed", "files that tenon builds"],
  ["x".repeat(215), "longer than 214"],
  ["con", "Windows reserves it"],
  ["nul", "Windows reserves it"],
  ["com1", "Windows reserves it"],
  ["aux.api", "Windows reserves it"],
  ["shop.", "ends with a dot"],
])("%j may not", (name, reason) => {
  expect(() => checkProjectName(name)).toThrow(
    expect.objectContaining({ code: "NAME", message: expect.stringContaining(reason) }),
  );
});

test("a similar name is proposed: in lower case, and without a scope", () => {
  const hintOf = (name: string) => {
    try {
      checkProjectName(name);
    } catch (error) {
      return (error as TenonError).hint;
    }
    return undefined;
  };
  expect(hintOf("@scope/shop")).toBe("for example: tenon new shop");
  expect(hintOf("Shop")).toBe("for example: tenon new shop");
  expect(hintOf("My Shop")).toBe("for example: tenon new my-service");
  expect(hintOf("@scope/.shop")).toBe("for example: tenon new my-service");
});

test("a name becomes an identifier of WIT", () => {
  expect(witName("demo")).toBe("demo");
  expect(witName("my_app.v2")).toBe("my-app-v2");
  expect(witName("2fast-4you")).toBe("n2fast-n4you");
});
