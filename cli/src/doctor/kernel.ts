/** Checks of system features that restoring instances uses. */
import { closeSync, openSync, readFileSync } from "node:fs";
import { release } from "node:os";
import { limits } from "../limits.ts";
import { type Check, error, note, ok } from "./check.ts";
import { isAtLeast } from "./installed.ts";

/** First Linux version with `PAGEMAP_SCAN`, which finds written pages of memory (crates/memory). */
const scanSince = "6.7.0";

/** Page size that the instances' memories support (crates/memory). */
const pageBytes = 4096;

/** Address space of an instance; and of Node with the addon. */
const instanceGibibytes = 4;
const processGibibytes = 1.5;

/** Returns a check for each property; none on systems other than Linux. */
export function kernelChecks(): Check[] {
  if (process.platform !== "linux") return [];
  return [scanCheck(release()), ...pageCheck(readIfThere("/proc/self/auxv")), ...addressSpaceCheck(limitsText())];
}

/** @param kernel such as `6.1.0-13-amd64` */
export function scanCheck(kernel: string, pagemap = "/proc/self/pagemap"): Check {
  const slow = "each request that wrote to memory costs more, because its whole memory is given back to the system";
  if (!isAtLeast(kernel, scanSince)) {
    return note("kernel", `Linux ${kernel} has no PAGEMAP_SCAN: ${slow}`, "Linux 6.7 or later has it");
  }
  try {
    closeSync(openSync(pagemap, "r"));
  } catch {
    return note("kernel", `${pagemap} cannot be read: ${slow}`, "let this process read its own /proc/self/pagemap");
  }
  return ok("kernel", `Linux ${kernel}, with PAGEMAP_SCAN`);
}

/** @param auxv the auxiliary vector of a process, numbers of 64 bits in pairs (getauxval(3)) */
export function pageCheck(auxv: Buffer | undefined): Check[] {
  if (auxv === undefined) return [];
  for (let at = 0; at + 16 <= auxv.length; at += 16) {
    // AT_PAGESZ
    if (auxv.readBigUInt64LE(at) !== 6n) continue;
    const bytes = Number(auxv.readBigUInt64LE(at + 8));
    if (bytes === pageBytes) return [];
    return [error("pages", `pages of memory have ${bytes} bytes`, `boot a kernel with pages of ${pageBytes} bytes`)];
  }
  return [];
}

/** @param text the text of `/proc/self/limits` */
export function addressSpaceCheck(text: string | undefined): Check[] {
  const [, soft] = /^Max address space\s+(\S+)/m.exec(text ?? "") ?? [];
  if (soft === undefined || soft === "unlimited") return [];
  const gibibytes = Number(soft) / 2 ** 30;
  const instances = Math.max(0, Math.floor((gibibytes - processGibibytes) / instanceGibibytes));
  const found = `it is limited to ${gibibytes.toFixed(0)} GiB, which is room for ${instances} instances at once`;
  const todo = "ulimit -v unlimited (systemd: LimitAS=infinity); a cgroup limits memory itself";
  if (instances === 0) return [error("address space", `${found}: requests are answered with 500`, todo)];
  return instances < limits.max_concurrent.default ? [note("address space", found, todo)] : [];
}

const limitsText = () => readIfThere("/proc/self/limits")?.toString("utf8");

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
