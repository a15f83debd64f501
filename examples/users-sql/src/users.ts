import { field, list, Path, Query, Type } from "@tenon/sdk";

export const Banner = Type("Banner", { service: field.string(), message: field.string() });

export const User = Type("User", {
  id: field.u32(),
  name: field.string(),
  email: field.string({ format: "email" }).nullish(),
  age: field.u32().nullish(),
  created_at: field.string({ format: "date-time" }),
});

export const NewUser = Type("NewUser", {
  name: field.string({ min: 1, max: 100 }),
  email: field.string({ format: "email" }).nullish(),
  age: field.u32({ max: 150 }).nullish(),
});

export const Changes = Type("Changes", {
  name: field.string({ min: 1, max: 100 }).optional(),
  email: field.string({ format: "email" }).nullish(),
  age: field.u32({ max: 150 }).nullish(),
});

export const PageInfo = Type("PageInfo", {
  has_next: field.bool(),
  has_prev: field.bool(),
  next_cursor: field.string().nullish(),
  prev_cursor: field.string().nullish(),
});

export const Users = Type("Users", { users: list(User), page: PageInfo });

export const UserId = Path("UserId", { id: field.u32() });

export const Search = Query("Search", {
  filter: field.string({ docs: 'A filter, such as {"age":{"$gte":18}}' }).optional(),
  after: field.string({ docs: "next_cursor of the previous page" }).optional(),
  before: field.string({ docs: "prev_cursor of the next page" }).optional(),
  limit: field.u32({ default: 20, min: 1, max: 100 }),
});
