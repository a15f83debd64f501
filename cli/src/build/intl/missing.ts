/** Errors about packages of formatjs that are not installed. */
import type { Message } from "esbuild";

/** The remedy in a note of such an error: the command that installs what one use needs. */
const INSTALL = "npm install --save-dev ";

/** The command that installs packages. */
export function installing(packages: readonly string[]): string {
  return INSTALL + packages.join(" ");
}

/** Leaves one error for each text, and one command that installs all packages, on the last of them. */
export function withOneInstall(messages: readonly Message[]): Message[] {
  const lists = messages.map(({ notes }) => notes.find(({ text }) => text.startsWith(INSTALL))?.text);
  const packages = lists.flatMap((list) => list?.slice(INSTALL.length).split(" ") ?? []);
  const isRepeated = ({ text }: Message, index: number) => messages.findIndex((each) => each.text === text) < index;
  const left = messages.filter((message, index) => lists[index] === undefined || !isRepeated(message, index));
  const ofLists = left.filter((message) => lists[messages.indexOf(message)] !== undefined);
  const all = { text: installing([...new Set(packages)]), location: null };
  return left.map((message) => {
    if (!ofLists.includes(message)) return message;
    return { ...message, notes: message === ofLists.at(-1) ? [all] : [] };
  });
}
