import { bool } from "./bool.ts";
import { oneOf } from "./enum.ts";
import { f64, i32, i64, u32 } from "./number.ts";
import { string } from "./string.ts";

/** The kinds of field, each taking its attributes as one object: `field.u32({ default: 10, max: 100 })`. */
export const field = { string, u32, i32, i64, f64, bool, enum: oneOf } as const;
