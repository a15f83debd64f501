const MEDIA_TYPE = /^[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+)$/;

/** Tells a media type, such as `image/png`, or all of one kind, such as `image/*`. */
export function isMediaType(text: unknown): boolean {
  return typeof text === "string" && MEDIA_TYPE.test(text);
}

/** The media type of a content type, without parameters and in lower case. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(";")[0] as string).trim().toLowerCase();
}

/** Tells a content type that is one of `types`, or any where there are none. */
export function isTaken(contentType: string, types: readonly string[]): boolean {
  const given = mediaTypeOf(contentType);
  const isLike = (wanted: string) =>
    wanted === given || (wanted.endsWith("/*") && given.startsWith(wanted.slice(0, -1)));
  return !types.length || types.some((each) => isLike(each.toLowerCase()));
}
