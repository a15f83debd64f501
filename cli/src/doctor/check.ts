/** What was found about one thing that Tenon needs. */
export interface Check {
  /** What was looked at, such as `cache folder`. */
  readonly name: string;
  /**
   * `ok`; `note`: Tenon works without it, or works around it; `error`: something of Tenon does not work until it is mended.
   */
  readonly state: "ok" | "note" | "error";
  /** What was found. */
  readonly found: string;
  /** What to do about it; undefined when there is nothing to do. */
  readonly todo?: string;
}

export const ok = (name: string, found: string): Check => ({ name, state: "ok", found });
export const note = (name: string, found: string, todo?: string): Check => withTodo("note", name, found, todo);
export const error = (name: string, found: string, todo?: string): Check => withTodo("error", name, found, todo);

function withTodo(state: Check["state"], name: string, found: string, todo: string | undefined): Check {
  return todo === undefined ? { name, state, found } : { name, state, found, todo };
}
