/** The lines of `tenon dev` about answered requests. */
import type { Runtime } from "../embed/runtime.ts";
import type { RecentRequest } from "../embed/runtime-state.ts";
import type { Terminal } from "../terminal.ts";

/** Milliseconds between checks for answered requests. */
const interval = 100;

/** Prints a line for each request that the runtime answers, until the returned function is called. */
export function logRequests(runtime: Runtime, terminal: Terminal): () => void {
  let last = runtime.recentRequests().at(-1);
  const look = () => {
    const found = runtime.recentRequests();
    const known = found.map(({ id, time }) => `${id} ${time}`).lastIndexOf(`${last?.id} ${last?.time}`);
    const fresh = found.slice(known + 1);
    if (known < 0 && last !== undefined && fresh.length > 0) terminal.say(terminal.dim(`${" ".repeat(13)}…`));
    for (const request of fresh) terminal.say(line(request, terminal));
    last = found.at(-1) ?? last;
  };
  const timer = setInterval(look, interval);
  return () => {
    clearInterval(timer);
    look();
  };
}

function line({ method, path, status, durationMs: duration }: RecentRequest, terminal: Terminal): string {
  const time = duration < 10 ? duration.toFixed(1) : duration.toFixed(0);
  return `${method.padStart(12)} ${printable(path)} ${terminal.status(status)} ${terminal.dim(`${time} ms`)}`;
}

/** Removes control characters from a path, because a client could send commands to the terminal. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, "?");
}
