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
  const packages = new Set<string>();
  const seen = new Set<string>();
  const left: Message[] = [];
  let last: Message | undefined;
  for (const message of messages) {
    const command = message.notes.find(({ text }) => text.startsWith(INSTALL))?.text;
    if (command === undefined) left.push(message);
    else {
      for (const name of command.slice(INSTALL.length).split(" ")) packages.add(name);
      if (seen.has(message.text)) continue;
      seen.add(message.text);
      last = { ...message, notes: [] };
      left.push(last);
    }
  }
  last?.notes.push({ text: installing([...packages]), location: null });
  return left;
}
