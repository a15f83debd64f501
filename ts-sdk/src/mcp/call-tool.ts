/** Calls a tool: the request goes through the app as one from outside does. */
import type { App, HandleOptions } from "../app/app.ts";
import { type ProblemDetails, problem } from "../http/problem.ts";
import { type Request, rawOf } from "../http/request.ts";
import type { RawRequest } from "../raw.ts";
import type { Operation } from "../routing/operation.ts";
import type { Match } from "../routing/step.ts";
import { buildRequest } from "./build-request.ts";
import { INVALID_PARAMS, isObject, type Members, ProtocolError } from "./messages.ts";
import { type Answered, headerOf, piecesOf, problemResult, readAnswer, resultOf, takeStream } from "./read-answer.ts";
import type { ToolEntry } from "./types.ts";

/** The app that a tool call goes through. */
export interface Callee {
  readonly operations: readonly Operation[];
  /** The headers in which the app reads API keys, in lower case. */
  readonly keyHeaders: readonly string[];
  match(method: string, path: string): Match;
  handle: App["handle"];
  /** Options of the request that carries the call. */
  readonly how: HandleOptions | undefined;
}

/** The outcome of a call: the members of its result as JSON, and the challenge of a 401. */
export interface Called {
  readonly members: string;
  readonly operation: Operation;
  readonly challenge?: string | undefined;
}

/** The pieces of a streamed answer, and the rest of its call. */
export interface Streamed {
  readonly pieces: AsyncGenerator<Uint8Array, void>;
  finish(pieces: AsyncIterable<Uint8Array>): Promise<Called>;
}

/** Finds the tool of a call, by its name or its route's. @throws ProtocolError */
export function findTool(tools: readonly ToolEntry[], { name }: Members): ToolEntry {
  const found = tools.find((each) => each.name === name) ?? tools.find((each) => each.route === name);
  if (found !== undefined) return found;
  const shown = typeof name === "string" ? `: ${name.slice(0, 128)}` : '; "name" must be a text';
  throw new ProtocolError(INVALID_PARAMS, `Unknown tool${shown}`);
}

/** The request of a call, or the reason why it cannot be made. */
export type CallRequest =
  | { readonly operation: Operation; readonly built: RawRequest }
  | { readonly operation: Operation; readonly refused: ProblemDetails };

/** Makes the request of a call, which reaches the tool's own route only. */
export function requestOf(tool: ToolEntry, given: Members, request: Request, callee: Callee): CallRequest {
  const operation = callee.operations.find(({ name }) => name === tool.route) as Operation;
  const built = buildRequest(tool, operation, given, rawOf(request));
  if (!("method" in built)) {
    return { operation, refused: problem(400, "The arguments are not valid.", { errors: built }) };
  }
  // A placeholder's value may be the literal of another route, which may not be a tool.
  const match = callee.match(built.method, built.pathWithQuery.split("?")[0] as string);
  if (match.found !== "operation" || match.operation !== operation) {
    return { operation, refused: problem(404, "The path of these arguments is not of this tool's route.") };
  }
  return { operation, built };
}

/** Calls a tool. @throws ProtocolError */
export async function callTool(
  tool: ToolEntry,
  params: Members,
  request: Request,
  callee: Callee,
  isModern: boolean,
): Promise<Called | Streamed> {
  const { arguments: given = {} } = params;
  if (!isObject(given)) throw new ProtocolError(INVALID_PARAMS, '"arguments" must be an object.');
  const made = requestOf(tool, given, request, callee);
  const { operation } = made;
  const refused = (details: ProblemDetails): Called => ({ operation, members: problemResult(details, tool, isModern) });
  if ("refused" in made) return refused(made.refused);
  const { built } = made;
  const raw = await callee.handle(built, callee.how);
  const conclude = (answer: Answered): Called => ({
    operation,
    members: resultOf(answer, tool, built.pathWithQuery, isModern),
    challenge: answer.status === 401 ? headerOf(answer, "www-authenticate") : undefined,
  });
  const stream = takeStream(raw);
  if (stream === undefined) return conclude(await readAnswer(raw));
  return {
    pieces: piecesOf(stream),
    finish: (pieces) =>
      readAnswer(raw, pieces).then(conclude, (thrown) => {
        if (isObject(thrown) && typeof thrown["status"] === "number")
          return refused(thrown as unknown as ProblemDetails);
        throw thrown;
      }),
  };
}
