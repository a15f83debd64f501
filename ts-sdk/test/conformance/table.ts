/**
 * The table of requests and expected answers. It runs in plain Node and inside a built component, where the answers
 * must be the same to the byte.
 */
import { foreignRows } from "./foreign-rows.ts";
import { bodyRows, responseRows, routingRows } from "./http-rows.ts";
import { numberRows } from "./number-rows.ts";
import type { Row } from "./row.ts";
import { schemaRows } from "./schema-rows.ts";
import { shapeRows } from "./shape-rows.ts";
import { textRows } from "./text-rows.ts";

export const table: readonly Row[] = [
  ...textRows,
  ...numberRows,
  ...shapeRows,
  ...schemaRows,
  ...routingRows,
  ...bodyRows,
  ...responseRows,
  ...foreignRows,
];
