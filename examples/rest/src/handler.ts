import {
  cache,
  created,
  del,
  ensure,
  field,
  get,
  guard,
  type Infer,
  list,
  noContent,
  ok,
  Path,
  patch,
  post,
  Query,
  random,
  routes,
  Type,
  time,
} from "@tenon/sdk";

export const Banner = Type("Banner", { service: field.string(), message: field.string() });
export const Task = Type("Task", {
  id: field.string({ format: "uuid" }),
  title: field.string(),
  done: field.bool(),
  created_at: field.string({ format: "date-time" }),
});
export const Tasks = Type("Tasks", {
  tasks: list(Task),
  next: field.string({ docs: "`after` of the next page; absent on the last one" }).optional(),
});
export const NewTask = Type("NewTask", { title: field.string({ min: 1, max: 200 }) });
export const TaskChange = Type("TaskChange", {
  title: field.string({ min: 1, max: 200 }).optional(),
  done: field.bool().optional(),
});
export const TaskId = Path("TaskId", { id: field.string({ format: "uuid" }) });
export const Page = Query("Page", {
  limit: field.u32({ default: 20, min: 1, max: 100 }),
  after: field.string().optional(),
});

// Every request gets an instance of its own, so no data lasts here. The sidecar `cache` stores the tasks. Under `tenon
// dev` it is a development service, and http://127.0.0.1:9919 shows its content.
const prefix = "task:";

async function read(key: string) {
  const found = await cache.get(key);
  return found === undefined ? undefined : (found.json() as Infer<typeof Task>);
}

export default routes({
  /** Service banner. */
  index: get(["/", ""], { response: Banner }, () => ok({ service: "rest", message: "Tasks are at /tasks" })),

  /** List tasks, one page at a time. */
  listTasks: get("/tasks", { query: Page, response: Tasks }, async ({ query }) => {
    const { keys, next } = await cache.list({ prefix, ...query });
    const found = await Promise.all(keys.map(read));
    // A task that was deleted meanwhile is missing.
    const tasks = found.filter((task) => task !== undefined);
    return ok({ tasks, ...(next === null ? {} : { next }) });
  }),

  /** Create a task. */
  createTask: post("/tasks", { body: NewTask, response: Task, status: 201 }, async ({ body }) => {
    const task = { id: random.uuid(), title: body.title, done: false, created_at: time.nowIso() };
    await cache.set(prefix + task.id, { json: task });
    return created(`/tasks/${task.id}`, task);
  }),

  /** Get one task. */
  getTask: get("/tasks/{id}", { path: TaskId, response: Task }, async ({ path }) =>
    ok(ensure(await read(prefix + path.id), 404, "no such task")),
  ),

  /** Change a task's title, or whether it is done. */
  changeTask: patch("/tasks/{id}", { path: TaskId, body: TaskChange, response: Task }, async ({ path, body }) => {
    const task = { ...ensure(await read(prefix + path.id), 404, "no such task"), ...body };
    await cache.set(prefix + path.id, { json: task });
    return ok(task);
  }),

  /** Delete a task. */
  deleteTask: del("/tasks/{id}", { path: TaskId, status: 204 }, async ({ path }) => {
    guard(await cache.delete(prefix + path.id), 404, "no such task");
    return noContent();
  }),
});
