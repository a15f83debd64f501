import { buildSchema, graphql, parse, print } from "graphql";

const schema = buildSchema(
  "type User { name: String! friends(first: Int = 1): [User!]! } type Query { user(name: ID!): User }",
);
const person = (name) => ({ name, friends: async ({ first }) => ["Bob", "Cy"].slice(0, first).map(person) });

export default async () => [
  await graphql({
    schema,
    source: "query Q($n: ID!) { user(name: $n) { name friends(first: 2) { name } } }",
    rootValue: { user: ({ name }) => person(name) },
    variableValues: { n: "Ada" },
  }),
  await graphql({ schema, source: "{ user { nam } }" }),
  print(parse("{a(b:1){c}}")),
];
