/**
 * The fast path of validation: one function for each schema and arrival, generated when the schema is first used, that
 * accepts a valid value in one step. It only ever *accepts*: the parsers handle every other value, and they alone
 * report failures. So the rules have one implementation, and a property test compares this shortcut with it.
 *
 * It is generated because the engine inside a component interprets: a closure call for each field of each value costs
 * more than all the comparisons together (`bench/sdk`). It is generated while the module is loaded, which is before the
 * snapshot, and never from a request: the source text contains only the developer's declarations, with every key and
 * text written as a JSON literal. Where the host forbids generating code (a content security policy), the parsers do
 * all the work.
 */

/** Accepts a value and returns the parsed copy, or returns `undefined` to leave it to the parsers. */
export type Quick = (value: unknown) => unknown;

/** The form in which a value arrives: parsed from JSON, or as text from a path or a query. */
export type Arrival = "json" | "text";

/**
 * Writes the statements that accept a value into `code`.
 *
 * @param value a variable with the value; as text, an object comes from the router or the query string's reader
 * @returns an expression for the parsed value
 */
export type WriteQuick = (value: string, code: Code, arrival: Arrival) => string;

/** The function under construction: statements, and the constants that they refer to. */
export class Code {
  #text = "";
  readonly #constants: unknown[] = [];
  #variables = 0;

  /** Adds statements. */
  write(statements: string): void {
    this.#text += statements;
  }

  /** A name for a constant. */
  constant(value: unknown): string {
    return `c${this.#constants.push(value) - 1}`;
  }

  /** Declares a variable, and returns its name. */
  variable(expression: string): string {
    const name = `v${this.#variables++}`;
    this.write(`let ${name}=${expression};`);
    return name;
  }

  /** Compiles the statements to a function that returns the expression `result`. */
  compile(parameter: string, result: string): Quick {
    const names = this.#constants.map((_, i) => `c${i}`);
    try {
      const make = new Function(...names, `return ${parameter}=>{${this.#text}return ${result}}`);
      return make(...this.#constants);
    } catch {
      return () => undefined;
    }
  }

  /** Leaves the value to the parsers if the condition is false. */
  require(condition: string): void {
    this.write(`if(!(${condition}))return;`);
  }
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** The access to a member in generated code. QuickJS finds a name after a dot a quarter faster than one in brackets. */
export function memberAt(key: string): string {
  return IDENTIFIER.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** The parsers of a schema that are needed here. */
interface Part {
  readonly writeQuick: WriteQuick;
  readonly shared: boolean;
  quick(arrival: Arrival): Quick;
}

/**
 * Writes the code that accepts a part of a value. An object gets its own function, which all schemas with such a part
 * share.
 */
export function writePart(parsers: Part, value: string, code: Code, arrival: Arrival): string {
  if (!parsers.shared) return parsers.writeQuick(value, code, arrival);
  const parsed = code.variable(`${code.constant(parsers.quick(arrival))}(${value})`);
  code.require(`${parsed}!==undefined`);
  return parsed;
}

/** Compiles the code that `write` writes. */
export function compileQuick(write: WriteQuick, arrival: Arrival): Quick {
  const code = new Code();
  const quick = code.compile("value", write("value", code, arrival));
  // Called now, because an engine compiles a function at its first call, which would be in the first request.
  quick(undefined);
  return quick;
}
