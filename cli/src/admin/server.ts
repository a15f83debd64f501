/** The admin socket of `tenon run`: lists modules and their budgets, and changes their sources, for programs of the server's user. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { failureToTell, TenonError } from "../errors.ts";
import { PROBLEM_TYPE, problemOf } from "../problem.ts";
import type { Live } from "../serve/live.ts";
import { sentBudget } from "./budgets.ts";
import { type Bound, listen } from "./listen.ts";

/** Maximum size of a request's body, which contains one source. */
const MAX_BODY_BYTES = 16 * 1024;

/** An answer. */
interface AdminAnswer {
  readonly status: number;
  readonly body: object;
}

/** A listening admin socket. */
export class Admin {
  readonly #bound: Bound;

  private constructor(bound: Bound) {
    this.#bound = bound;
  }

  /**
   * Listens at `unix:///path/to.sock`.
   *
   * @throws TenonError `CONFIG`, `ADDRESS_IN_USE` or `LISTEN`
   */
  static async start(address: string, live: Live): Promise<Admin> {
    const server = createServer((req, res) => {
      void answerTo(req, live).then((answer) => send(res, answer));
    });
    return new Admin(await listen(server, address));
  }

  get address(): string {
    return this.#bound.address;
  }

  /** Stops listening, and resolves when running changes are done. */
  async close(): Promise<void> {
    await this.#bound.stop();
  }
}

async function answerTo(req: IncomingMessage, live: Live): Promise<AdminAnswer> {
  try {
    return await route(req, live);
  } catch (error) {
    const told = failureToTell(error) ?? { message: String(error) };
    const detail = told.hint === undefined ? told.message : `${told.message}; ${told.hint}`;
    return problem(error instanceof TenonError && error.code === "USAGE" ? 400 : 422, detail);
  }
}

async function route(req: IncomingMessage, live: Live): Promise<AdminAnswer> {
  const [first, name, last, ...more] = (req.url ?? "").slice(1).split("/").map(decodeURIComponent);
  if (first === "budgets" && name === undefined) {
    if (req.method !== "GET") return problem(405, "/budgets answers GET only");
    return ok({ budgets: live.budgets().map(sentBudget) });
  }
  if (first !== "modules" || more.length > 0) return problem(404, "there are /modules and /budgets, and nothing else");
  if (name === undefined) {
    return req.method === "GET" ? ok({ modules: await live.list() }) : problem(405, "/modules answers GET only");
  }
  if (last === undefined) {
    if (req.method !== "PUT") return problem(405, "a module answers PUT only");
    const source = sourceOf(await bodyOf(req));
    if (source === undefined)
      return problem(400, 'the body must be {"source": "oci://registry/repository:tag"}, or a path');
    await live.set(name, source);
    return ok({ name, source });
  }
  if (last !== "rollback") return problem(404, "a module has /rollback, and nothing else");
  if (req.method !== "POST") return problem(405, "a rollback answers POST only");
  return ok({ name, source: await live.rollback(name) });
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of req as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MAX_BODY_BYTES) throw new TenonError("USAGE", `the body is larger than ${MAX_BODY_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function sourceOf(body: string): string | undefined {
  try {
    const { source } = JSON.parse(body) as { source?: unknown };
    return typeof source === "string" && source !== "" ? source : undefined;
  } catch {
    return undefined;
  }
}

function ok(body: object): AdminAnswer {
  return { status: 200, body };
}

function problem(status: number, detail: string): AdminAnswer {
  return { status, body: problemOf(status, detail) };
}

function send(res: ServerResponse, { status, body }: AdminAnswer): void {
  res.writeHead(status, { "content-type": status === 200 ? "application/json" : PROBLEM_TYPE });
  res.end(JSON.stringify(body));
}
