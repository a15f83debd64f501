/** `@tenon/sdk/fetch-classes`: replaces the engine's `fetch` and its classes. `tenon build` adds it to a handler that uses them. */
import { installFetchClasses } from "./install.ts";

installFetchClasses();
