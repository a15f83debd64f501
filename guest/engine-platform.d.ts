/** Functions of the full engine (`crates/engine/src/url.c`, `encoding.c`, `compress.c`). Programs reach them by our classes only. */
declare module "tenon:engine" {
  const url: unique symbol;
  const decoder: unique symbol;
  const codec: unique symbol;

  /** A parsed URL. */
  export interface UrlHandle {
    readonly [url]: true;
  }

  /** Parses as the constructor of `URL` does. Returns undefined if the input or the base is not valid. */
  export function urlParse(input: string, base?: string): UrlHandle | undefined;

  type Getter = (handle: UrlHandle) => string;
  export const urlHref: Getter;
  export const urlProtocol: Getter;
  export const urlUsername: Getter;
  export const urlPassword: Getter;
  export const urlHost: Getter;
  export const urlHostname: Getter;
  export const urlPort: Getter;
  export const urlPathname: Getter;
  export const urlSearch: Getter;
  export const urlHash: Getter;

  /** Returns whether the value was valid. If not, the URL is as it was. */
  type Setter = (handle: UrlHandle, value: string) => boolean;
  export const urlSetHref: Setter;
  export const urlSetProtocol: Setter;
  export const urlSetUsername: Setter;
  export const urlSetPassword: Setter;
  export const urlSetHost: Setter;
  export const urlSetHostname: Setter;
  export const urlSetPort: Setter;
  export const urlSetPathname: Setter;
  export const urlSetSearch: Setter;
  export const urlSetHash: Setter;

  /** A decoder of any encoding. */
  export interface DecoderHandle {
    readonly [decoder]: true;
  }

  /** Returns undefined if no encoding that can decode has the label. */
  export function decoderNew(label: string, isFatal: boolean, keepsBom: boolean): DecoderHandle | undefined;

  /** The encoding's name in the standard's spelling, such as `Shift_JIS`. */
  export function decoderEncoding(handle: DecoderHandle): string;

  /**
   * @param isStream the text goes on in the next call
   * @throws TypeError if the decoder is fatal and the bytes are not valid
   */
  export function decoderDecode(handle: DecoderHandle, bytes: Uint8Array, isStream: boolean): string;

  /** A stream that is being compressed or decompressed. */
  export interface CodecHandle {
    readonly [codec]: true;
  }

  /** @param format 0 for "deflate", 1 for "deflate-raw", 2 for "gzip" */
  export function codecNew(format: number, isDecompression: boolean): CodecHandle;

  /** Copies input for the next calls of `codecPull`. */
  export function codecPush(handle: CodecHandle, bytes: Uint8Array): void;

  /** Says that no input follows. */
  export function codecFinish(handle: CodecHandle): void;

  /**
   * Returns the next part of the output, at most 64 KiB, or undefined when input is needed and at the end.
   *
   * @throws TypeError if the input is damaged, cut or too long
   */
  export function codecPull(handle: CodecHandle): Uint8Array<ArrayBuffer> | undefined;
}
