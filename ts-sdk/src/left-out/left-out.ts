/**
 * Replaces a function that `tenon build` left out, because no source contains `word`. A call fails; only a name that is
 * composed at run time leads to it.
 */
export function leftOut(word: string): never {
  return (() => {
    throw new Error(
      `the build left this part of the SDK out, because no source has the word "${word}"; a comment with it in the handler module brings it back`,
    );
  }) as never;
}
