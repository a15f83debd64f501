import { expect, test } from "vitest";
import { formatReference, hostOf, isLoopback, parseReference } from "./reference.ts";

const hex = "a".repeat(64);

test.each([
  ["oci://registry.example/team/shop:1.0", { registry: "registry.example", repository: "team/shop", tag: "1.0" }],
  ["registry.example:5000/shop:1", { registry: "registry.example:5000", repository: "shop", tag: "1" }],
  ["OCI://localhost/a__b/c-d.e:_x", { registry: "localhost", repository: "a__b/c-d.e", tag: "_x" }],
  [`oci://[::1]:5000/shop@sha256:${hex}`, { registry: "[::1]:5000", repository: "shop", digest: `sha256:${hex}` }],
  [`oci://a.b/shop:1@sha256:${hex}`, { registry: "a.b", repository: "shop", tag: "1", digest: `sha256:${hex}` }],
  ["oci://docker.io/shop:1", { registry: "docker.io", repository: "library/shop", tag: "1" }],
])("%s is read", (text, reference) => {
  expect(parseReference(text)).toEqual(reference);
  expect(parseReference(formatReference(parseReference(text)))).toMatchObject({ repository: reference.repository });
});

test.each([
  "",
  "oci://",
  "oci://registry.example",
  "oci://registry.example/",
  "oci://registry.example/shop",
  "oci://shop:1",
  "oci://team/shop:1",
  "oci://registry.example:99999/shop:1",
  "oci://registry.example/Shop:1",
  "oci://registry.example/../shop:1",
  "oci://registry.example/a//b:1",
  "oci://registry.example/shop:",
  "oci://registry.example/shop:a/b",
  "oci://registry.example/shop:1?x=y",
  "oci://registry.example/shop:1\n",
  "oci://registry.example/shop@sha256:abc",
  `oci://registry.example/shop@sha512:${"a".repeat(128)}`,
  `oci://registry.example/shop@sha256:${hex}@sha256:${hex}`,
  `oci://registry.example/${"a".repeat(600)}:1`,
  `oci://registry.example/${"a-".repeat(120)}!:1`,
  "oci://-registry.example/shop:1",
])("%j is refused", (text) => {
  expect(() => parseReference(text)).toThrow(expect.objectContaining({ code: "USAGE" }));
});

test("credentials in a reference are refused and not repeated", () => {
  expect(() => parseReference("oci://me:hidden@registry.example/shop:1")).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining("hidden") }),
  );
});

test("loopback addresses are told from others", () => {
  for (const host of ["localhost", "LOCALHOST:5000", "127.0.0.1:1", "127.9.9.9", "[::1]:5000", "a.localhost"])
    expect(isLoopback(host), host).toBe(true);
  for (const host of ["127.0.0.1.example:80", "localhost.example", "10.0.0.1", "[::2]"])
    expect(isLoopback(host), host).toBe(false);
  expect(hostOf(parseReference("docker.io/a/b:1"))).toBe("registry-1.docker.io");
});
