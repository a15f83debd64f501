import { readdir, readFile } from "node:fs/promises";

/** A process of this machine, and what tells it from a later one of the same number. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly started: string;
  readonly command: string;
}

/** The processes below one, as /proc has them. */
export async function descendants(pid: number): Promise<Process[]> {
  const all = await everyProcess();
  const found: Process[] = [];
  let parents = [pid];
  while (parents.length > 0) {
    const children = all.filter(({ parent }) => parents.includes(parent));
    found.push(...children);
    parents = children.map((child) => child.pid);
  }
  return found;
}

/** Returns those of the processes that have not ended. */
export async function alive(processes: readonly Process[]): Promise<Process[]> {
  const now = await everyProcess();
  return processes.filter(({ pid, started }) => now.some((each) => each.pid === pid && each.started === started));
}

async function everyProcess(): Promise<Process[]> {
  const found = (await readdir("/proc")).filter((name) => /^[0-9]+$/.test(name)).map(read);
  return (await Promise.all(found)).filter((process) => process !== undefined);
}

/** Undefined when it has ended, and waits for nothing but its parent's asking as well. */
async function read(pid: string): Promise<Process | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name, in parentheses, may have spaces and parentheses itself: proc(5).
  const [, command = "", rest = ""] = /^[0-9]+ \((.*)\) (.*)$/s.exec(stat) ?? [];
  const fields = rest.split(" ");
  if (rest === "" || fields[0] === "Z") return undefined;
  return { pid: Number(pid), parent: Number(fields[1]), started: fields[19] ?? "", command };
}
