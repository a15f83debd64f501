/** Bodies as `FormData` (Fetch, section 5.3). The engine's own parser spells the bytes of a file out as digits. */
import { mediaTypeOf } from "../../http/media-type.ts";
import { boundaryOf, readMultipart } from "../../http/multipart.ts";
import { decodeUtf8Leniently, platform } from "../../platform.ts";

interface FormData {
  append(name: string, value: unknown): void;
}

/** The engine's classes for forms. */
interface FormPlatform {
  readonly FormData: new () => FormData;
  readonly File: new (parts: readonly Uint8Array[], name: string, options: { readonly type: string }) => object;
  readonly URLSearchParams: new (text: string) => Iterable<[name: string, value: string]>;
}

/**
 * Parses a form.
 *
 * @throws TypeError for a form that is malformed, or a body that is none.
 */
export function formDataOf(body: Uint8Array, contentType: string): FormData {
  const { FormData, File, URLSearchParams } = platform as unknown as FormPlatform;
  const form = new FormData();
  const type = mediaTypeOf(contentType);
  if (type === "application/x-www-form-urlencoded") {
    for (const [name, value] of new URLSearchParams(decodeWithMark(body))) form.append(name, value);
    return form;
  }
  if (type !== "multipart/form-data") throw new TypeError("the body is no form, by its content type");
  const parts = readMultipart(body, boundaryOf(contentType));
  if (typeof parts === "string") throw new TypeError(`the form ${parts}`);
  for (const { name, file, content } of parts) {
    const value = file && new File([content], file.name, { type: file.type || "text/plain" });
    form.append(name, value ?? decodeWithMark(content));
  }
  return form;
}

/** Decodes a text whose byte order mark is a character of it (Encoding, "UTF-8 decode without BOM"). */
function decodeWithMark(bytes: Uint8Array): string {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? `\uFEFF${decodeWithMark(bytes.subarray(3))}` : decodeUtf8Leniently(bytes);
}
