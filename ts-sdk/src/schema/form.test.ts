import { describe, expect, it } from "vitest";
import { warmUp } from "../app/warm-up.ts";
import { Form, field, list, ok, Path, post, Query, routes, Type } from "../index.ts";
import { json } from "../openapi/index.ts";
import { testApp } from "../testing/index.ts";

const Plain = Form("Plain", {
  name: field.string({ max: 5 }),
  age: field.u32({ default: 7 }),
  tags: list(field.string()).optional(),
});
const Profile = Form("Profile", {
  name: field.string(),
  picture: field.file({ max: 4, types: ["image/png", "text/*"] }).optional(),
  more: list(field.file(), { max: 2 }).optional(),
});
const shown = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (_key, each) => (each instanceof Uint8Array ? Buffer.from(each).toString() : each)));
const app = routes({
  plain: post("/plain", { body: Plain }, ({ body }) => ok(shown(body))),
  maybe: post("/maybe", { body: Plain.optional() }, ({ body }) => ok({ body: shown(body ?? null) })),
  profile: post("/profile", { body: Profile }, ({ body }) => ok(shown(body))),
});
const test = testApp(app);

const urlencoded = (path: string, body: string | Uint8Array) =>
  test.post(path, { headers: { "content-type": "application/x-www-form-urlencoded" }, body });
const multipart = (path: string, body: string | Uint8Array, contentType = "multipart/form-data; boundary=b") =>
  test.post(path, { headers: { "content-type": contentType }, body });
const part = (head: string, content: string, more = "") =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n${more}\r\n${content}\r\n`;
const form = (...parts: string[]) => `${parts.join("")}--b--\r\n`;
const errors = (answer: { json(): unknown }) =>
  (answer.json() as { errors: { in: string; pointer: string; code: string }[] }).errors.map(
    (each) => `${each.in} ${each.pointer} ${each.code}`,
  );

describe("application/x-www-form-urlencoded", () => {
  it.each<[string, unknown]>([
    ["name=Ada", { name: "Ada", age: 7 }],
    ["name=A%C3%A4+b&age=8&tags=x&tags=y", { name: "Aä b", age: 8, tags: ["x", "y"] }],
    ["name=x&name=y&unknown=%zz", { name: "y", age: 7 }],
    ["name=ä", { name: "ä", age: 7 }],
    ["name=&&age=1", { name: "", age: 1 }],
  ])("%s", async (body, expected) => {
    const answer = await urlencoded("/plain", body);
    expect([answer.status, answer.json()]).toEqual([200, expected]);
  });

  it.each<[string | Uint8Array, string[]]>([
    ["age=x", ["body #/name required", "body #/age type"]],
    ["name=toolong", ["body #/name max"]],
    ["name=%zz", ["body #/name format"]],
    ["constructor=1", ["body #/name required"]],
    ["__proto__=1", ["body #/name required"]],
    [new Uint8Array([0xff]), ["body # format"]],
  ])("%j is 400", async (body, expected) => {
    const answer = await urlencoded("/plain", body);
    expect([answer.status, errors(answer)]).toEqual([400, expected]);
  });
});

describe("multipart/form-data (RFC 7578)", () => {
  it("takes fields and files", async () => {
    const body = form(
      part('name="name"', "A\r\nb"),
      part('name="picture"; filename="a.png"', "\r\n--", "Content-Type: image/png\r\n"),
      part('name="more"; filename="1.txt"', "one"),
      part('name="more"; filename="2.txt"', "", "Content-Type: text/plain; charset=utf-8\r\n"),
      part('name="unknown"; filename="x"', "ignored"),
    );
    expect((await multipart("/profile", body)).json()).toEqual({
      name: "A\r\nb",
      picture: { name: "a.png", type: "image/png", bytes: "\r\n--" },
      more: [
        { name: "1.txt", type: "application/octet-stream", bytes: "one" },
        { name: "2.txt", type: "text/plain; charset=utf-8", bytes: "" },
      ],
    });
  });

  it("takes what Node's own FormData sends", async () => {
    const data = new FormData();
    data.set("name", 'Ä"\r\n');
    data.append("picture", new File(["abc"], 'q"uo\nte.txt', { type: "text/plain" }));
    const request = new Request("http://a/", { method: "POST", body: data });
    const contentType = request.headers.get("content-type") as string;
    const answer = await multipart("/profile", new Uint8Array(await request.arrayBuffer()), contentType);
    expect(answer.json()).toEqual({
      name: 'Ä"\r\n',
      picture: { name: 'q"uo\nte.txt', type: "text/plain", bytes: "abc" },
    });
  });

  it("keeps bytes as they are", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    let seen: Uint8Array | undefined;
    const raw = routes({
      a: post("/a", { body: Form("Raw", { file: field.file() }) }, ({ body }) => {
        seen = body.file.bytes;
        return ok({});
      }),
    });
    const before = Buffer.from(part('name="file"; filename="x"', "").slice(0, -2));
    const body = Buffer.concat([before, bytes, bytes, Buffer.from("\r\n--b--")]);
    await testApp(raw).post("/a", { headers: { "content-type": "multipart/form-data; boundary=b" }, body });
    expect(seen).toEqual(Uint8Array.from([...bytes, ...bytes]));
  });

  it.each([
    ["a preamble and an epilogue", `ignored\r\n${form(part('name="name"', "x"))}ignored`, undefined],
    ["spaces behind the boundary", "--b \t\r\nContent-Disposition: form-data; name=name\r\n\r\nx\r\n--b--", undefined],
    ["a quoted boundary", form(part('name="name"', "x")), 'multipart/form-data; charset=utf-8; boundary="b"'],
    ["another case", form(part('NAME="name"', "x")), "Multipart/Form-Data; Boundary=b"],
    ["no file chosen", form(part('name="name"', "x"), part('name="picture"; filename=""', "")), undefined],
    ["a boundary inside a line", form(part('name="name"', "x"), part('name="z"', "a--b\r\n-b")), undefined],
  ])("takes %s", async (_what, body, contentType) => {
    const answer = await multipart("/profile", body, contentType);
    expect([answer.status, answer.json()]).toEqual([200, { name: "x" }]);
  });

  it("of a file's name only what stands behind its folders", async () => {
    const names = ["../../etc/passwd", "C:\\\\x\\\\passwd", "passwd", "/passwd"];
    for (const name of names) {
      const answer = await multipart(
        "/profile",
        form(part('name="name"', "x"), part(`name="more"; filename="${name}"`, "x")),
      );
      expect((answer.json() as { more: { name: string }[] }).more[0]?.name).toBe("passwd");
    }
  });

  it.each<[string, string, string[]]>([
    [
      "a file too large",
      form(part('name="name"', "x"), part('name="picture"; filename="x"', "12345", "Content-Type: image/png\r\n")),
      ["body #/picture max"],
    ],
    [
      "a file of another type",
      form(part('name="name"', "x"), part('name="picture"; filename="x"', "1", "Content-Type: image/gif\r\n")),
      ["body #/picture type"],
    ],
    [
      "a file too large of another type",
      form(part('name="name"', "x"), part('name="picture"; filename="x"', "12345")),
      ["body #/picture max", "body #/picture type"],
    ],
    [
      "a text in the place of a file",
      form(part('name="name"', "x"), part('name="picture"', "x")),
      ["body #/picture type"],
    ],
    ["a file in the place of a text", form(part('name="name"; filename="x"', "x")), ["body #/name type"]],
    [
      "too many files",
      form(part('name="name"', "x"), ...[1, 2, 3].map((n) => part(`name="more"; filename="${n}"`, "x"))),
      ["body #/more max"],
    ],
    ["a missing field", form(part('name="other"', "x")), ["body #/name required"]],
    ["no end", part('name="name"', "x"), ["body # format"]],
    ["no boundary at all", "x", ["body # format"]],
    ["no line break behind the boundary", "--bx\r\n\r\n--b--", ["body # format"]],
    ["no empty line", "--b\r\nContent-Disposition: form-data; name=name\r\nx--b--", ["body # format"]],
    ["no disposition", "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", ["body # format"]],
    ["another disposition", "--b\r\nContent-Disposition: attachment; name=name\r\n\r\nx\r\n--b--", ["body # format"]],
    ["no name", form(part("filename=x", "x")), ["body # format"]],
    ["headers without end", `--b\r\nX: ${"x".repeat(20_000)}\r\n\r\nx\r\n--b--`, ["body # format"]],
    ["very many parts", form(...Array.from({ length: 1001 }, () => part('name="x"', ""))), ["body # format"]],
  ])("%s is 400", async (_what, body, expected) => {
    const answer = await multipart("/profile", body);
    expect([answer.status, errors(answer)]).toEqual([400, expected]);
  });

  it.each(["", "boundary=", `boundary=${"x".repeat(71)}`, 'boundary="b "', "boundary=b@"])(
    "a content type with the parameter %j is 400",
    async (parameter) => {
      const answer = await multipart("/profile", form(part('name="name"', "x")), `multipart/form-data; ${parameter}`);
      expect([answer.status, errors(answer)]).toEqual([400, ["body # format"]]);
    },
  );

  it("a text that is no UTF-8 is 400", async () => {
    const body = Buffer.from(form(part('name="name"', "\xff")), "latin1");
    expect(errors(await multipart("/profile", body))).toEqual(["body #/name format"]);
  });
});

describe("content types", () => {
  it.each([
    ["/plain", "application/json", 415],
    ["/plain", "text/plain", 415],
    ["/plain", undefined, 415],
    ["/plain", "APPLICATION/x-www-form-urlencoded;charset=UTF-8", 200],
    ["/profile", "application/x-www-form-urlencoded", 415],
  ])("%s as %s is %d", async (path, contentType, status) => {
    const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType };
    expect((await test.post(path, { headers, body: "name=x" })).status).toBe(status);
  });

  it("says what it takes", async () => {
    expect((await test.post("/plain", { json: {} })).json()).toMatchObject({
      detail: "The body must be application/x-www-form-urlencoded or multipart/form-data.",
    });
    expect((await test.post("/profile", { json: {} })).json()).toMatchObject({
      detail: "The body must be multipart/form-data.",
    });
  });

  it("no body is a form without fields, and none where the form is optional", async () => {
    expect(errors(await test.post("/plain"))).toEqual(["body #/name required"]);
    expect((await test.post("/maybe")).json()).toEqual({ body: null });
    expect((await urlencoded("/maybe", "name=x")).json()).toEqual({ body: { name: "x", age: 7 } });
  });
});

it("is documented as what it is sent as", () => {
  const document = JSON.parse(json(app, { name: "forms" }));
  const content = (path: string) => document.paths[path].post.requestBody.content;
  const $ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  expect(content("/plain")).toEqual({
    "application/x-www-form-urlencoded": { schema: $ref("Plain") },
    "multipart/form-data": { schema: $ref("Plain") },
  });
  expect(content("/profile")).toEqual({
    "multipart/form-data": {
      schema: $ref("Profile"),
      encoding: { picture: { contentType: "image/png, text/*" } },
    },
  });
  expect(document.components.schemas.Profile.properties).toMatchObject({
    picture: { type: "string", format: "binary" },
    more: { type: "array", items: { type: "string", format: "binary" }, maxItems: 2 },
  });
});

it("is warmed up", () => {
  expect(() => warmUp(app)).not.toThrow();
});

it.each([
  ["an object inside", () => Form("F", { a: Type("A", {}) as never }), /"a" must be a single value/],
  ["null", () => Form("F", { a: field.string().nullable() as never }), /"a" is a text and must not be null/],
  ["a file in a Type", () => Type("T", { a: field.file() as never }), /Type T: "a" is a file, which must be in a Form/],
  ["files in a Type", () => Type("T", { a: list(field.file()) as never }), /"a" is a file/],
  ["a file in a Query", () => Query("Q", { a: field.file() as never }), /"a" is a file/],
  ["a file in a Path", () => Path("P", { a: field.file() as never }), /"a" is a file/],
  ["an unknown attribute", () => field.file({ maximum: 1 } as never), /field.file: unknown "maximum"/],
  ["half a byte", () => field.file({ max: 0.5 }), /"max" must be a number of bytes/],
  ["no media type", () => field.file({ types: ["png"] }), /"types" must list media types/],
  [
    "a form as an answer",
    () => post("/a", { response: Plain } as never, (() => ok({})) as never),
    /"response" must be/,
  ],
])("refuses %s", (_what, make, message) => {
  expect(make as () => unknown).toThrow(message);
});
