/** Defines the global `URLSearchParams` alone, which needs no functions of the Rust library. */
import { installInterfaces } from "../interface.ts";
import { URLSearchParams } from "./search-params.ts";

installInterfaces({ URLSearchParams });
