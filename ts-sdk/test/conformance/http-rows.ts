import { FAILURE, type Row } from "./row.ts";

type Headers = [string, string][];

const json: Headers = [["content-type", "application/json"]];
const PROBLEM = { "content-type": ["application/problem+json"] };
const JSON_TYPE = { "content-type": ["application/json"] };

function get(path: string, status: number, more: Partial<Row> = {}): Row {
  return { method: "GET", path, status, ...more };
}

function post(path: string, body: string | Uint8Array | undefined, status: number, more: Partial<Row> = {}): Row {
  return { method: "POST", path, ...(body === undefined ? {} : { body }), status, ...more };
}

const user = '{"id":1,"name":"Ada"}';
const ada = { id: 1, name: "Ada" };
const typed = (type: string, status: number): Row =>
  post("/users", user, status, { headers: [["Content-Type", type]], has: status === 201 ? JSON_TYPE : PROBLEM });

/**
 * Deeper than JSON.stringify gets in the component's engine, with values that it omits and values that it writes as
 * null.
 */
const deep = `${'[{"a":'.repeat(500)}"é\\n"${"}]".repeat(500)}`;

/** Routing and methods. */
export const routingRows: Row[] = [
  get("/", 200, { json: { service: "conformance" }, has: JSON_TYPE }),
  get("", 200, { json: { service: "conformance" } }),
  get("/?a=b", 200, { json: { service: "conformance" } }),
  get("?a=b", 200, { json: { service: "conformance" } }),
  get("//", 404, { has: PROBLEM }),
  get("/route/literal", 200, { json: { route: "literal" } }),
  get("/route/literal?x", 200, { json: { route: "literal" } }),
  get("/route/l%69teral", 200, { json: { route: "literal" } }),
  get("/route/other", 200, { json: { route: "other" } }),
  get("/route/Literal", 200, { json: { route: "Literal" } }),
  get("/route/literal%2Fdeep", 200, { json: { route: "literal/deep" } }),
  get("/route/literal/deep", 200, { json: { route: "deep" } }),
  get("/route/literal/deeper", 200, { json: { route: "deeper" } }),
  get("/route/other/deeper", 200, { json: { route: "deeper" } }),
  get("/route/other/deep", 404, { has: PROBLEM }),
  get("/route/literal/", 404),
  get("/route/", 404),
  get("/route", 404),
  get("/route//deeper", 404),
  get("/Route/literal", 404),
  get("/slash/", 200, { json: { route: "with slash" } }),
  get("/slash", 404),
  get("/caf%C3%A9/%C3%BC", 200, { json: { route: "encoded" } }),
  get("/caf%c3%a9/%c3%bc", 200, { json: { route: "encoded" } }),
  get("/caf%C3%A9/ü", 200, { json: { route: "encoded" } }),
  get("/caf%C3/ü", 400, { errors: ["path # format"] }),
  get("/nowhere/%zz", 400, { errors: ["path # format"] }),
  get("/pair/x/7", 200, { json: { path: { a: "x", b: 7 }, query: {} } }),
  get("/pair/%7Bb%7D/7?q=%26&tags=1&tags=2", 200, {
    json: { path: { a: "{b}", b: 7 }, query: { q: "&", tags: ["1", "2"] } },
  }),
  get("/pair/__proto__/7", 200, { json: { path: { a: "__proto__", b: 7 }, query: {} } }),
  get("/pair/x/y", 400, { errors: ["path #/b type"] }),
  get("/pair//7", 404),
  get("/constructor", 404),
  get("/__proto__", 404),
  get("nowhere", 404),
  get("*", 404),
  get("/users", 405, { has: { allow: ["POST, OPTIONS"], ...PROBLEM } }),
  get("/users/1", 405, { has: { allow: ["PATCH, DELETE, OPTIONS"] } }),
  // A path without `{name}` has its own methods, whatever those of /route/{name}.
  get("/route/known", 405, { has: { allow: ["POST, OPTIONS"] } }),
  get("/route/kn%6Fwn", 405, { has: { allow: ["POST, OPTIONS"] } }),
  { method: "POST", path: "/route/known", status: 200, json: { route: "known" } },
  { method: "POST", path: "/route/literal", status: 405, has: { allow: ["GET, HEAD, PUT, OPTIONS"] } },
  { method: "POST", path: "/route/other", status: 405, has: { allow: ["GET, HEAD, OPTIONS"] } },
  { method: "PUT", path: "/route/literal", status: 200, json: { route: "put" } },
  { method: "PUT", path: "/route/other", status: 405, has: { allow: ["GET, HEAD, OPTIONS"] } },
  { method: "TRACE", path: "/users", status: 405, has: { allow: ["POST, OPTIONS"] } },
  { method: "post", path: "/users", status: 405 },
  { method: "", path: "/users", status: 405 },
  { method: "__proto__", path: "/users", status: 405 },
  { method: "OPTIONS", path: "/users", status: 204, text: "", has: { allow: ["POST, OPTIONS"] } },
  { method: "OPTIONS", path: "/", status: 204, text: "", has: { allow: ["GET, HEAD, OPTIONS"] } },
  { method: "OPTIONS", path: "/nowhere", status: 404 },
  { method: "HEAD", path: "/", status: 200, text: "", has: { "content-length": ["25"], ...JSON_TYPE } },
  { method: "HEAD", path: "/route/other", status: 200, text: "", has: { "content-length": ["17"] } },
  {
    method: "HEAD",
    path: "/html",
    status: 200,
    text: "",
    has: { "content-length": ["9"], "content-type": ["text/html"] },
  },
  { method: "HEAD", path: "/nowhere", status: 404, text: "", has: PROBLEM },
  { method: "HEAD", path: "/users", status: 405, text: "" },
  { method: "HEAD", path: "/query/u32?v=x", status: 400, text: "", has: PROBLEM },
  { method: "HEAD", path: "/throw", status: 500, text: "", has: PROBLEM },
  {
    method: "PATCH",
    path: "/users/a%20b?c=d%20e",
    status: 200,
    json: { method: "PATCH", path: "/users/a%20b", query: "c=d%20e" },
  },
  { method: "DELETE", path: "/users/1", status: 204, text: "" },
  { method: "HEAD", path: "/users/1", status: 405, text: "" },
];

/** Complete bodies: media types, encodings, hostile JSON. */
export const bodyRows: Row[] = [
  post("/users", user, 201, { json: ada, has: { location: ["/users/1"], ...JSON_TYPE } }),
  post("/users", '{"id":1,"name":""}', 400, {
    json: { type: "about:blank", title: "Bad Request", status: 400, detail: "name must not be empty" },
    has: PROBLEM,
  }),
  typed("application/json", 201),
  typed("application/json; charset=utf-8", 201),
  typed("APPLICATION/JSON ;charset=utf-8", 201),
  typed("application/vnd.api+json", 201),
  typed("application/problem+json;x=y", 201),
  typed("", 201),
  typed("text/plain", 415),
  typed("application/jsonp", 415),
  typed("application/json5", 415),
  typed("text/json", 415),
  typed("json", 415),
  typed("application/x-www-form-urlencoded", 415),
  typed("multipart/form-data; boundary=application/json", 415),
  post("/users", user, 415, { headers: [...json, ["content-type", "text/plain"]] }),
  post("/users", user, 415, { headers: [["content-type", ""], ...json] }),
  // A header name of the same length.
  post("/users", user, 201, { headers: [["x-content-is", "text/plain"], ...json] }),
  // An absent header counts as none.
  post("/users", undefined, 400, { errors: ["body # required"], headers: [["content-type", "text/plain"]] }),
  post("/users", "", 400, { errors: ["body # required"], headers: [["content-type", "text/plain"]] }),
  post("/users", undefined, 400, { errors: ["body # required"] }),
  post("/users", "", 400, { errors: ["body # required"], headers: json }),
  post("/users", " ", 400, { errors: ["body # json"] }),
  post("/users", "{", 400, { errors: ["body # json"] }),
  post("/users", "{'id':1}", 400, { errors: ["body # json"] }),
  post("/users", '{"id":1,}', 400, { errors: ["body # json"] }),
  post("/users", '{"id":NaN}', 400, { errors: ["body # json"] }),
  post("/users", `${user}x`, 400, { errors: ["body # json"] }),
  post("/users", `${user}${user}`, 400, { errors: ["body # json"] }),
  post("/users", "undefined", 400, { errors: ["body # json"] }),
  post("/users", new Uint8Array([0xff, 0xfe, 0x7b, 0x00]), 400, { errors: ["body # json"] }),
  post("/users", new Uint8Array([0x22, 0xc3, 0x28, 0x22]), 400, { errors: ["body # json"] }),
  post("/users", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), 400, { errors: ["body # json"] }),
  post("/users", `\ufeff${user}`, 201, { json: ada }),
  post("/users", ` \n\t${user}\r\n`, 201, { json: ada }),
  post("/users", "null", 400, { errors: ["body # type"] }),
  post("/users", "[]", 400, { errors: ["body # type"] }),
  post("/users", "1", 400, { errors: ["body # type"] }),
  post("/users", '"text"', 400, { errors: ["body # type"] }),
  post("/users", "{}", 400, { errors: ["body #/id required", "body #/name required"] }),
  post("/users", '{"name":1,"id":"1"}', 400, { errors: ["body #/id type", "body #/name type"] }),
  post("/users", '{"id":1,"id":2,"name":"Ada"}', 201, { json: { id: 2, name: "Ada" } }),
  post("/users", '{"id":1,"id":"x","name":"Ada"}', 400, { errors: ["body #/id type"] }),
  post("/users", '{"__proto__":{"id":1,"name":"x"}}', 400, { errors: ["body #/id required", "body #/name required"] }),
  post("/users", '{"__proto__":{"admin":true},"id":1,"name":"Ada"}', 201, { json: ada }),
  post("/users", '{"constructor":{"prototype":{"id":1}},"id":1,"name":"Ada"}', 201, { json: ada }),
  post("/odd", "{}", 200, { json: { keys: [], body: {} } }),
  post("/odd", '{"constructor":"c","toString":1}', 200, {
    json: { keys: ["constructor", "toString"], body: { constructor: "c", toString: 1 } },
  }),
  post("/odd", '{"constructor":1,"toString":"x"}', 400, {
    errors: ["body #/constructor type", "body #/toString type"],
  }),
  post("/odd", '{"a/b~c":1,"größe":"x","sp ace":-1}', 400, {
    errors: ["body #/a~1b~0c type", "body #/gr%C3%B6%C3%9Fe type", "body #/sp%20ace type"],
  }),
  post("/many", "[]", 200, { json: [] }),
  post("/many", `[${user},${user}]`, 200, { json: [ada, ada] }),
  post("/many", `[${user},{"id":1}]`, 400, { errors: ["body #/1/name required"] }),
  post("/many", user, 400, { errors: ["body # type"] }),
  post("/maybe", undefined, 200, { json: { given: "nothing" } }),
  post("/maybe", "", 200, { json: { given: "nothing" } }),
  post("/maybe", "null", 400, { errors: ["body # type"] }),
  post("/maybe", user, 200, { json: { given: ada } }),
  post("/maybe", "{}", 400, { errors: ["body #/id required", "body #/name required"] }),
  post("/users", `{"id":1,"name":"Ada","deep":${"[".repeat(1000)}${"]".repeat(1000)}}`, 201, { json: ada }),
  post("/users", `{"id":1,"name":"Ada",${JSON.stringify("k".repeat(100_000))}:1}`, 201, { json: ada }),
  post("/many", `[${Array(5000).fill("{}").join()}]`, 400),
  post("/all/x/y?n=z", '{"id":"1"}', 400, {
    errors: ["path #/b type", "query #/n type", "body #/id type", "body #/name required"],
  }),
  post("/all/%zz/1?n=1", user, 400, { errors: ["path #/a format"] }),
  post("/all/%zz/%ff?n=%zz&other=%zz", "{}", 400, {
    errors: ["path #/a format", "path #/b format", "query #/n format", "body #/id required", "body #/name required"],
  }),
  post("/all/x/1?n=1&%zz=1&other=%zz", user, 200),
  post("/all/x/1?n=%zz&n=%ff&n=1", user, 400, { errors: ["query #/n format"] }),
  post("/users/%zz/%ff", user, 400, { errors: ["path # format"] }),
  post("/all/x/2?n=3", user, 200, { json: { path: { a: "x", b: 2 }, query: { n: 3 }, body: ada } }),
  post("/all/x/2", "{", 400, { errors: ["query #/n required", "body # json"] }),
  post("/json", '{"a":[1,null]}', 200, { json: { json: { a: [1, null] } } }),
  post("/json", "{", 400, { errors: ["body # json"] }),
  post("/json", undefined, 400, { errors: ["body # required"] }),
];

const bytes = (...values: number[]) => new Uint8Array(values);

/** Responses, errors and the raw request. */
export const responseRows: Row[] = [
  { method: "POST", path: "/jobs", status: 202, text: "" },
  get("/ensure/null", 404, {
    json: { type: "about:blank", title: "Not Found", status: 404, detail: "no such value" },
    has: PROBLEM,
  }),
  get("/ensure/undefined", 404),
  get("/ensure/zero", 200, { json: { value: 0 } }),
  get("/ensure/empty", 200, { json: { value: "" } }),
  get("/ensure/false", 200, { json: { value: false } }),
  get("/ensure/throws", 422, {
    json: { type: "about:blank", title: "Unprocessable Content", status: 422, detail: "not JSON" },
  }),
  get("/error", 409, {
    json: {
      type: "https://example.com/taken",
      title: "Conflict",
      status: 409,
      detail: "taken",
      instance: "/error/1",
      owner: "someone",
    },
    has: PROBLEM,
  }),
  ...["/throw", "/reject", "/unsendable", "/nothing"].map((path) => get(path, 500, { json: FAILURE, has: PROBLEM })),
  get("/html", 200, { text: "<p>é</p>", has: { "content-type": ["text/html"] } }),
  get("/text", 200, { text: "grüße", has: { "content-type": ["text/plain; charset=utf-8"] } }),
  get("/bytes", 200, { has: { "content-type": [] } }),
  get("/redirect", 303, { text: "", has: { location: ["/text"] } }),
  get("/cookies", 200, { json: 1, has: { "set-cookie": ["a=1", "b=2"], "x-latin": ["é"] } }),
  get("/inject?a-b", 500, { has: { "x-name": [] } }),
  get("/inject?ab", 200, { has: { "x-name": ["ab"] } }),
  get("/inject?%E2%82%AC", 200, { has: { "x-name": ["%E2%82%AC"] } }),
  get("/inject?€", 500, { has: { "x-name": [] } }),
  get("/unmodified", 304, { text: "", has: { etag: ['"1"'], "content-length": [] } }),
  get("/lying", 200, { json: { id: "one" } }),
  post("/raw", "grün", 200, {
    headers: [
      ["Host", "example.com:8080"],
      ["x-one", "1"],
      ["X-Many", "a"],
      ["x-many", "b, c"],
    ],
    json: {
      text: "grün",
      length: 5,
      url: "http://example.com:8080/raw",
      one: "1",
      all: ["a", "b, c"],
      joined: "a, b, c",
    },
  }),
  post("/raw?a=%20b", undefined, 200, {
    headers: [
      ["host", "bad host"],
      ["x-one", "\u00e9\u00ff"],
    ],
    json: { text: null, length: null, url: "http://localhost/raw?a=%20b", one: "\u00e9\u00ff", all: [], joined: null },
  }),
  post("/raw", bytes(0xc3, 0x28), 200, {
    json: { text: null, length: 2, url: "http://localhost/raw", one: null, all: [], joined: null },
  }),
  post("/raw", bytes(), 200, {
    json: { text: "", length: 0, url: "http://localhost/raw", one: null, all: [], joined: null },
  }),
  post("/json", deep, 200, { text: `{"json":${deep}}` }),
  get("/env", 200, { json: { greeting: "hello", missing: null } }),
];
