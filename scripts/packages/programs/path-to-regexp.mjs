import { compile, match } from "path-to-regexp";

export default () => [
  match("/users/:id{/posts/:post}")("/users/7/posts/%C3%A9"),
  match("/files/*path")("/files/a/b"),
  compile("/users/:id")({ id: "a b" }),
];
