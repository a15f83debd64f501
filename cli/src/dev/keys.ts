/** The keys of `tenon dev` on a terminal. */
import type { Readable } from "node:stream";

/** Actions of the keys. */
export interface KeyActions {
  /** `r` */
  rebuild(): void;
  /** `o` */
  open(): void;
  /** `?` */
  help(): void;
  /** `q` means done; Ctrl-C means interrupted. */
  quit(how: "done" | "interrupted"): void;
}

/** The output of `?`. */
export const keyHelp = [
  ["r", "build again"],
  ["o", "open the browser"],
  ["q", "quit"],
  ["?", "this list"],
] as const;

/** The source of key presses: standard input, when it is a terminal. */
export interface KeyInput extends Readable {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
}

/**
 * Listens for single keys.
 *
 * @returns a function that restores the terminal
 */
export function listenForKeys(input: KeyInput, actions: KeyActions): () => void {
  if (input.isTTY !== true || input.setRawMode === undefined) return () => {};
  input.setRawMode(true);
  const onData = (data: Buffer | string) => {
    for (const key of String(data)) press(key, actions);
  };
  input.on("data", onData);
  input.resume();
  return () => {
    input.off("data", onData);
    input.setRawMode?.(false);
    input.pause();
  };
}

function press(key: string, actions: KeyActions): void {
  switch (key) {
    case "r":
      actions.rebuild();
      break;
    case "o":
      actions.open();
      break;
    case "?":
    case "h":
      actions.help();
      break;
    case "q":
    case "\u0004": // Ctrl-D
      actions.quit("done");
      break;
    case "\u0003": // Ctrl-C, which is not a signal in raw mode
      actions.quit("interrupted");
      break;
  }
}
