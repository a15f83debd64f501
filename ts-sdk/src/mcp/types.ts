/** Types of the tools that an app serves over the Model Context Protocol. */
import type { Method } from "../routing/operation.ts";

/** A route as `include` sees it. */
export interface ToolRoute {
  /** Its key in `routes`, prefixed with the group's name and a dot. */
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  /** Its tags in the OpenAPI document. */
  readonly tags: readonly string[];
}

/** The option `mcp` of `routes`. */
export interface McpOptions {
  /** The server's name; the package's by default. */
  readonly name?: string;
  /**
   * The routes that are tools; all by default. A list has names of routes, names of groups, and tags; an entry that fits
   * no route ends the build. A function is called while the component is built.
   */
  readonly include?: readonly string[] | ((route: ToolRoute) => boolean);
  /** Serves `search` and `execute` in place of one tool for each route. */
  readonly code?: boolean;
  /**
   * Decides which calls of a program need a confirmation; only calls that are no GET are asked about. The answer of `execute` then says
   * what would be done, and has a token with which the same program may do it. The secret `MCP_CONFIRM_KEY` signs the token.
   */
  readonly confirm?: (call: ProgramCall) => boolean | Promise<boolean>;
  /** The limits of each program of `execute`. */
  readonly limits?: Partial<ProgramLimits>;
}

/** A call that a program makes. */
export interface ProgramCall {
  /** The name of the route. */
  readonly name: string;
  readonly method: Method;
  /** The path and the query, with all placeholders filled. */
  readonly path: string;
  /** The argument that the program gave: `path`, `query`, `headers` and `body`. */
  readonly input: unknown;
}

/** The limits of a program. */
export interface ProgramLimits {
  /** Milliseconds of processor time. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Calls of routes. */
  readonly calls: number;
  /** Bytes of the value, as JSON. */
  readonly outputBytes: number;
  /** Bytes of the log. */
  readonly logBytes: number;
}

/**
 * The place of an argument in the request: a placeholder, a placeholder for the rest of the path, a parameter, a header,
 * a member of the body, or the body.
 */
export type ArgumentPlace = "path" | "rest" | "query" | "header" | "member" | "body";

/** An argument, its place, and its name there. */
export type ArgumentOf = readonly [argument: string, place: ArgumentPlace, name: string];

/** The encoding of a body that is made from arguments. */
export type BodyEncoding = "json" | "form" | "multipart" | "bytes";

/** A tool, as the build writes it. The definitions are JSON texts, because they are only sent. */
export interface ToolEntry {
  readonly name: string;
  /** The name of its route. */
  readonly route: string;
  /** The Tool object of the protocol, without its output schema. */
  readonly definition: string;
  /** The output schema; undefined when an answer may have no JSON body. */
  readonly output?: string;
  /** True when every answer is an object, as revisions before 2026-07-28 require. */
  readonly isObject?: boolean;
  readonly args: readonly ArgumentOf[];
  /** Undefined for a request without a body. */
  readonly body?: BodyEncoding;
  /** The content type of bytes. */
  readonly contentType?: string;
  /** Its signature in TypeScript with its comment, for `search`; undefined without code mode. */
  readonly signature?: string;
}

/** The tools of an app, as the build writes them into the component. */
export interface ToolTable {
  readonly name: string;
  readonly version: string;
  /** The package's description. */
  readonly instructions?: string;
  /** True when `search` and `execute` are the only tools. */
  readonly code?: boolean;
  readonly tools: readonly ToolEntry[];
}
