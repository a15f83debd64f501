/** The result of one check of the environment. */
export interface Check {
  /** Subject of the check, such as `cache folder`. */
  readonly name: string;
  /**
   * `ok`; `note`: Tenon works without it or around it; `error`: a part of Tenon does not work until it is fixed.
   */
  readonly state: "ok" | "note" | "error";
  /** Result of the check. */
  readonly found: string;
  /** Advice to the user; undefined when nothing needs to be done. */
  readonly todo?: string;
}

export const ok = (name: string, found: string): Check => ({ name, state: "ok", found });
export const note = (name: string, found: string, todo?: string): Check => withTodo("note", name, found, todo);
export const error = (name: string, found: string, todo?: string): Check => withTodo("error", name, found, todo);

function withTodo(state: Check["state"], name: string, found: string, todo: string | undefined): Check {
  return todo === undefined ? { name, state, found } : { name, state, found, todo };
}
