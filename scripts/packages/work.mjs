// Work of packages that compute, for times.mjs: a text that says what one call does, and the call.
import { p256 } from "@noble/curves/nist.js";
import { sha3_256 } from "@noble/hashes/sha3.js";
import Ajv from "ajv";
import bcrypt from "bcryptjs";
import { addMonths, format, parseISO } from "date-fns";
import dayjs from "dayjs";
import { XMLParser } from "fast-xml-parser";
import Handlebars from "handlebars";
import { jwtVerify, SignJWT } from "jose";
import { dump, load } from "js-yaml";
import lodash from "lodash";
import { marked } from "marked";
import { nanoid } from "nanoid";
import pako from "pako";
import Papa from "papaparse";
import sanitizeHtml from "sanitize-html";
import { v4, v7 } from "uuid";
import { z } from "zod";

const people = Array.from({ length: 100 }, (_, id) => ({
  id,
  name: `Person ${id}`,
  email: `person-${id}@example.com`,
  tags: ["a", `b${id % 7}`],
}));
const csv = Papa.unparse(people.map(({ id, name, email }) => ({ id, name, email })));
const yaml = dump(people);
const xml = `<people>${people.map(({ id, name, email }) => `<person id="${id}"><name>${name}</name><email>${email}</email></person>`).join("")}</people>`;
const markdown = `# Title\n\n${"Some *text* with `code` and a [link](https://example.com).\n\n- one\n- two\n\n".repeat(20)}`;
const html = marked.parse(markdown);
const bytes = new TextEncoder().encode(JSON.stringify(people));
const packed = pako.gzip(bytes);
const key = new TextEncoder().encode("a secret of thirty-two characters");
const token = await new SignJWT({ sub: "7" }).setProtectedHeader({ alg: "HS256" }).sign(key);
const Person = z.object({ id: z.int(), name: z.string().min(1), email: z.email(), tags: z.array(z.string()) });
const People = z.array(Person);
const string = { type: "string" };
const validate = new Ajv().compile({
  type: "array",
  items: {
    type: "object",
    properties: { id: { type: "integer" }, name: string, email: string, tags: { type: "array", items: string } },
    required: ["id", "name"],
  },
});
const page = Handlebars.compile("<ul>{{#each people}}<li>{{id}}: {{name}}, {{email}}</li>{{/each}}</ul>");
const secret = new Uint8Array(32).fill(7);
const signature = p256.sign(key, secret);
const known = p256.getPublicKey(secret);
const dates = people.map(({ id }) => new Date(Date.UTC(2026, 0, 1 + id)).toISOString());

export const work = {
  bcryptjs: ["hash a password, cost 8", () => bcrypt.hash("secret", 8)],
  "@noble/curves": ["verify a signature of P-256", () => p256.verify(signature, key, known)],
  "@noble/hashes": ["SHA3-256 of 10 KB", () => sha3_256(bytes)],
  pako: ["gzip 10 KB", () => pako.gzip(bytes)],
  "pako ": ["gunzip 10 KB", () => pako.ungzip(packed)],
  jose: ["verify a token of HS256", () => jwtVerify(token, key)],
  zod: ["parse 100 objects", () => People.parse(people)],
  ajv: ["validate 100 objects", () => validate(people)],
  marked: ["render 2 KB of Markdown", () => marked.parse(markdown)],
  "sanitize-html": ["clean 4 KB of HTML", () => sanitizeHtml(html)],
  handlebars: ["render a list of 100", () => page({ people })],
  "fast-xml-parser": ["parse 100 elements", () => new XMLParser({ ignoreAttributes: false }).parse(xml)],
  "js-yaml": ["parse 100 objects", () => load(yaml)],
  papaparse: ["parse 100 rows", () => Papa.parse(csv, { header: true })],
  lodash: [
    "group, sort and clone 100 objects",
    () => lodash.cloneDeep(lodash.sortBy(lodash.groupBy(people, "tags"), "name")),
  ],
  dayjs: ["format 100 dates", () => dates.map((each) => dayjs(each).add(1, "month").format("YYYY-MM-DD HH:mm"))],
  "date-fns": ["format 100 dates", () => dates.map((each) => format(addMonths(parseISO(each), 1), "yyyy-MM-dd HH:mm"))],
  uuid: ["100 of version 4 and of 7", () => people.map(() => v4() + v7())],
  nanoid: ["100", () => people.map(() => nanoid())],
};

/** Microseconds of a call: of the quickest of several rounds, because other programs only ever make one slower. */
export async function timeOf(name, roundMs) {
  const [, run] = work[name];
  await run();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    let [calls, elapsed] = [0, 0];
    for (; elapsed < roundMs; elapsed = performance.now() - start) {
      await run();
      calls++;
    }
    best = Math.min(best, (elapsed * 1000) / calls);
  }
  return best;
}
