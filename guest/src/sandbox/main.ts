/**
 * The program in each instance of a sandbox: it evaluates the text of a request, and answers with its value. The host restores the
 * instance afterwards, so nothing of an evaluation is there for the next.
 *
 * Request and response are encoded values (`values.ts`). Nothing here protects the host: a script may take over this program, and the
 * host treats each byte of it as the script's.
 */
import "./globals.ts";
import { evaluate } from "tenon:engine";
import { type Failure, failureOf, SCRIPT } from "./failure.ts";
import { defineTools, type ToolNames } from "./tools.ts";
import { decode, encode, TooLargeError } from "./values.ts";

// Tools may have the names of globals.
const { defineProperty } = Object;

/** The parts of a request. */
type Evaluation = readonly [
  source: string,
  input: unknown,
  tools: ToolNames,
  env: Readonly<Record<string, string>>,
  outputBytes: number,
  regexSteps: number,
];

/** The answer is `[false, value]` or `[true, failure]`. The bytes are those of an array of two whose first value is false. */
const beforeValue = new Uint8Array([9, 2, 0, 0, 0, 2]);
const valued = (value: unknown, most: number) => encode(value, most, beforeValue);
const failed = (failure: Failure) => encode([true, failure]);

async function answer(body: Uint8Array): Promise<Uint8Array> {
  const [source, input, tools, env, outputBytes, regexSteps] = decode(body) as Evaluation;
  const modules = defineTools(tools);
  defineProperty(globalThis, "input", { value: input, writable: true, enumerable: true, configurable: true });
  defineProperty(globalThis, "process", { value: { env }, writable: true, enumerable: false, configurable: true });
  let evaluation: ReturnType<typeof evaluate>;
  try {
    evaluation = evaluate(source, SCRIPT, modules, regexSteps);
  } catch (error) {
    return failed(failureOf(error, false));
  }
  try {
    await evaluation[0];
    const exported = evaluation[1].default;
    const value = await (typeof exported === "function" ? (exported as (input: unknown) => unknown)(input) : exported);
    return valued(value, outputBytes);
  } catch (error) {
    if (error instanceof TooLargeError) {
      return failed({ kind: "limit", limit: "outputBytes", message: `the value is larger than ${outputBytes} bytes` });
    }
    return failed(failureOf(error, true));
  }
}

/** A value with each kind, so that its first use in a request changes no shared page. */
const sample = [undefined, null, true, false, 1.5, "text", "\ud800", new Uint8Array(3), new Date(0), { a: [1] }];

export const handler = {
  async handle({ method, body }: { readonly method: string; readonly body: Uint8Array | undefined }) {
    if (method[0] !== ":" && body !== undefined) return { status: 200, headers: [], body: await answer(body) };
    decode(encode(sample));
    return { status: 204, headers: [], body: undefined };
  },
};
