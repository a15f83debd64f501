/**
 * Refuses multipart forms in the engine's `Request` and `Response`, because their parser spells the bytes of a file out as digits.
 * The classes of an app that speaks `fetch` are others, with a parser of their own.
 */
interface Message {
  readonly headers: { get(name: string): string | null };
  formData(): Promise<unknown>;
}

const classes = globalThis as unknown as Record<"Request" | "Response", { readonly prototype: Message }>;

for (const { prototype } of [classes.Request, classes.Response]) {
  const parse = prototype.formData;
  prototype.formData = async function (this: Message) {
    if (/^\s*multipart\//i.test(this.headers.get("content-type") ?? "")) {
      throw new TypeError(
        "formData: the engine cannot parse a multipart form; declare it as the route's body with Form(…)",
      );
    }
    return parse.call(this);
  };
}
