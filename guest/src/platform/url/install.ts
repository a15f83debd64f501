/** Defines the globals `URL` and `URLSearchParams`. */
import { installInterfaces } from "../interface.ts";
import { URLSearchParams } from "./search-params.ts";
import { URL } from "./url.ts";

installInterfaces({ URL, URLSearchParams });
