/**
 * The path, after the module's address, of the list of routes by name. Typed clients read it, because they know the
 * names alone.
 */
export const ROUTES_PATH = "/.well-known/tenon-routes";

/** A route in that list: its method, and its paths with their placeholders. */
export type ListedRoute = readonly [method: string, ...paths: string[]];
