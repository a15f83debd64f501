// Recordings with one value changed, which a replay must find, and name the place.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TapeFile } from "./tape-file.mjs";

/** Recordings that are changed in each way. */
const MOST = 40;

const byte = (event, file, random) => {
  const [[start, end]] = event.values;
  return file.withByte(start + Math.floor(random() * (end - start)));
};

/** Bytes around a byte of a service's answer that the guest's own answer must have, so that it is known to be used. */
const AROUND = 4;

/** The places in a service's answer that the guest's answer repeats. */
function repeated(event, file) {
  // Other methods may repeat what the client has sent.
  if (!file.events[0].isGet) return [];
  const given = file.textOf(event);
  const answers = file.events.filter(({ kind, values }) => kind === "answer" && isFilled(values));
  const answer = answers.map((each) => file.textOf(each)).join("\0");
  // The names of columns before the rows are not looked at.
  const from = Math.max(AROUND, given.indexOf('"rows":'));
  const places = Array.from({ length: Math.max(0, given.length - AROUND - from) }, (_, n) => n + from);
  return places.filter((at) => answer.includes(given.slice(at - AROUND, at + AROUND)));
}

const repeatedByte = (event, file, random) => {
  const places = repeated(event, file);
  return file.withByte(event.values[0][0] + places[Math.floor(random() * places.length)]);
};

/**
 * The ways: the events that are changed, and how. Times and random values are changed for one route only, which answers with every digit:
 * a guest that rounds a time does the same whatever a microsecond is. It also does the same whatever is in a part of an answer that it ignores.
 */
const ways = [
  // The first random value is the engine's own.
  ["a random byte", (event, { events }) => isRandom(event) && events.find(isRandom) !== event, byte, "/exact"],
  ["a microsecond", ({ kind }) => kind === "monotonic time", (event, file) => file.withLater(event, 1_000), "/exact"],
  [
    "an answer of a service",
    ({ kind, values }, file) => kind === "result" && isFilled(values) && repeated({ kind, values }, file).length > 0,
    repeatedByte,
  ],
  ["a byte of an answer", ({ kind, values }) => kind === "answer" && isFilled(values), byte],
  ["a byte of the log", ({ kind, values }) => kind === "log" && isFilled(values), byte],
];

const isRandom = ({ kind }) => kind === "random";
const isFilled = ([[start, end]]) => end > start;

/**
 * Writes changed copies of recordings to a folder.
 *
 * @returns what was changed, by the names of the copies: the way, and the number of the event
 */
export function sabotage(folder, names, to, random) {
  const changed = new Map();
  const counts = new Map();
  for (const name of names) {
    const bytes = readFileSync(join(folder, name));
    // Its checksum would be another function of XXH3.
    if (bytes.length <= 260) continue;
    const file = new TapeFile(bytes);
    for (const [number, [way, isFit, change, path]] of ways.entries()) {
      if (path !== undefined && !bytes.includes(path)) continue;
      const fit = file.events.filter((event) => isFit(event, file));
      if (fit.length === 0 || (counts.get(way) ?? 0) >= MOST) continue;
      counts.set(way, (counts.get(way) ?? 0) + 1);
      const event = fit[Math.floor(random() * fit.length)];
      const copy = `${number}-${name}`;
      writeFileSync(join(to, copy), change(event, file, random), { mode: 0o600 });
      changed.set(copy, { way, event: event.number });
    }
  }
  return changed;
}
