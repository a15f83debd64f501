/**
 * The quick way through validation: for each schema and way of arrival one function, generated when the schema is put to
 * use, that takes a valid value in one go. It only ever *accepts*: whatever it does not, the parsers go through, and they
 * alone say what is wrong. So the rules have one implementation, and this is a shortcut past it that a property test
 * compares with it.
 *
 * Generated, because the engine inside a component interprets: a call of a closure for each field of each value costs it
 * more than all the comparisons together (`bench/sdk`). Generating happens while the module is loaded, which for a
 * component is before the snapshot, and takes nothing from a request: what goes into a source text is what the developer
 * declared, with every key and text written as a JSON literal. Where the host forbids generating code (a content security
 * policy), the parsers do all the work.
 */

/** Accepts a value, giving the parsed copy, or `undefined` when the parsers have to look at it. */
export type Quick = (value: unknown) => unknown;

/** How a value arrives: parsed from JSON, or as text from a path or a query. */
export type Arrival = "json" | "text";

/**
 * Writes the statements that accept a value into `code`.
 *
 * @param value a variable that holds the value; as text, an object is one that the router or the query string's reader made
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

  /** Declares a variable, and gives its name. */
  variable(expression: string): string {
    const name = `v${this.#variables++}`;
    this.write(`let ${name}=${expression};`);
    return name;
  }

  /** The function of what was written, with the result that is an expression. */
  compile(parameter: string, result: string): Quick {
    const names = this.#constants.map((_, i) => `c${i}`);
    try {
      const make = new Function(...names, `return ${parameter}=>{${this.#text}return ${result}}`);
      return make(...this.#constants);
    } catch {
      return () => undefined;
    }
  }

  /** Leaves the value to the parsers unless the condition holds. */
  require(condition: string): void {
    this.write(`if(!(${condition}))return;`);
  }
}

/** A schema's parsers, as far as they are needed here. */
interface Part {
  readonly writeQuick: WriteQuick;
  readonly shared: boolean;
  quick(arrival: Arrival): Quick;
}

/** Writes what accepts a part of a value: an object by its own function, which all that have such a part share. */
export function writePart(parsers: Part, value: string, code: Code, arrival: Arrival): string {
  if (!parsers.shared) return parsers.writeQuick(value, code, arrival);
  const parsed = code.variable(`${code.constant(parsers.quick(arrival))}(${value})`);
  code.require(`${parsed}!==undefined`);
  return parsed;
}

/** Compiles what `write` writes. */
export function compileQuick(write: WriteQuick, arrival: Arrival): Quick {
  const code = new Code();
  const quick = code.compile("value", write("value", code, arrival));
  // An engine compiles a function when it is first called: now, and not in the first request.
  quick(undefined);
  return quick;
}
