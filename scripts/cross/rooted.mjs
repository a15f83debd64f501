// Roots: folders of Debian's packages, in which programs see another system than this machine's. Nothing of this machine changes.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { root, run } from "../setup.mjs";
import { cached, tools } from "./tools.mjs";

/** Packages with programs for one system each, which tests and builds load. */
const perSystem =
  /(?:^|\/)(?:@esbuild\/|@oxc-parser\/binding-|@rolldown\/binding-|lightningcss-|@typescript\/typescript-)/;

/**
 * A machine in a root: `folder` with the system's files, an `emulator` of another processor, and the `path` of programs beside the root's.
 * `run(program, args, { env, cwd })` runs a program there and returns its status. It sees this tree at its path, with the packages and the
 * addon of its own system; what it writes is kept in the cache, and not in the tree.
 */
export async function rooted(name, target, { folder, emulator, path }) {
  const lower = await packagesOf(name, target);
  const changes = join(tools, "changes", name);
  rmSync(changes, { recursive: true, force: true });
  for (const each of ["upper", "work"]) mkdirSync(join(changes, each), { recursive: true });
  const tree = resolve(root);
  for (const each of [tree, tools, "/proc", "/dev", "/sys", "/tmp", "/root"])
    mkdirSync(join(folder, each), { recursive: true });

  return {
    isEmulated: emulator !== undefined,
    /** The folder with what the machine sees in place of the tree's files. */
    changes: join(changes, "upper"),
    run(program, args, { env = {}, cwd = tree, mounts = [], ...options } = {}) {
      const settings = {
        PATH: path === undefined ? "/usr/bin:/bin" : `${path}:/usr/bin:/bin`,
        HOME: "/root",
        LANG: "C.UTF-8",
        ...env,
      };
      for (const each of mounts) mkdirSync(join(folder, each), { recursive: true });
      const given = [folder, tree, lower, changes, emulator ?? "", [tools, ...mounts].join(":"), cwd];
      const variables = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
      const started = ["bash", "-c", entering, "in", ...given, "env", "-i", ...variables, program, ...args];
      const namespaces = ["unshare", "--user", "--mount", "--pid", "--fork", "--kill-child"];
      // Only root may bring the other users with it.
      const [first, ...rest] =
        process.geteuid() === 0
          ? ["bash", "-c", mappingUsers, "in", ...namespaces, "bash", "-c", waitingForUsers, "in", ...started]
          : [...namespaces, "--map-root-user", ...started];
      return spawnSync(first, rest, { stdio: "inherit", ...options });
    },
  };
}

/** Starts a command in a namespace of users, and gives it the users and groups of this machine. */
const mappingUsers = `
"$@" < /dev/stdin &
while [ "$(readlink /proc/$!/ns/user)" = "$(readlink /proc/self/ns/user)" ]; do sleep 0.01; done
for kind in gid uid; do echo 0 0 65536 > "/proc/$!/$kind"_map; done
wait $!
`;

/** Waits for these users before it starts a command, which so has all rights in its namespace. */
const waitingForUsers = `
until [ "$(id -u)" = 0 ]; do sleep 0.01; done
exec "$@"
`;

/** Enters a root. Its mounts, and the kernel's knowledge of the emulator, end with the command. */
const entering = String.raw`
set -euo pipefail
root=$1 tree=$2 lower=$3 changes=$4 emulator=$5 mounts=$6 cwd=$7
shift 7
if [ -n "$emulator" ]; then
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
  magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  echo ":other:M::$magic:$mask:$emulator:FP" > /proc/sys/fs/binfmt_misc/register
fi
mount -t overlay overlay -o "userxattr,lowerdir=$lower:$tree,upperdir=$changes/upper,workdir=$changes/work" "$root$tree"
IFS=:
for folder in $mounts; do mount --rbind "$folder" "$root$folder"; done
unset IFS
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
exec chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$cwd" "$@"
`;

/** Lays out the files of Debian's packages as a root, with a shell and the names of this machine. */
export function layOut(folder) {
  for (const each of ["sh", "env", "cat", "ls", "sleep", "kill", "mkdir", "rm", "cp", "mv", "ps", "tail", "uname"]) {
    mkdirSync(join(folder, "usr/bin"), { recursive: true });
    if (!existsSync(join(folder, "usr/bin", each))) symlinkSync("busybox", join(folder, "usr/bin", each));
  }
  if (existsSync(join(folder, "bin/sh"))) return;
  // Debian keeps libraries and programs in /usr, and links lead there.
  for (const each of ["bin", "lib"]) {
    mkdirSync(join(folder, "usr", each), { recursive: true });
    if (existsSync(join(folder, each))) {
      cpSync(join(folder, each), join(folder, "usr", each), { recursive: true, verbatimSymlinks: true });
      rmSync(join(folder, each), { recursive: true });
    }
    symlinkSync(`usr/${each}`, join(folder, each));
  }
  if (existsSync(join(folder, "usr/lib64"))) symlinkSync("usr/lib64", join(folder, "lib64"));
  mkdirSync(join(folder, "etc"), { recursive: true });
  for (const each of ["passwd", "group", "hosts", "resolv.conf", "nsswitch.conf"])
    if (existsSync(`/etc/${each}`)) cpSync(`/etc/${each}`, join(folder, "etc", each), { dereference: true });
  cpSync("/etc/ssl/certs/ca-certificates.crt", join(folder, "etc/ssl/certs/ca-certificates.crt"));
}

/** A tree with packages that this one lacks because they are for another system, at the versions of the lock file. */
async function packagesOf(name, { os, cpu, libc }) {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const missing = Object.entries(lock).filter(
    ([path, each]) =>
      perSystem.test(path.split("node_modules/").at(-1)) &&
      each.os?.includes(os) &&
      each.cpu?.includes(cpu) &&
      (each.libc === undefined || each.libc.includes(libc)),
  );
  const recipe = JSON.stringify(missing.map(([path, { version, integrity }]) => [path, version, integrity]));
  return cached(`packages/${name}`, recipe, (folder) => {
    for (const [path, { version }] of missing) {
      const place = join(folder, path);
      mkdirSync(place, { recursive: true });
      const spec = `${path.split("node_modules/").at(-1)}@${version}`;
      run("npm", ["pack", "--silent", "--pack-destination", place, spec], { stdio: ["ignore", "ignore", "inherit"] });
      const [tarball] = readdirSync(place);
      run("tar", ["-xzf", join(place, tarball), "-C", place, "--strip-components=1"]);
      rmSync(join(place, tarball));
    }
  });
}
