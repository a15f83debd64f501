import { expect, test } from "vitest";
import { statementsOf } from "./statements.ts";

test.each([
  ["", []],
  ["-- only a comment;\n/* and; another */", []],
  ["CREATE TABLE a (b TEXT); CREATE TABLE c (d TEXT);\n", ["CREATE TABLE a (b TEXT)", "CREATE TABLE c (d TEXT)"]],
  ["INSERT INTO a VALUES ('it''s; fine')", ["INSERT INTO a VALUES ('it''s; fine')"]],
  ['SELECT "a;b" FROM c; -- end;\nSELECT 1', ['SELECT "a;b" FROM c', "SELECT 1"]],
  ["DO $$ BEGIN x; END $$; SELECT 1", ["DO $$ BEGIN x; END $$", "SELECT 1"]],
  ["DO $a$ $$; $b$ $a$; SELECT $1", ["DO $a$ $$; $b$ $a$", "SELECT $1"]],
  [
    "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET b = CASE WHEN 1 THEN 2 END; DELETE FROM c; END; SELECT 1",
    [
      "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET b = CASE WHEN 1 THEN 2 END; DELETE FROM c; END",
      "SELECT 1",
    ],
  ],
])("%j", (text, statements) => {
  expect(statementsOf(text)).toEqual(statements);
});
