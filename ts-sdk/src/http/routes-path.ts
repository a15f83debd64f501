/** Where an app lists its routes by name for typed clients, which know the names alone; behind the address of the module. */
export const ROUTES_PATH = "/.well-known/tenon-routes";

/** A route in that list: its method, and its paths with their placeholders. */
export type ListedRoute = readonly [method: string, ...paths: string[]];
