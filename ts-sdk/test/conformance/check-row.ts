import { expect } from "vitest";
import type { RawHeader, RawRequest, RawResponse } from "../../src/index.ts";
import type { Asked, Row } from "./row.ts";

/** Sends one request to the app, in Node or in a component. */
export type Send = (request: RawRequest) => Promise<RawResponse>;

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

/** The request of a row, in the component interface's form. */
export function rawRequest({ method, path, headers = [], body }: Asked): RawRequest {
  const raw = headers.map(([name, value]): RawHeader => [name, latin1(value)]);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return { method, pathWithQuery: path, headers: raw, ...(bytes === undefined ? {} : { body: bytes }) };
}

/** Compares an answer with the row's expectation, and checks that it is well-formed. */
export function checkRow(row: Row, response: RawResponse): void {
  const text = response.body && new TextDecoder().decode(response.body);
  expect({ status: response.status, text }).toMatchObject({ status: row.status });
  checkWellFormed(response);
  if (row.text !== undefined) expect(text ?? "").toBe(row.text);
  if ("json" in row) expect(JSON.parse(text ?? "")).toEqual(row.json);
  if (row.errors) {
    const { errors } = JSON.parse(text ?? "") as { errors: { in: string; pointer: string; code: string }[] };
    expect(errors.map((error) => `${error.in} ${error.pointer} ${error.code}`)).toEqual(row.errors);
  }
  for (const [name, values] of Object.entries(row.has ?? {})) expect(valuesOf(response, name)).toEqual(values);
}

/** Checks that an answer is well-formed, for any request. */
export function checkWellFormed({ status, headers, body }: RawResponse): void {
  expect(Number.isInteger(status) && status >= 200 && status <= 599).toBe(true);
  for (const [name, value] of headers) {
    expect(name).toMatch(/^[!#$%&'*+.^_`|~0-9a-z-]+$/);
    expect(value).toBeInstanceOf(Uint8Array);
    expect([...value].filter((byte) => byte === 0 || byte === 10 || byte === 13)).toEqual([]);
  }
  if (status === 204 || status === 304) expect(body).toBeUndefined();
  if (status >= 400 && body) {
    const { type, title, status: inBody, ...rest } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    expect([typeof type, typeof title, inBody]).toEqual(["string", "string", status]);
    if ("detail" in rest) expect(typeof rest.detail).toBe("string");
  }
}

function valuesOf({ headers }: RawResponse, name: string): string[] {
  return headers.filter(([given]) => given === name).map(([, value]) => Buffer.from(value).toString("latin1"));
}
