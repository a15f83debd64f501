import { accepted, get, group, ok, post } from "@tenon/sdk";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { z } from "zod";

// Lengths are left to expressions: these libraries count UTF-16 units, JSON Schema counts code points.
const Task = z.object({ id: z.int().min(1), title: z.string().regex(/^[a-z ]{1,30}$/) }).meta({ id: "Task" });
const Job = z.object({
  name: z.string().regex(/^[A-Z]/),
  tasks: z.array(Task).max(3),
  note: z.string().nullable().optional(),
});

const Window = toStandardJsonSchema(
  v.object({ unit: v.picklist(["day", "week"]), label: v.optional(v.pipe(v.string(), v.regex(/^[a-z]{0,5}$/))) }),
);

/** Routes whose input other libraries validate. */
export const jobs = group("/jobs", {
  /** Take up a job that Zod validates. */
  takeJob: post("", { body: Job, response: Job, status: 202 }, ({ body }) => accepted(body)),
  /** Jobs in a window of time that Valibot validates. */
  listJobs: get("", { query: Window }, ({ query }) => ok(query)),
});
