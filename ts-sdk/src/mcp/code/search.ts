/** `search` of code mode: finds routes by words, and answers with a page of their signatures. */
import { MAX_QUERY, MAX_WORDS, SEARCH_PAGE } from "../limits.ts";
import { INVALID_PARAMS, type Members, ProtocolError } from "../messages.ts";
import type { ToolEntry } from "../types.ts";

/** The arguments of `search`. */
interface Query {
  readonly words: readonly string[];
  readonly page: number;
}

/** @throws ProtocolError */
function queryOf({ query = "", page = 1, ...others }: Members): Query {
  const [other] = Object.keys(others);
  if (other !== undefined) throw new ProtocolError(INVALID_PARAMS, 'search takes "query" and "page".');
  if (typeof query !== "string" || query.length > MAX_QUERY) {
    throw new ProtocolError(INVALID_PARAMS, `"query" must be a text of at most ${MAX_QUERY} characters.`);
  }
  if (!Number.isSafeInteger(page) || (page as number) < 1) {
    throw new ProtocolError(INVALID_PARAMS, '"page" must be a whole number from 1 on.');
  }
  const words = wordsOf(query).slice(0, MAX_WORDS);
  return { words, page: page as number };
}

/** The words of a text in lower case: `listUsers` has two. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** A route counts for each word: 4 in its name, 1 in its path, schemas or comments. A plural finds its singular. */
function scoreOf({ route, signature = "" }: ToolEntry, words: readonly string[]): number {
  const name = wordsOf(route).join(" ");
  const text = signature.toLowerCase();
  let score = 0;
  for (const word of words) {
    const stem = word.length > 3 ? word.replace(/s$/, "") : word;
    score += name.includes(stem) ? 4 : text.includes(stem) ? 1 : 0;
  }
  return score;
}

/**
 * Answers a search with text. Without a query it lists all routes.
 *
 * @throws ProtocolError
 */
export function search(tools: readonly ToolEntry[], args: Members): string {
  const { words, page } = queryOf(args);
  const scored = tools.map((tool) => [words.length === 0 ? 1 : scoreOf(tool, words), tool] as const);
  const found = scored.filter(([score]) => score > 0).sort(([one], [other]) => other - one);
  const pages = Math.max(1, Math.ceil(found.length / SEARCH_PAGE));
  const shown = found.slice((page - 1) * SEARCH_PAGE, page * SEARCH_PAGE);
  const head = `${found.length} of ${tools.length} routes, page ${page} of ${pages}`;
  return [head, ...shown.map(([, { signature = "" }]) => signature)].join("\n\n");
}
