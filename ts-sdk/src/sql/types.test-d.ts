/** Uses that the compiler rejects: `tsc` checks this file, in which each `@ts-expect-error` must be one. */
import { field, list, type Row, Type } from "../index.ts";
import {
  all,
  bool,
  Cursor,
  type Filter,
  ids,
  int,
  type PageInfo,
  pageInfo,
  parseFilter,
  type Statement,
  sqlCount,
  sqlCreate,
  sqlDelete,
  sqlite,
  sqlRead,
  sqlUpdate,
  str,
  table,
  type Value,
} from "./index.ts";

const User = Type("User", {
  id: field.u32(),
  name: field.string(),
  email: field.string().optional(),
  age: field.u32({ default: 1 }),
  active: field.bool(),
  role: field.enum("admin", "member"),
  tags: list(field.string()),
});
const users = table(User);
const text: string = "x";
const unsure: string | undefined = undefined;

// Valid uses compile, with and without a dialect.
const [sql, params]: Statement = sqlRead(users, {
  select: ["id", "tags"],
  filter: {
    active: bool(true),
    age: { $gte: 18, $lt: int("65") },
    email: null,
    role: { $in: ["admin", "member"] },
    name: { $starts_with: "a", $ne: text },
    $or: [{ id: 7 }, { $not: { email: { $in: ["x", null] } } }],
  },
  merge: parseFilter("{}"),
  allow: ["name", "age"],
  denyOps: ["$like", "$or"],
  allowOps: ["$regex"],
  order: ["-age", "name"],
  key: "id",
  limit: 20,
  after: unsure,
});
export const used: [string, Value[]] = [sql, params];
sqlRead(sqlite, users, { order: "-id", allow: { age: ["$gte", "$lt"] } });
sqlRead(users, { merge: { name: "x" }, filter: all });
sqlCreate(users, { name: str(text), age: int(7), email: null, returning: ["id"] });
sqlUpdate(users, { set: { role: "admin" }, filter: { id: int(7) }, returning: ["id"] });
sqlDelete(sqlite, users, { filter: all });

// Counts, many rows and conflicts.
sqlCount(users, { filter: { active: true }, merge: parseFilter("{}"), allow: ["name"], maxDepth: 2 });
sqlCount(sqlite, users);
sqlCount("users", { filter: all });
sqlCreate(users, [
  { id: 1, name: text },
  { id: int(7), name: "y" },
]);
sqlCreate(sqlite, users, [{ id: 1, email: null }], { returning: ["id"], onConflict: { nothing: true } });
sqlCreate(users, { id: 1, name: "x", onConflict: { columns: ["id"], set: { name: "y" } }, returning: ["id"] });
sqlCreate(users, { id: 1, name: "x", onConflict: { columns: ["id"], set: "excluded" } });
sqlCreate("users", { id: 1, name: "x", onConflict: { columns: ["id"], set: { name: "y" } }, returning: ["id"] });
sqlCreate("users", [{ id: 1 }], { onConflict: { columns: ["id"], nothing: true } });
const rowsOf: readonly { readonly id: number; readonly name: string }[] = [];
sqlCreate(users, rowsOf);
sqlCreate("users", rowsOf);
// @ts-expect-error a count has no order
sqlCount(users, { order: "id" });
// @ts-expect-error
sqlCount(users, { filter: { nam: "x" } });
// @ts-expect-error
sqlCreate(users, [{ nam: "x" }]);
// @ts-expect-error
sqlCreate(users, [{ name: 7 }]);
// @ts-expect-error a required column is never NULL
sqlCreate(users, [{ name: null }]);
// @ts-expect-error
sqlCreate(users, [{ name: "x" }], { returning: ["nam"] });
sqlCreate(users, { name: "x" }, { returning: ["id"] });
// @ts-expect-error
sqlCreate(sqlite, users, { name: "x" }, { returning: ["nam"] });
// @ts-expect-error
sqlCreate(users, [{ name: "x" }], { onConflict: { columns: ["nam"], nothing: true } });
// @ts-expect-error
sqlCreate(users, { name: "x", onConflict: { columns: ["id"], set: { nam: "y" } } });
// @ts-expect-error
sqlCreate(users, { name: "x", onConflict: { columns: ["id"], set: { name: 7 } } });
// @ts-expect-error either set or nothing
sqlCreate(users, { name: "x", onConflict: { columns: ["id"] } });
// @ts-expect-error either set or nothing
sqlCreate(users, { name: "x", onConflict: { columns: ["id"], set: { name: "y" }, nothing: true } });
// @ts-expect-error another word
sqlCreate(users, { name: "x", onConflict: { columns: ["id"], set: "exclude" } });
// @ts-expect-error a value is needed
sqlCreate("users", [{ name: unsure }]);

// Rows and filters whose types are interfaces, which have no index signature.
interface Person {
  id: number;
  name: string;
  note?: string | undefined;
}
interface Wanted {
  active?: boolean;
  age?: { $gte: number };
}
const person: Person = { id: 1, name: "x" };
const wanted: Wanted = { age: { $gte: 18 } };
const adults: Filter<Person> = { id: { $gt: 1 }, note: null };
sqlRead<Person>("people", { filter: adults, select: ["id"] });
sqlCreate<Person>("people", { id: person.id, name: person.name });
sqlRead("people", { filter: { ...wanted } });
sqlRead("people", { filter: wanted, limit: 20 });
sqlRead(sqlite, "people", { filter: wanted });
sqlCount("people", { filter: wanted, merge: parseFilter("{}"), allow: ["name"] });
sqlUpdate("people", { set: { name: person.name }, filter: wanted });
sqlDelete(sqlite, "people", { filter: wanted, returning: ["id"] });
interface Range {
  $gte: number;
  $lt: number;
}
interface Joined {
  age: number | Range;
  $or: Wanted[];
  $not: Wanted;
}
declare const joined: Joined;
sqlRead("people", { filter: joined });
// @ts-expect-error no such column of the interface
sqlRead<Person>("people", { filter: { nam: "x" } });

// A nullable field's column may have NULL.
const Note = Type("Note", { id: field.u32(), text: field.string().nullable(), meta: field.json() });
sqlCreate(table(Note), [{ id: 1, text: null }]);
sqlUpdate(table(Note), { set: { text: null }, filter: { text: { $ne: null } } });
// @ts-expect-error any JSON is no single value
sqlCreate(table(Note), { meta: {} });

// A misspelt column.
// @ts-expect-error
sqlRead(users, { select: ["nam"] });
// @ts-expect-error
sqlRead(users, { filter: { nam: "x" } });
// @ts-expect-error
sqlRead(users, { filter: { $or: [{ id: 1 }, { nam: "x" }] } });
// @ts-expect-error
sqlRead(users, { filter: { $not: { nam: "x" } } });
// @ts-expect-error
sqlRead(users, { order: "nam" });
// @ts-expect-error
sqlRead(users, { order: ["id", "-nam"] });
// @ts-expect-error
sqlRead(users, { allow: ["nam"] });
// @ts-expect-error
sqlRead(users, { allow: { nam: ["$eq"] } });
// @ts-expect-error
sqlRead(users, { key: "nam" });
// @ts-expect-error
sqlRead(users, { notNull: ["nam"] });
// @ts-expect-error
sqlCreate(users, { nam: "x" });
// @ts-expect-error
sqlCreate(users, { name: "x", returning: ["nam"] });
// @ts-expect-error
sqlUpdate(users, { set: { nam: "x" }, filter: all });
// @ts-expect-error
sqlUpdate(users, { set: { name: "x" }, filter: { nam: "x" } });
// @ts-expect-error
sqlDelete(users, { filter: { nam: "x" } });

// A value of a wrong type.
// @ts-expect-error
sqlRead(users, { filter: { name: 7 } });
// @ts-expect-error
sqlRead(users, { filter: { id: "7" } });
// @ts-expect-error
sqlRead(users, { filter: { id: { $in: ["7"] } } });
// @ts-expect-error
sqlRead(users, { filter: { age: { $between: [1] } } });
// @ts-expect-error
sqlRead(users, { filter: { age: { $between: [1, "2"] } } });
// @ts-expect-error
sqlRead(users, { filter: { active: 1 } });
// @ts-expect-error
sqlRead(users, { filter: { role: "owner" } });
// @ts-expect-error a required field is never NULL
sqlRead(users, { filter: { name: null } });
// @ts-expect-error comparisons are never with NULL
sqlRead(users, { filter: { email: { $gt: null } } });
// @ts-expect-error
sqlRead(users, { filter: { name: unsure } });
// @ts-expect-error
sqlRead(users, { filter: { name: { $eq: unsure } } });
// @ts-expect-error a list is no single value
sqlRead(users, { filter: { tags: "x" } });
// @ts-expect-error
sqlCreate(users, { name: 7 });
// @ts-expect-error
sqlUpdate(users, { set: { name: null }, filter: all });

// An unknown operator, or one that the column does not have.
// @ts-expect-error
sqlRead(users, { filter: { age: { $gtee: 7 } } });
// @ts-expect-error
sqlRead(users, { filter: { age: { $starts_with: "7" } } });
// @ts-expect-error
sqlRead(users, { filter: { $nor: [{ id: 1 }] } });
// @ts-expect-error
sqlRead(users, { denyOps: ["$lik"] });
// @ts-expect-error
sqlRead(users, { allow: { age: ["$gtee"] } });
// @ts-expect-error
sqlRead(users, { allowOps: ["$eq"] });

// Options that are missing, or unknown.
// @ts-expect-error
sqlRead(users, { filtre: {} });
// @ts-expect-error
sqlDelete(users, {});
// @ts-expect-error
sqlDelete("users");
// @ts-expect-error
sqlUpdate("users", { set: { a: 1 } });

// The compiler points at the wrong column, option or value, and not at the call as a whole.
sqlRead("users", {
  // @ts-expect-error
  filtre: {},
});
sqlRead("users", {
  // @ts-expect-error
  limit: "20",
});
sqlRead("users", {
  limit: 20,
  filter: {
    // @ts-expect-error
    age: { $gtee: 7 },
  },
});
sqlRead(users, {
  filter: {
    // @ts-expect-error
    nme: "x",
  },
});
sqlRead(table(User), {
  filter: {
    id: 7,
    // @ts-expect-error
    name: 7,
  },
});
sqlRead(users, {
  limit: 20,
  // @ts-expect-error
  order: ["-nme"],
});
sqlRead(sqlite, users, {
  // @ts-expect-error
  filtre: {},
});
sqlCreate(users, {
  name: "x",
  // @ts-expect-error
  nme: "x",
});
sqlCreate("users", {
  // @ts-expect-error
  name: {},
});
sqlCreate(users, [
  {
    name: "x",
    // @ts-expect-error
    nme: "x",
  },
]);
sqlCount(users, {
  filter: {
    // @ts-expect-error
    nme: "x",
  },
});
sqlUpdate(users, {
  set: {
    // @ts-expect-error
    nme: "x",
  },
  filter: all,
});
sqlUpdate("users", {
  set: { name: "x" },
  // @ts-expect-error
  filtre: all,
});
sqlDelete(users, {
  filter: {
    // @ts-expect-error
    nme: "x",
  },
});
sqlDelete("users", {
  filter: all,
  // @ts-expect-error
  limit: 20,
});

// Without a schema any column goes, but operators and values are still checked.
const column: string = "name";
sqlRead("users", {
  select: [column],
  filter: { name: "x", "u.age": { $gt: 1 }, [column]: 1, $or: [{ a: 1 }, { b: null }] },
  order: [`-${column}`],
});
sqlCreate("users", { name: "x", age: 7, gone: null, returning: ["id"] });
sqlUpdate("users", { set: { [column]: 7n }, filter: { id: 7 } });
sqlRead("users", {
  filter: { active: bool(true), age: { $gte: 18, $lt: 65 } },
  merge: parseFilter("{}"),
  allow: ["name", "age"],
  denyOps: ["$like"],
  maxDepth: 5,
  order: ["-created_at", "name"],
});
// @ts-expect-error
sqlRead("users", { filter: { age: { $gtee: 7 } } });
// @ts-expect-error
sqlRead("users", { filter: { $nor: [{ a: 1 }] } });
// @ts-expect-error
sqlRead("users", { filter: { age: new Date() } });
// @ts-expect-error
sqlRead("users", { filter: { age: unsure } });
// @ts-expect-error
sqlCreate("users", { name: {} });

// Results.
export const numbers: number[] = ids([{ id: 1 }]);
export const texts: string[] = ids([{ user: "x" as string | null }], "user");
const loose: Record<string, unknown>[] = [];
sqlRead("users", { filter: { id: { $in: ids(loose) }, team: { $in: ids(loose, "team") } } });
sqlRead(users, { filter: { id: { $in: ids([{ id: 7 }]) } } });
const rows: Row[] = [];
sqlRead("users", { filter: { id: { $in: ids(rows, "user_id") }, team: { $in: ids(rows) } } });
export const rowIds: (string | number | boolean)[] = ids(rows, "user_id");
// @ts-expect-error
ids([{ name: "x" }]);
// @ts-expect-error
ids([{ name: "x" }], "nam");
export const page: PageInfo = pageInfo([{ id: 1 }], { order: "id", limit: 1 }).page;
export const decoded: Cursor = Cursor.decode(
  new Cursor().string("a", "x").int("b", 7).float("c", 0.5).bool("d", true).null("e").encode(),
);
export const filter: Filter = parseFilter("{}");

// A filter that is an interface is checked as strictly as any other.
interface WrongOperator {
  age: { $gtee: number; $lt: number };
}
declare const wrongOperator: WrongOperator;
// @ts-expect-error
sqlRead("users", { filter: wrongOperator });
// @ts-expect-error
sqlRead(sqlite, "users", { filter: wrongOperator });
// @ts-expect-error
sqlCount("users", { filter: wrongOperator });
// @ts-expect-error
sqlUpdate("users", { set: { a: 1 }, filter: wrongOperator });
// @ts-expect-error
sqlDelete("users", { filter: wrongOperator });
interface WrongJoin {
  $nor: Wanted[];
}
declare const wrongJoin: WrongJoin;
// @ts-expect-error
sqlRead("users", { filter: wrongJoin });
interface WrongInside {
  $or: WrongOperator[];
}
declare const wrongInside: WrongInside;
// @ts-expect-error
sqlRead("users", { filter: wrongInside });
interface WrongList {
  $and: string;
}
declare const wrongList: WrongList;
// @ts-expect-error
sqlRead("users", { filter: wrongList });
interface WrongValue {
  age: Date;
}
declare const wrongValue: WrongValue;
// @ts-expect-error
sqlRead("users", { filter: wrongValue });
interface WrongOperand {
  age: { $gte: string[] };
}
declare const wrongOperand: WrongOperand;
// @ts-expect-error
sqlRead("users", { filter: wrongOperand });
interface Unsure {
  age: number | undefined;
}
declare const unsureFilter: Unsure;
// @ts-expect-error
sqlRead("users", { filter: unsureFilter });
declare const perhaps: Wanted | undefined;
// @ts-expect-error
sqlRead("users", { filter: perhaps });
declare const anything: object;
// @ts-expect-error
sqlRead("users", { filter: anything });
// @ts-expect-error
sqlRead("users", { filter: [] });
// @ts-expect-error
sqlRead("users", { filter: new Date() });
// @ts-expect-error
sqlRead("users", { filter: () => 7 });
// @ts-expect-error
sqlRead("users", { filter: wanted, limit: "20" });
// @ts-expect-error
sqlRead("users", { filter: wanted, filtre: {} });
// @ts-expect-error the row is a type argument, and has no such column
sqlRead<Person>("people", { filter: { id: 1, name: "x" }, order: "nam" });
