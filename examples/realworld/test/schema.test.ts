import { writeSchema } from "@tenon/sdk/openapi";
import { expect, test } from "vitest";

// Writes openapi.json beside package.json. By itself: npx vitest run -t __sdk_write_schema
test("__sdk_write_schema", ({ task }) => {
  const { bytes } = writeSchema(task.file.filepath);
  expect(bytes).toBeGreaterThan(0);
});
