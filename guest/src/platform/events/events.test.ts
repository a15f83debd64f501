/** Events and aborting in the engine, compared with Node's classes. */
import { beforeAll, describe, expect, test } from "vitest";
import { type Evaluator, evaluateAsyncInNode, evaluator } from "../../../testing/evaluate.ts";

let evaluate: Evaluator;
beforeAll(async () => {
  const names = ["abort-controller", "abort-signal", "custom-event", "error-event", "event", "event-target"];
  const modules = ["message-event", "promise-rejection-event", ...names].map(
    (name) => `platform/events/install/${name}.ts`,
  );
  evaluate = await evaluator([...modules, "platform/report-error/install.ts"], "lean");
});

const programs: Readonly<Record<string, string>> = {
  "listeners, in their order and once": `
    const seen = [], target = new EventTarget();
    target.addEventListener("a", () => seen.push(1));
    target.addEventListener("a", { handleEvent() { seen.push(this !== target); } }, { once: true });
    const removed = () => seen.push(3);
    target.addEventListener("a", removed);
    target.removeEventListener("a", removed);
    for (let i = 0; i < 2; i++) seen.push(target.dispatchEvent(new Event("a")));
    return seen;`,
  "an event that is cancelled": `
    const target = new EventTarget(), event = new Event("a", { cancelable: true }), seen = [];
    target.addEventListener("a", (given) => { given.preventDefault(); given.stopImmediatePropagation(); });
    target.addEventListener("a", () => seen.push("not called"));
    return [target.dispatchEvent(event), event.defaultPrevented, event.eventPhase, event.currentTarget, event.target === target, seen];`,
  "a passive listener": `
    const target = new EventTarget(), event = new Event("a", { cancelable: true });
    target.addEventListener("a", (given) => given.preventDefault(), { passive: true });
    return [target.dispatchEvent(event), event.defaultPrevented];`,
  "a signal that removes a listener": `
    const target = new EventTarget(), controller = new AbortController(), seen = [];
    target.addEventListener("a", () => seen.push(1), { signal: controller.signal });
    target.dispatchEvent(new Event("a"));
    controller.abort();
    target.dispatchEvent(new Event("a"));
    target.addEventListener("a", () => seen.push(2), { signal: AbortSignal.abort() });
    target.dispatchEvent(new Event("a"));
    return seen;`,
  "dispatching twice at once": `
    const target = new EventTarget(), seen = [];
    target.addEventListener("a", (event) => { try { target.dispatchEvent(event); } catch (error) { seen.push(error.name); } });
    target.dispatchEvent(new Event("a"));
    return seen;`,
  "a custom event": `
    const event = new CustomEvent("a", { detail: { b: 1 } });
    return [event.detail, new CustomEvent("a").detail, event instanceof Event, String(event)];`,
  "a controller and its signal": `
    const { signal } = new AbortController(), controller = new AbortController(), seen = [];
    controller.signal.onabort = (event) => seen.push(event.type, event.target === controller.signal);
    controller.abort("why");
    controller.abort("again");
    try { controller.signal.throwIfAborted(); } catch (error) { seen.push(error); }
    signal.throwIfAborted();
    return [signal.aborted, controller.signal.aborted, controller.signal.reason, seen, AbortSignal.abort().reason.name];`,
  "signals of signals": `
    const [one, two] = [new AbortController(), new AbortController()], seen = [];
    const any = AbortSignal.any([one.signal, AbortSignal.any([two.signal, one.signal])]);
    any.addEventListener("abort", () => seen.push(one.signal.aborted, two.signal.aborted));
    two.abort("two");
    return [any.aborted, any.reason, seen, AbortSignal.any([]).aborted, AbortSignal.any([any, one.signal]).reason];`,
  "a signal of a time": `
    const signal = AbortSignal.timeout(1);
    return new Promise((resolve) => {
      signal.onabort = () => resolve([signal.reason.name, signal.reason.code, signal.reason instanceof DOMException]);
    });`,
  "receivers of another class": `
    const seen = [], attempt = (work) => { try { seen.push(work()); } catch (error) { seen.push(error.name); } };
    attempt(() => Event.prototype.type);
    attempt(() => EventTarget.prototype.addEventListener.call({}, "a", () => {}));
    attempt(() => Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted").get.call({}));
    attempt(() => new AbortSignal());
    attempt(() => new Event());
    attempt(() => Event("a"));
    attempt(() => new EventTarget().dispatchEvent({}));
    attempt(() => AbortSignal.any(1));
    return seen;`,
  "the shape of the classes": `
    return [Event, EventTarget, CustomEvent, AbortController, AbortSignal].map((of) => [
      of.name, of.length, Object.prototype.toString.call(of.prototype), Object.keys(of.prototype).includes("constructor"),
      Object.getOwnPropertyDescriptor(globalThis, of.name).enumerable,
    ]);`,
};

/** Results by the standard where Node 20 has others. */
const standard: Readonly<Record<string, unknown>> = {
  "a passive listener": [true, false],
  "dispatching twice at once": ["InvalidStateError"],
};

describe("as in Node", () => {
  test.each(Object.entries(programs))("%s", async (name, program) => {
    expect(evaluate(program)).toEqual(standard[name] ?? (await evaluateAsyncInNode(program)));
  });
});

test("a listener's exception is printed, and the next listener runs", () => {
  const program = `const target = new EventTarget(), seen = [];
    target.addEventListener("a", () => { throw new RangeError("of the listener"); });
    target.addEventListener("a", () => seen.push("next"));
    target.dispatchEvent(new Event("a"));
    return seen;`;
  expect(evaluate(program)).toEqual(["next"]);
  expect(evaluate.printed()).toContain("Uncaught RangeError: of the listener\n");
});

test("reportError prints an exception", () => {
  expect(evaluate("reportError(new Error('reported')); reportError('a text')")).toBeNull();
  expect(evaluate.printed()).toMatch(/^Uncaught Error: reported\n[\s\S]*Uncaught a text\n$/);
});

test("a source holds a dependent signal that somebody listens to, and no other", () => {
  const program = `const controller = new AbortController(), seen = [];
    (() => AbortSignal.any([AbortSignal.any([controller.signal])]).addEventListener("abort", () => seen.push("heard")))();
    const left = (() => new WeakRef(AbortSignal.any([controller.signal])))();
    return new Promise((resolve) => setTimeout(resolve)).then(() => {
      controller.abort();
      return [seen, left.deref() === undefined];
    });`;
  expect(evaluate(program)).toEqual([["heard"], true]);
});

test("events of other interfaces", () => {
  const program = `const message = new MessageEvent("message", { data: { a: 1 }, origin: "o" }), error = new ErrorEvent("error", { message: "m", lineno: 3.7 });
    const rejection = new PromiseRejectionEvent("unhandledrejection", { promise: Promise.resolve(), reason: 4 });
    return [message.data, message.origin, message.ports, error.message, error.lineno, error.colno, rejection.reason, rejection.promise instanceof Promise];`;
  expect(evaluate(program)).toEqual([{ a: 1 }, "o", [], "m", 3, 0, 4, true]);
});
