// Evaluates the part of C# in which Http11Probe's test cases are written: static classes of methods, lambdas, object
// initializers, patterns, interpolated strings. Nothing is compiled or written. A source is parsed and walked, and
// anything unknown is an error. The cases' payloads and validators come from the checkout at run time.

const punctuation = [
  "=>",
  "==",
  "!=",
  "<=",
  ">=",
  "&&",
  "||",
  "??",
  "?.",
  "?[",
  "++",
  "--",
  "+=",
  "-=",
  "..",
  ..."{}()[];,.:?=<>!+-*/%&|^",
]; // prettier-ignore

/** Splits a source into tokens. An interpolated string has parts, whose expressions are tokens again. */
function tokenize(source, rewrite) {
  const tokens = [];
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const char = source[at];
    if (/\s/.test(char)) at++;
    else if (rest === "//") at = end(source.indexOf("\n", at));
    else if (rest === "/*") at = source.indexOf("*/", at) + 2;
    else if (rest === '$"') at = interpolated(at + 2);
    else if (char === '"') at = string(at + 1);
    else if (char === "'") {
      const [text, next] = escaped(at + 1, "'");
      tokens.push({ kind: "string", text, at });
      at = next;
    } else if (/[A-Za-z_]/.test(char)) {
      const [name] = /^\w+/.exec(source.slice(at, at + 100));
      tokens.push({ kind: "name", text: name, at });
      at += name.length;
    } else if (/\d/.test(char)) {
      const [digits] = /^(0x[\da-fA-F_]+|[\d_]+)/.exec(source.slice(at, at + 40));
      tokens.push({ kind: "number", text: digits, value: Number(digits.replaceAll("_", "")), at });
      at += digits.length;
    } else {
      const found = punctuation.find((each) => source.startsWith(each, at));
      if (found === undefined) throw new Error(`no token at ${place(at)}`);
      tokens.push({ kind: found, text: found, at });
      at += found.length;
    }
  }
  tokens.push({ kind: "end", text: "", at });
  return tokens;

  function end(found) {
    return found < 0 ? source.length : found;
  }

  function place(offset) {
    return `line ${source.slice(0, offset).split("\n").length}`;
  }

  function string(begin) {
    const [text, next] = escaped(begin, '"');
    tokens.push({ kind: "string", text: rewrite(text), at: begin });
    return next;
  }

  /** Reads up to the closing quote. */
  function escaped(begin, quote) {
    let text = "";
    for (let i = begin; ; ) {
      if (i >= source.length) throw new Error(`an unterminated string at ${place(begin)}`);
      if (source[i] === quote) return [text, i + 1];
      const [piece, next] = one(i);
      text += piece;
      i = next;
    }
  }

  function one(i) {
    if (source[i] !== "\\") return [source[i], i + 1];
    const simple = { n: "\n", r: "\r", t: "\t", 0: "\0", "\\": "\\", '"': '"', "'": "'", v: "\v", f: "\f" };
    const code = source[i + 1];
    if (code in simple) return [simple[code], i + 2];
    const match = /^(?:x([\da-fA-F]{1,4})|u([\da-fA-F]{4}))/.exec(source.slice(i + 1, i + 6));
    if (match === null) throw new Error(`an unknown escape at ${place(i)}`);
    return [String.fromCharCode(Number.parseInt(match[1] ?? match[2], 16)), i + 1 + match[0].length];
  }

  function interpolated(begin) {
    const parts = [];
    let text = "";
    for (let i = begin; ; ) {
      if (source[i] === '"') {
        parts.push(rewrite(text));
        tokens.push({ kind: "interpolated", parts, text: "", at: begin });
        return i + 1;
      }
      if (source.startsWith("{{", i) || source.startsWith("}}", i)) {
        text += source[i];
        i += 2;
      } else if (source[i] === "{") {
        let depth = 0;
        let close = i;
        do {
          if (source[close] === "{" || source[close] === "(") depth++;
          if (source[close] === "}" || source[close] === ")") depth--;
          if (source[close] === '"') close = escaped(close + 1, '"')[1];
          else close++;
        } while (depth > 0);
        parts.push(rewrite(text));
        text = "";
        parts.push(tokenize(source.slice(i + 1, close - 1), rewrite));
        i = close;
      } else {
        const [piece, next] = one(i);
        text += piece;
        i = next;
      }
    }
  }
}

/** Parses a file: the members of its only class, by name. */
class Parser {
  constructor(tokens) {
    this.tokens = tokens;
    this.at = 0;
  }

  get token() {
    return this.tokens[this.at];
  }

  is(text) {
    return this.token.kind !== "string" && this.token.kind !== "interpolated" && this.token.text === text;
  }

  take(text) {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }

  need(text) {
    if (!this.take(text)) throw this.error(`${text} is expected`);
  }

  name() {
    if (this.token.kind !== "name") throw this.error("a name is expected");
    return this.tokens[this.at++].text;
  }

  error(text) {
    return new Error(`C#: ${text} at offset ${this.token.at}, before ${JSON.stringify(this.token.text)}`);
  }

  /** Runs `parse`. When it fails, goes back and returns undefined. */
  attempt(parse) {
    const { at } = this;
    try {
      return parse();
    } catch {
      this.at = at;
      return undefined;
    }
  }

  file() {
    while (this.is("using") || this.is("namespace")) {
      while (!this.take(";")) this.at++;
    }
    const members = new Map();
    while (!this.take("class")) this.at++;
    this.name();
    this.need("{");
    while (!this.take("}")) {
      while (["public", "private", "static", "const", "readonly", "internal"].some((word) => this.take(word)));
      const type = this.type();
      const name = this.name();
      if (this.take("=")) {
        members.set(name, { kind: "field", value: this.expression() });
        this.need(";");
      } else {
        members.set(name, this.method(type));
      }
    }
    return members;
  }

  method(type) {
    this.need("(");
    const parameters = [];
    let rest = false;
    while (!this.take(")")) {
      rest ||= this.take("params");
      this.type();
      parameters.push(this.name());
      this.take(",");
    }
    const yields = type.startsWith("IEnumerable");
    if (this.take("=>")) {
      const body = this.expression();
      this.need(";");
      return { kind: "method", parameters, rest, body, yields };
    }
    return { kind: "method", parameters, rest, body: this.block(), yields };
  }

  type() {
    let text = "";
    if (this.take("(")) {
      do {
        text += this.type();
        if (this.token.kind === "name") this.name();
      } while (this.take(","));
      this.need(")");
    } else {
      text = this.name();
      while (this.take(".")) text += `.${this.name()}`;
      if (this.take("<")) {
        do text += `<${this.type()}>`;
        while (this.take(","));
        this.need(">");
      }
    }
    this.take("?");
    while (this.is("[") && this.tokens[this.at + 1].text === "]") {
      this.at += 2;
      text += "[]";
    }
    this.take("?");
    return text;
  }

  block() {
    this.need("{");
    const statements = [];
    while (!this.take("}")) statements.push(this.statement());
    return { kind: "block", statements };
  }

  statement() {
    if (this.is("{")) return this.block();
    if (this.take("if")) {
      this.need("(");
      const condition = this.expression();
      this.need(")");
      const then = this.statement();
      return { kind: "if", condition, then, otherwise: this.take("else") ? this.statement() : undefined };
    }
    if (this.take("while")) {
      this.need("(");
      const condition = this.expression();
      this.need(")");
      return { kind: "while", condition, body: this.statement() };
    }
    if (this.take("for")) {
      this.need("(");
      const first = this.simple();
      this.need(";");
      const condition = this.expression();
      this.need(";");
      const step = this.expression();
      this.need(")");
      return { kind: "for", first, condition, step, body: this.statement() };
    }
    if (this.take("foreach")) {
      this.need("(");
      const names = this.declared();
      this.need("in");
      const list = this.expression();
      this.need(")");
      return { kind: "foreach", names, list, body: this.statement() };
    }
    if (this.take("yield")) {
      this.need("return");
      const value = this.expression();
      this.need(";");
      return { kind: "yield", value };
    }
    if (this.take("return")) {
      const value = this.is(";") ? undefined : this.expression();
      this.need(";");
      return { kind: "return", value };
    }
    for (const kind of ["break", "continue"]) {
      if (this.take(kind)) {
        this.need(";");
        return { kind };
      }
    }
    const statement = this.simple();
    this.need(";");
    return statement;
  }

  /** Parses the declaration in `var name`, `byte[] name` or `var (a, b)`. */
  declared() {
    const type = this.type();
    if (!this.take("(")) return { type, names: this.name() };
    const names = [];
    do names.push(this.name());
    while (this.take(","));
    this.need(")");
    return { type, names };
  }

  simple() {
    this.take("const");
    const declaration = this.attempt(() => {
      const target = this.declared();
      this.need("=");
      return target;
    });
    if (declaration !== undefined) return { kind: "declare", ...declaration, value: this.expression() };
    return { kind: "expression", value: this.expression() };
  }

  expression() {
    return this.isLambda() ? this.lambda() : this.assignment();
  }

  isLambda() {
    let { at } = this;
    if (this.is("(")) {
      while ([",", "("].includes(this.tokens[at].text) && this.tokens[at + 1].kind === "name") at += 2;
      if (this.tokens[at].text === "(") at++;
      if (this.tokens[at].text !== ")") return false;
    } else if (this.token.kind !== "name") {
      return false;
    }
    return this.tokens[at + 1].text === "=>";
  }

  lambda() {
    const parameters = [];
    if (this.take("(")) {
      while (!this.take(")")) {
        parameters.push(this.name());
        this.take(",");
      }
    } else {
      parameters.push(this.name());
    }
    this.need("=>");
    const body = this.is("{") ? this.block() : this.expression();
    return { kind: "lambda", parameters, body };
  }

  assignment() {
    const target = this.ternary();
    for (const operator of ["=", "+=", "-="]) {
      if (this.take(operator)) return { kind: "assign", operator, target, value: this.expression() };
    }
    return target;
  }

  ternary() {
    const condition = this.binary(0);
    if (!this.take("?")) return condition;
    const then = this.expression();
    this.need(":");
    return { kind: "ternary", condition, then, otherwise: this.expression() };
  }

  binary(level) {
    const levels = [
      ["??"],
      ["||"],
      ["&&"],
      ["==", "!="],
      ["<", ">", "<=", ">=", "is"],
      [".."],
      ["+", "-"],
      ["*", "/", "%"],
    ];
    if (level === levels.length) return this.unary();
    if (levels[level][0] === "..") return this.range(() => this.binary(level + 1));
    let left = this.binary(level + 1);
    for (;;) {
      const operator = levels[level].find((each) => this.take(each));
      if (operator === undefined) return left;
      left =
        operator === "is"
          ? { kind: "is", value: left, pattern: this.pattern() }
          : { kind: "binary", operator, left, right: this.binary(level + 1) };
    }
  }

  range(operand) {
    const ends = () => [")", "]", ",", ";"].some((text) => this.is(text));
    if (this.take("..")) return { kind: "range", from: undefined, to: ends() ? undefined : operand() };
    const from = operand();
    if (!this.take("..")) return from;
    return { kind: "range", from, to: ends() ? undefined : operand() };
  }

  pattern() {
    let left = this.conjunction();
    while (this.take("or")) left = { kind: "or", left, right: this.conjunction() };
    return left;
  }

  conjunction() {
    let left = this.negation();
    while (this.take("and")) left = { kind: "and", left, right: this.negation() };
    return left;
  }

  negation() {
    if (this.take("not")) return { kind: "not", pattern: this.negation() };
    if (this.take("(")) {
      const inner = this.pattern();
      this.need(")");
      return inner;
    }
    const operator = ["<", ">", "<=", ">="].find((each) => this.take(each));
    return { kind: "compare", operator: operator ?? "==", value: this.unary() };
  }

  unary() {
    if (this.take("!")) return { kind: "not", value: this.unary() };
    // An index from the end is a negative one of `slice`.
    if (this.take("-") || this.take("^")) return { kind: "negative", value: this.unary() };
    if (this.take("new")) return this.postfix(this.creation());
    return this.postfix(this.primary());
  }

  creation() {
    const name = this.type();
    if (this.take("[")) {
      const size = this.expression();
      this.need("]");
      return { kind: "bytes", size };
    }
    const args = this.is("(") ? this.args() : [];
    const fields = [];
    if (this.take("{")) {
      while (!this.take("}")) {
        const field = this.name();
        this.need("=");
        fields.push([field, this.expression()]);
        this.take(",");
      }
    }
    return { kind: "new", name, args, fields };
  }

  primary() {
    const { token } = this;
    if (token.kind === "string") return this.skip({ kind: "literal", value: token.text });
    if (token.kind === "number") return this.skip({ kind: "literal", value: token.value });
    if (token.kind === "interpolated") {
      const parts = token.parts.map((part) => (typeof part === "string" ? part : new Parser(part).whole()));
      return this.skip({ kind: "interpolated", parts });
    }
    if (this.take("(")) {
      const items = [this.expression()];
      while (this.take(",")) items.push(this.expression());
      this.need(")");
      return items.length === 1 ? items[0] : { kind: "list", items };
    }
    if (this.take("[")) {
      const items = [];
      while (!this.take("]")) {
        items.push(this.expression());
        this.take(",");
      }
      return { kind: "list", items };
    }
    const literals = { null: null, true: true, false: false };
    if (token.kind === "name" && Object.hasOwn(literals, token.text)) {
      return this.skip({ kind: "literal", value: literals[token.text] });
    }
    return { kind: "name", name: this.name() };
  }

  whole() {
    const value = this.expression();
    // Skips a format, such as a number's, because no comparison depends on it.
    if (!this.is(":") && this.token.kind !== "end") throw this.error("more than an expression");
    return value;
  }

  skip(node) {
    this.at++;
    return node;
  }

  postfix(operand) {
    let value = operand;
    for (;;) {
      if (this.take(".")) value = { kind: "member", of: value, name: this.name() };
      else if (this.take("?.")) value = { kind: "member", of: value, name: this.name(), maybe: true };
      else if (this.take("[")) {
        value = { kind: "index", of: value, index: this.expression() };
        this.need("]");
      } else if (this.is("(")) value = { kind: "call", of: value, args: this.args() };
      else if (this.take("++")) value = { kind: "increment", target: value };
      else if (this.is("!") && [".", ")", "[", ";"].includes(this.tokens[this.at + 1].text)) this.at++;
      else return value;
    }
  }

  args() {
    this.need("(");
    const args = [];
    while (!this.take(")")) {
      if (this.take("out")) {
        this.take("var");
        args.push({ kind: "out", name: this.name() });
      } else {
        args.push(this.expression());
      }
      this.take(",");
    }
    return args;
  }
}

class Scope {
  constructor(parent) {
    this.parent = parent;
    this.values = new Map();
  }

  find(name) {
    for (let scope = this; scope !== undefined; scope = scope.parent) if (scope.values.has(name)) return scope.values;
    throw new Error(`C#: nothing is called ${name}`);
  }
}

const ended = Symbol("ended");
const broken = Symbol("broken");
const continued = Symbol("continued");

/** Runs statements. Returns undefined, or the way in which they ended. */
function run(node, scope, yielded) {
  switch (node.kind) {
    case "block": {
      const inner = new Scope(scope);
      for (const statement of node.statements) {
        const outcome = run(statement, inner, yielded);
        if (outcome !== undefined) return outcome;
      }
      return undefined;
    }
    case "if":
      if (evaluate(node.condition, scope)) return run(node.then, new Scope(scope), yielded);
      return node.otherwise === undefined ? undefined : run(node.otherwise, new Scope(scope), yielded);
    case "while":
    case "for": {
      const inner = new Scope(scope);
      if (node.first !== undefined) run(node.first, inner, yielded);
      while (evaluate(node.condition, inner)) {
        const outcome = run(node.body, new Scope(inner), yielded);
        if (outcome === broken) break;
        if (outcome !== undefined && outcome !== continued) return outcome;
        if (node.step !== undefined) evaluate(node.step, inner);
      }
      return undefined;
    }
    case "foreach":
      for (const item of evaluate(node.list, scope)) {
        const inner = new Scope(scope);
        bind(node.names, Array.isArray(item) && !Array.isArray(node.names.names) ? pair(item) : item, inner);
        const outcome = run(node.body, inner, yielded);
        if (outcome === broken) break;
        if (outcome !== undefined && outcome !== continued) return outcome;
      }
      return undefined;
    case "declare":
      bind(node, evaluate(node.value, scope), scope);
      return undefined;
    case "expression":
      evaluate(node.value, scope);
      return undefined;
    case "yield":
      yielded.push(evaluate(node.value, scope));
      return undefined;
    case "return":
      return { [ended]: node.value === undefined ? null : evaluate(node.value, scope) };
    case "break":
      return broken;
    case "continue":
      return continued;
    default:
      throw new Error(`C#: no statement ${node.kind}`);
  }
}

/** Makes an entry of a dictionary. */
function pair([key, value]) {
  return { Key: key, Value: value };
}

/** Binds declared names. */
function bind({ type, names }, value, scope) {
  if (Array.isArray(names)) {
    names.forEach((name, i) => {
      scope.values.set(name, value[i]);
    });
  } else {
    scope.values.set(names, type === "byte[]" && Array.isArray(value) ? Uint8Array.from(value) : value);
  }
}

/** Makes a JavaScript function from a method or lambda. */
function callable({ parameters, rest, body, yields }, scope) {
  return (...args) => {
    const inner = new Scope(scope);
    parameters.forEach((name, i) => {
      inner.values.set(name, rest && i === parameters.length - 1 ? args.slice(i) : (args[i] ?? null));
    });
    if (body.kind !== "block") return evaluate(body, inner);
    const yielded = [];
    const outcome = run(body, inner, yielded);
    return yields ? yielded : (outcome?.[ended] ?? null);
  };
}

function evaluate(node, scope) {
  const value = (child) => evaluate(child, scope);
  switch (node.kind) {
    case "literal":
      return node.value;
    case "interpolated":
      return node.parts.map((part) => (typeof part === "string" ? part : text(value(part)))).join("");
    case "name":
      return scope.find(node.name).get(node.name);
    case "list":
      return node.items.map(value);
    case "lambda":
      return callable(node, scope);
    case "ternary":
      return value(node.condition) ? value(node.then) : value(node.otherwise);
    case "not":
      return !value(node.value);
    case "negative":
      return -value(node.value);
    case "binary":
      return binary(node, value);
    case "is":
      return matches(node.pattern, value(node.value), value);
    case "bytes":
      return new Uint8Array(value(node.size));
    case "new": {
      const made = create(node.name, node.args.map(value));
      for (const [name, field] of node.fields) made[name] = value(field);
      return made;
    }
    case "member": {
      const of = value(node.of);
      if (of === null && node.maybe) return null;
      return member(of, node.name);
    }
    case "index": {
      const of = value(node.of);
      if (node.index.kind === "range") {
        const { from, to } = node.index;
        return of.slice(from === undefined ? 0 : value(from), to === undefined ? undefined : value(to));
      }
      return of instanceof Map ? of.get(value(node.index)) : of[value(node.index)];
    }
    case "call":
      return call(node, scope);
    case "increment":
    case "assign":
      return assign(node, scope);
    default:
      throw new Error(`C#: no expression ${node.kind}`);
  }
}

function text(value) {
  return value === null ? "" : String(value);
}

function binary({ operator, left, right }, value) {
  const a = value(left);
  if (operator === "??") return a ?? value(right);
  if (operator === "||") return a || value(right);
  if (operator === "&&") return a && value(right);
  const b = value(right);
  const compared = compare(operator, a, b);
  if (compared !== undefined) return compared;
  const operations = {
    "+": () => a + b,
    "-": () => a - b,
    "*": () => a * b,
    "/": () => Math.trunc(a / b),
    "%": () => a % b,
  };
  return operations[operator]();
}

function compare(operator, a, b) {
  // Comparisons with null are false.
  if (operator === "==") return a === b;
  if (operator === "!=") return a !== b;
  if (a === null || b === null) return operator.startsWith("<") || operator.startsWith(">") ? false : undefined;
  if (operator === "<") return a < b;
  if (operator === ">") return a > b;
  if (operator === "<=") return a <= b;
  if (operator === ">=") return a >= b;
  return undefined;
}

function matches(pattern, subject, value) {
  switch (pattern.kind) {
    case "or":
      return matches(pattern.left, subject, value) || matches(pattern.right, subject, value);
    case "and":
      return matches(pattern.left, subject, value) && matches(pattern.right, subject, value);
    case "not":
      return !matches(pattern.pattern, subject, value);
    default:
      return compare(pattern.operator, subject, value(pattern.value));
  }
}

function assign(node, scope) {
  const { target } = node;
  const next = (before) => {
    if (node.kind === "increment") return before + 1;
    const value = evaluate(node.value, scope);
    return node.operator === "=" ? value : node.operator === "+=" ? before + value : before - value;
  };
  if (target.kind === "name") {
    const values = scope.find(target.name);
    values.set(target.name, next(values.get(target.name)));
    return values.get(target.name);
  }
  if (target.kind !== "index") throw new Error(`C#: no assignment to ${target.kind}`);
  const of = evaluate(target.of, scope);
  const index = evaluate(target.index, scope);
  if (of instanceof Map) of.set(index, next(of.get(index)));
  else of[index] = next(of[index]);
  return undefined;
}

function call({ of, args }, scope) {
  const given = args.map((arg) =>
    arg.kind === "out" ? (value) => scope.values.set(arg.name, value) : evaluate(arg, scope),
  );
  if (of.kind !== "member") return evaluate(of, scope)(...given);
  const subject = evaluate(of.of, scope);
  if (subject === null && of.maybe) return null;
  const known = methods(subject)?.[of.name];
  if (known !== undefined) return known(subject, ...given);
  if (typeof subject?.[of.name] !== "function") throw new Error(`C#: no method ${of.name} of ${typeof subject}`);
  return subject[of.name](...given);
}

function member(of, name) {
  if (of === null || of === undefined) throw new Error(`C#: ${name} of null`);
  if (name === "Length" || name === "Count") return of instanceof Map ? of.size : of.length;
  if (of[name] === undefined) throw new Error(`C#: no member ${name}`);
  return of[name];
}

const ignoringCase = "OrdinalIgnoreCase";
const folded = (value, comparison) => (comparison === ignoringCase ? value.toLowerCase() : value);
const trimmed = (chars) =>
  `[${chars.length === 0 ? "\\s" : chars.map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}]+`;

const ofStrings = {
  Contains: (text, part, comparison) => folded(text, comparison).includes(folded(part, comparison)),
  StartsWith: (text, part, comparison) => folded(text, comparison).startsWith(folded(part, comparison)),
  EndsWith: (text, part, comparison) => folded(text, comparison).endsWith(folded(part, comparison)),
  Equals: (text, other, comparison) => folded(text, comparison) === folded(other, comparison),
  IndexOf: (text, part, from) => text.indexOf(part, typeof from === "number" ? from : 0),
  TrimEnd: (text, ...chars) => text.replace(new RegExp(`${trimmed(chars)}$`), ""),
  TrimStart: (text, ...chars) => text.replace(new RegExp(`^${trimmed(chars)}`), ""),
  Trim: (text) => text.trim(),
  Split: (text, by, options) => text.split(by).filter((part) => options !== "RemoveEmptyEntries" || part !== ""),
  ToString: (text) => text,
  Any: (text, test) => [...text].some(test),
};
const ofNumbers = { ToString: (number) => String(number) };
const ofLists = {
  Add: (list, item) => list.push(item),
  Any: (list, test) => (test === undefined ? list.length > 0 : list.some(test)),
  All: (list, test) => list.every(test),
  Count: (list, test) => list.filter(test).length,
  Select: (list, map) => list.map((item) => map(item)),
};
const ofBytes = { CopyTo: (bytes, target, at) => target.set(bytes, at) };
const ofMaps = {
  ContainsKey: (map, key) => map.has(key),
  TryGetValue: (map, key, out) => {
    out(map.has(key) ? map.get(key) : null);
    return map.has(key);
  },
};

function methods(subject) {
  if (typeof subject === "string") return ofStrings;
  if (typeof subject === "number") return ofNumbers;
  if (Array.isArray(subject)) return ofLists;
  if (subject instanceof Uint8Array) return ofBytes;
  return subject instanceof Map ? ofMaps : undefined;
}

function create(name, args) {
  if (name === "string") return args[0].repeat(args[1]);
  if (name.startsWith("List")) return [];
  if (name.startsWith("Dictionary")) return new Map();
  if (name === "StringBuilder") {
    let built = "";
    return {
      Append: (piece) => {
        built += text(piece);
      },
      ToString: () => built,
    }; // prettier-ignore
  }
  if (name === "Random") {
    // .NET's generator is replaced by bytes from a fixed seed.
    let state = args[0];
    const next = () => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return state >>> 16;
    };
    return {
      NextBytes: (bytes) =>
        bytes.forEach((_, i) => {
          bytes[i] = next();
        }),
    }; // prettier-ignore
  }
  return { "": name };
}

/** Implements Encoding.ASCII, which replaces other characters with question marks. */
function ascii(value) {
  return Uint8Array.from([...value].map((char) => (char.charCodeAt(0) < 128 ? char.charCodeAt(0) : 63)));
}

const named = (...names) => Object.fromEntries(names.map((name) => [name, name]));

function library() {
  const exactly = (from, to) => ({ Contains: (status) => status >= from && status <= to });
  const imf =
    /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/;
  return {
    Encoding: { ASCII: { GetBytes: ascii, GetByteCount: (value) => ascii(value).length } },
    ConnectionState: named("Open", "ClosedByServer", "TimedOut", "Error"),
    TestVerdict: named("Pass", "Fail", "Warn", "Skip", "Error"),
    RfcLevel: named("Must", "Should", "May", "OughtTo", "NotApplicable"),
    TestCategory: named("Compliance", "Smuggling", "MalformedInput", "Normalization", "Cookies", "Capabilities"),
    StringComparison: named("Ordinal", "OrdinalIgnoreCase"),
    StringSplitOptions: named("RemoveEmptyEntries"),
    StatusCodeRange: {
      Exact: (status) => exactly(status, status),
      Range: exactly,
      Range2xx: exactly(200, 299),
      Range4xx: exactly(400, 499),
      Range4xxOr5xx: exactly(400, 599),
    },
    string: {
      IsNullOrEmpty: (value) => value === null || value === "",
      IsNullOrWhiteSpace: (value) => value === null || value.trim() === "",
      Join: (by, items) => items.join(by),
      Equals: (a, b, comparison) => folded(a, comparison) === folded(b, comparison),
    },
    int: {
      // Only hexadecimal numbers are supported.
      TryParse: (value, _style, _culture, out) => {
        const number = /^[\da-fA-F]+$/.test(value) ? Number.parseInt(value, 16) : Number.NaN;
        out(Number.isNaN(number) ? 0 : number);
        return !Number.isNaN(number);
      },
    },
    Enumerable: { Range: (from, count) => Array.from({ length: count }, (_, i) => from + i) },
    DateTimeOffset: { TryParseExact: (value) => imf.test(value) },
    DateTime: { TryParseExact: (value) => imf.test(value) },
    System: {
      Globalization: {
        NumberStyles: named("HexNumber"),
        CultureInfo: named("InvariantCulture"),
        DateTimeStyles: named("None", "AssumeUniversal"),
      },
    },
    _: null,
  };
}

/** Evaluates a source, and returns its class's methods as functions. `rewrite` is applied to each string in it. */
export function load(source, rewrite = (text) => text) {
  const scope = new Scope();
  for (const [name, value] of Object.entries(library())) scope.values.set(name, value);
  const members = new Parser(tokenize(source, rewrite)).file();
  for (const [name, node] of members) if (node.kind === "method") scope.values.set(name, callable(node, scope));
  for (const [name, node] of members) if (node.kind === "field") scope.values.set(name, evaluate(node.value, scope));
  return Object.fromEntries([...members.keys()].map((name) => [name, scope.values.get(name)]));
}
