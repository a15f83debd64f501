/** `tenon replay --until`: the values of expressions at a line, by a build of the same sources with probes, replayed. */
import { randomBytes } from "node:crypto";
import { access, readFile, realpath, rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { buildProject } from "../build/build.ts";
import type { Probes } from "../build/bundle.ts";
import { systemReason, TenonError } from "../errors.ts";
import { type Project, requireProject } from "../project/project.ts";
import { Terminal } from "../terminal.ts";
import { visible } from "../visible.ts";
import { expressionsOf, placeOf, probed, type SourceLine } from "./probes.ts";
import { type Replayed, Replayer } from "./replayer.ts";
import type { TapeView } from "./tapes.ts";

/** The values at a line. */
export interface AtLine {
  /** The file, relative to the project, and the line of the statement before which the expressions were evaluated. */
  readonly until: string;
  /** The line that was asked for, where it is another one. */
  readonly asked?: number;
  /** The number of times that the line was reached. */
  readonly reached: number;
  /** The values by their expressions, in the order of the first hundred times. */
  readonly values: readonly Readonly<Record<string, unknown>>[];
  /** Lines of the file that are reached, the nearest first, when this one is not. Left out when the request did not end. */
  readonly near?: readonly number[];
  /** True when the request did not end in the replay, so that the values are those of the first time. */
  readonly isFirst?: boolean;
  /** The first difference between the recording and these sources, which may have changed since. */
  readonly differs?: Replayed;
}

interface Sent {
  readonly times: number;
  readonly kept: AtLine["values"];
  readonly lines: Readonly<Record<string, number>>;
}

/** The number of near lines that are named. */
const NEAR = 5;

/**
 * Replays a recording until a line was reached, each time, and returns the values of expressions there.
 *
 * @param until such as `src/orders.ts:41`, relative to the current folder or to the project's
 * @param print expressions, such as `order.id,items.length`
 * @throws TenonError `USAGE` for a wrong place, for wrong expressions, and for expressions that change what the request does
 */
export async function replayUntil(tape: Buffer, view: TapeView, until: string, print = ""): Promise<AtLine> {
  const place = placeOf(until);
  const expressions = print === "" ? [] : expressionsOf(print);
  const project = await requireProject(process.cwd());
  if (view.module !== project.config.project.name) {
    throw new TenonError(
      "USAGE",
      `the recording must be of this project, ${project.config.project.name}: it is of the module ${visible(view.module)}`,
      "go to the folder of its project",
    );
  }
  const file = await fileOf(place, project);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new TenonError("USAGE", `cannot read ${place.file}: ${systemReason(error)}`);
  });
  // As the bundle names it.
  const builds = new Builds(project, { file: await realpath(file), text }, place, expressions, view);
  const replayer = new Replayer();
  try {
    // A request that was stopped does not end in the replay, either: its first values are all that there is.
    const silent = view.isCut ? undefined : await replayer.against(tape, await builds.make({ isSilent: true }));
    let differs: Replayed | undefined;
    if (silent !== undefined && silent.verdict !== "same") {
      // If the replay without expressions differs alike, the sources have changed.
      differs = await replayer.against(tape, await builds.make({ isSilent: true, isBare: true }));
      if (isEndless(silent) && !isEndless(differs))
        throw new TenonError("USAGE", `--print must end, and one of ${print} does not`);
      if (expressions.length > 0 && withoutPlace(differs) !== withoutPlace(silent)) {
        throw new TenonError("USAGE", `--print must not change what the request does, and one of ${print} does`);
      }
    }
    let isFirst = false;
    let sent = view.isCut ? undefined : builds.sentIn(await replayer.against(tape, await builds.make({})));
    if (sent === undefined) {
      // It was stopped, or ended with a trap.
      sent = builds.sentIn(await replayer.against(tape, await builds.make({ most: 1 })));
      isFirst = sent !== undefined;
    }
    const { times = 0, kept = [], lines = {} } = sent ?? {};
    const line = builds.line ?? place.line;
    const near = Object.keys(lines)
      .map(Number)
      .sort((a, b) => Math.abs(a - line) - Math.abs(b - line) || a - b);
    return {
      until: `${relative(project.folder, file).replaceAll("\\", "/")}:${line}`,
      ...(line !== place.line && { asked: place.line }),
      reached: times,
      values: kept,
      ...(sent !== undefined && times === 0 && { near: near.slice(0, NEAR) }),
      ...(isFirst && { isFirst }),
      ...(differs !== undefined && differs.verdict !== "same" && { differs }),
    };
  } finally {
    replayer.close();
    await builds.remove();
  }
}

/** Reports whether the replay was stopped because it did not end. */
function isEndless(replayed: Replayed): boolean {
  return replayed.verdict === "differs" && replayed.found.kind === "endless";
}

/** The text of a result. Expressions may move the place of a difference within its line. */
function withoutPlace(replayed: Replayed): string {
  return JSON.stringify(replayed, (key, value: unknown) => (key === "place" ? undefined : value));
}

/** The file of a place. */
async function fileOf({ file }: SourceLine, { folder }: Project): Promise<string> {
  for (const each of [resolve(file), join(folder, file)]) {
    const isThere = await access(each).then(
      () => true,
      () => false,
    );
    if (isThere) return each;
  }
  throw new TenonError("USAGE", `--until must name a file of the project: there is no ${file}`);
}

/** Builds of the project with probes in a file. */
class Builds {
  /** Found by the first build. */
  line: number | undefined;
  readonly #mark = `UNTIL-${randomBytes(9).toString("hex").toUpperCase()}`;
  readonly #scratch: string;
  #count = 0;

  readonly #project: Project;
  readonly #file: string;
  readonly #text: string;
  readonly #place: SourceLine;
  readonly #expressions: readonly string[];
  /** Calls into the component that the recording has. */
  readonly #entries: number;

  constructor(
    project: Project,
    { file, text }: { readonly file: string; readonly text: string },
    place: SourceLine,
    expressions: readonly string[],
    { events }: TapeView,
  ) {
    this.#project = project;
    this.#scratch = join(project.scratch, `until-${process.pid}`);
    this.#file = file;
    this.#text = text;
    this.#place = place;
    this.#expressions = expressions;
    this.#entries = events.filter(({ kind }) => kind === "request").length;
  }

  /** Builds, and returns the component's file. */
  async make({ isSilent = false, isBare = false, most = Number.MAX_SAFE_INTEGER }): Promise<string> {
    const project = this.#project;
    const made = probed(this.#file, this.#text, this.#place, isBare ? [] : this.#expressions);
    this.line = made.line;
    let isImported = false;
    const probes: Probes = {
      file: this.#file,
      text: () => {
        isImported = true;
        return made.text;
      },
      settings: { mark: this.#mark, entries: this.#entries, most, isSilent },
    };
    // Beside the project's own, which is left alone.
    const scratch = this.#scratch;
    const component = join(scratch, `${this.#count++}.wasm`);
    const apart = { ...project, scratch, component, sourceMap: `${component}.map` };
    await buildProject(apart, { release: false, compose: false, probes }, new Terminal("quiet"));
    if (!isImported)
      throw new TenonError(
        "USAGE",
        `--until must name a file of the handler: ${this.#place.file} is not imported by it`,
      );
    return component;
  }

  /** Removes what was built. */
  remove(): Promise<void> {
    return rm(this.#scratch, { recursive: true, force: true });
  }

  /** The values that the probes have sent; undefined when they sent none. */
  sentIn(replayed: Replayed): Sent | undefined {
    if (replayed.verdict !== "asks") return undefined;
    const { asked } = replayed.found;
    return asked?.method === this.#mark ? (JSON.parse(decodeURIComponent(asked.url)) as Sent) : undefined;
  }
}
