const MEDIA_TYPE = /^[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+)$/;

/** Reports whether a text is a media type, such as `image/png`, or a range of one type, such as `image/*`. */
export function isMediaType(text: unknown): boolean {
  return typeof text === "string" && MEDIA_TYPE.test(text);
}

/** The media type of a content type, without parameters and in lower case. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(";")[0] as string).trim().toLowerCase();
}

/** Reports whether a content type is one of `types`; any is when the list is empty. */
export function isTaken(contentType: string, types: readonly string[]): boolean {
  const given = mediaTypeOf(contentType);
  const isLike = (wanted: string) =>
    wanted === given || (wanted.endsWith("/*") && given.startsWith(wanted.slice(0, -1)));
  return !types.length || types.some((each) => isLike(each.toLowerCase()));
}
