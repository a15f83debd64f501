/** The programs that tests use beyond Node and Rust, and the places where they are looked up. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

interface Program {
  /** Files, and names to look up on the `PATH`; the first one that runs is used. */
  readonly places: readonly string[];
  /** An environment variable with the file, which is tried first. */
  readonly variable?: string;
  /** Arguments with which the program exits at once with 0; undefined when the file's existence is enough. */
  readonly probe?: readonly string[];
  readonly install: string;
}

/** Folder in which `.ci/run` installs programs for the tests. */
const kept = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "tenon-ci");
const debian = (name: string) => `apt-get install ${name}`;

const programs = {
  bash: { places: ["bash"], install: debian("bash") },
  zsh: { places: ["zsh"], install: debian("zsh") },
  fish: { places: ["fish"], install: debian("fish") },
  openssl: { places: ["openssl"], install: debian("openssl") },
  "redis-server": { places: ["redis-server"], install: debian("redis-server") },
  "docker-registry": { places: ["docker-registry"], install: debian("docker-registry") },
  skopeo: { places: ["skopeo"], install: debian("skopeo") },
  oras: {
    variable: "ORAS",
    places: [join(kept, "bin/oras"), "oras"],
    probe: ["version"],
    install: "go install oras.land/oras/cmd/oras@v1.2.3, or name it in ORAS",
  },
  helm: {
    variable: "HELM",
    places: [join(kept, "bin/helm"), "helm"],
    probe: ["version"],
    install: "go install helm.sh/helm/v3/cmd/helm@v3.17.3, or name it in HELM",
  },
  // Debian's wrappers on the PATH do not include initdb.
  postgresql: { places: [...postgresFolders(), "initdb"], install: debian("postgresql") },
  sqlite3: { places: ["sqlite3"], install: debian("sqlite3") },
  pgbouncer: { places: ["pgbouncer", "/usr/sbin/pgbouncer"], install: debian("pgbouncer") },
  chromium: {
    variable: "CHROMIUM",
    places: ["chromium", "google-chrome"],
    install: `${debian("chromium")}, or name a browser in CHROMIUM`,
  },
  wasmtime: {
    variable: "WASMTIME",
    places: [join(kept, "bin/wasmtime"), "wasmtime"],
    probe: ["--version"],
    install: "cargo install wasmtime-cli@48.0.8, or name it in WASMTIME",
  },
  schemathesis: {
    variable: "SCHEMATHESIS",
    places: [join(kept, "schemathesis/bin/schemathesis"), "schemathesis"],
    probe: ["--version"],
    install: "pip install schemathesis==4.32.5, or name it in SCHEMATHESIS",
  },
  moto_server: {
    variable: "MOTO_SERVER",
    places: [join(kept, "moto/bin/moto_server"), "moto_server"],
    probe: ["--help"],
    install: "pip install 'moto[server]==5.*', or name it in MOTO_SERVER",
  },
  "node-16": javascript("node-16/bin/node"),
  "node-22": javascript("node-22/bin/node"),
  "node-24": javascript("node-24/bin/node"),
  bun: javascript("@oven/bun-linux-x64/bin/bun"),
  deno: javascript("@deno/linux-x64-glibc/deno"),
  pnpm: javascript("pnpm/bin/pnpm.cjs"),
  webpack: javascript("webpack-cli/bin/cli.js"),
} satisfies Record<string, Program>;

/** A program of the packages in `.ci/javascript`. Others of the same name, with other versions, are not used. */
function javascript(file: string): Program {
  const folder = join(kept, "javascript");
  return {
    places: [join(folder, "node_modules", file)],
    install: `mkdir -p ${folder} && cp .ci/javascript/*.json ${folder} && npm ci --ignore-scripts --prefix ${folder}`,
  };
}

export type ProgramName = keyof typeof programs;

const found = new Map<ProgramName, string | undefined>();

/** Returns the file of a program; undefined when it is not installed. */
export function findProgram(name: ProgramName): string | undefined {
  if (!found.has(name)) found.set(name, find(programs[name]));
  return found.get(name);
}

/** Returns how to install a program. */
export function howToInstall(name: ProgramName): string {
  return programs[name].install;
}

function find({ variable, places, probe }: Program): string | undefined {
  const named = variable === undefined ? undefined : process.env[variable];
  const files = [...(named ? [named] : []), ...places].flatMap(filesOf);
  return files.find((file) => isExecutable(file) && (probe === undefined || spawnSync(file, probe).status === 0));
}

function filesOf(place: string): string[] {
  if (place.includes("/")) return [place];
  return (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, place));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Lists Debian's folders of PostgreSQL versions, the newest first. */
function postgresFolders(): string[] {
  const root = "/usr/lib/postgresql";
  try {
    const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => join(root, version, "bin/initdb"));
  } catch {
    return [];
  }
}
