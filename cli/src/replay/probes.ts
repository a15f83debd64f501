/** Probes in a source file: calls that keep the values of expressions when a line is reached. */
import { type Node, parseSync } from "oxc-parser";
import { walk } from "../build/used-names.ts";
import { TenonError } from "../errors.ts";

/** The line at which expressions are evaluated. */
export interface SourceLine {
  /** As it was given. */
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
}

/** A file with probes. */
export interface Probed {
  readonly text: string;
  /** The line of the statement before which the expressions are evaluated: the asked one, or the next that has a statement. */
  readonly line: number;
}

/** The name of the probes in a probed file. */
const probes = "__tenon_until";

/**
 * Parses `src/orders.ts:41`. A column is left out, because the server's log and stacks have one.
 *
 * @throws TenonError `USAGE` for another text
 */
export function placeOf(text: string): SourceLine {
  const [, file, line] = /^(.+?):([1-9]\d{0,6})(?::\d+)?$/.exec(text) ?? [];
  if (file === undefined)
    throw new TenonError("USAGE", `--until must be a file and a line, such as src/handler.ts:41, not ${text}`);
  return { file, line: Number(line) };
}

/**
 * Splits `a, b.c` into its expressions.
 *
 * @throws TenonError `USAGE` when one is no expression, or would change something by itself
 */
export function expressionsOf(list: string): string[] {
  const text = `[${list}\n]`;
  const { program, errors } = parseSync("expressions.ts", `(${text})`);
  const refuse = (why: string) =>
    new TenonError("USAGE", `--print must be expressions, such as order.id,items.length: ${why}`);
  const [error] = errors;
  if (error !== undefined) throw refuse(error.message);
  const [statement, ...more] = program.body;
  const array = statement?.type === "ExpressionStatement" ? inner(statement.expression) : undefined;
  if (array?.type !== "ArrayExpression" || more.length > 0) throw refuse(`${list} is none`);
  if (array.elements.length === 0) throw refuse("there is none");
  return array.elements.map((element) => {
    if (element === null || element.type === "SpreadElement") throw refuse("a comma or … is without one");
    const own = text.slice(element.start - 1, element.end - 1);
    walk(element as Node, [], ({ type }) => {
      const what = changing.get(type);
      if (what !== undefined) throw refuse(`${own} has ${what}`);
    });
    return own;
  });
}

/** Nodes that change the request by themselves. Calls may be harmless, which the replay shows. */
const changing: ReadonlyMap<string, string> = new Map([
  ["AssignmentExpression", "an assignment"],
  ["UpdateExpression", "an assignment"],
  ["AwaitExpression", "an await"],
  ["YieldExpression", "a yield"],
  ["ImportExpression", "an import"],
]);

function inner(node: { type: string }): Node {
  const own = node as Node;
  return own.type === "ParenthesizedExpression" ? inner(own.expression) : own;
}

interface Insertion {
  readonly at: number;
  readonly put: string;
  /** The end of a bracket that the insertion opens. */
  readonly end?: { readonly at: number; readonly put: string };
}

/** A place where a probe can be: before a statement, or before the expression that a function returns. */
interface Spot {
  readonly start: number;
  readonly end: number;
  readonly kind: "listed" | "single" | "expression";
}

/**
 * Puts probes into a file's text, in the lines that they are for: each statement counts its line, and the first one at or after `line`
 * keeps the values.
 *
 * @throws TenonError `USAGE` when no statement follows the line, or the file is not parsed
 */
export function probed(
  file: string,
  text: string,
  { line, file: shown }: SourceLine,
  expressions: readonly string[],
): Probed {
  const { program, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new TenonError("BUILD", `${shown} cannot be parsed: ${errors[0].message}`);
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  if (line > starts.length) throw new TenonError("USAGE", `${shown} has ${starts.length} lines, no line ${line}`);
  const lineOf = (at: number) => starts.filter((start) => start <= at).length;
  const spots = spotsIn(program as unknown as Node).sort((a, b) => a.start - b.start || b.end - a.end);
  const target = spots.find(({ start }) => lineOf(start) >= line);
  if (target === undefined)
    throw new TenonError("USAGE", `no statement of a function begins at line ${line} of ${shown} or after it`);
  const list = expressions.map((each) => `[${JSON.stringify(each)},()=>(${each.replace(/\s*\n\s*/g, " ")})]`);
  const insertions = spots.map((spot): Insertion => {
    const counted = `${probes}.line(${lineOf(spot.start)})`;
    const calls = spot === target ? `${counted},${probes}.values([${list.join(",")}])` : counted;
    if (spot.kind === "listed") return { at: spot.start, put: `${calls};` };
    const [open, close] = spot.kind === "single" ? [`{${calls};`, "}"] : [`(${calls},`, ")"];
    return { at: spot.start, put: open, end: { at: spot.end, put: close } };
  });
  const parts: { at: number; put: string; order: number }[] = insertions.flatMap(({ at, put, end }, order) => [
    { at, put, order },
    // Inner brackets end before outer ones.
    ...(end === undefined ? [] : [{ ...end, order: -1 - order }]),
  ]);
  parts.sort((a, b) => a.at - b.at || a.order - b.order);
  let made = `import * as ${probes} from "tenon-entry:until.js";`;
  let from = 0;
  for (const { at, put } of parts) {
    made += text.slice(from, at) + put;
    from = at;
  }
  return { text: made + text.slice(from), line: lineOf(target.start) };
}

/** Types whose lists of statements run in order. */
const lists: ReadonlyMap<string, string> = new Map([
  ["BlockStatement", "body"],
  ["FunctionBody", "body"],
  ["StaticBlock", "body"],
  ["SwitchCase", "consequent"],
]);

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** Declarations that no bracket can be around, or that are no statement when the program runs. */
const unfit = (node: Node) =>
  node.type.startsWith("TS") ||
  ("directive" in node && typeof node.directive === "string") ||
  node.type === "EmptyStatement";

function spotsIn(root: Node): Spot[] {
  const spots: Spot[] = [];
  const add = (node: Node, kind: Spot["kind"]) => spots.push({ start: node.start, end: node.end, kind });
  walk(root, [], (node, above) => {
    // The top level runs when the component is built.
    if (!above.some(({ type }) => functions.has(type)) && !functions.has(node.type)) return;
    const list = lists.get(node.type);
    if (list !== undefined) {
      const statements = (node as unknown as Record<string, Node[]>)[list] ?? [];
      for (const each of statements) if (!unfit(each)) add(each, "listed");
    }
    if (
      node.type === "ArrowFunctionExpression" &&
      node.body.type !== "BlockStatement" &&
      (node.body.type as string) !== "FunctionBody"
    ) {
      add(node.body as Node, "expression");
    }
    const singles: (Node | null)[] =
      node.type === "IfStatement"
        ? [node.consequent, node.alternate]
        : node.type === "ForStatement" ||
            node.type === "ForInStatement" ||
            node.type === "ForOfStatement" ||
            node.type === "WhileStatement" ||
            node.type === "DoWhileStatement"
          ? [node.body]
          : [];
    for (const each of singles) {
      // A block's own statements are listed; `else if` is a statement of its own.
      if (each !== null && each.type !== "BlockStatement" && !unfit(each)) add(each, "single");
    }
  });
  return spots;
}
