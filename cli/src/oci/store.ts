/** Pulled artifacts by digest, in the cache folder. Everything is verified on each read, a signature by the caller. */
import { createHash, randomBytes } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemReason, TenonError } from "../errors.ts";
import { type Descriptor, digestOf } from "./artifact.ts";
import { parseReference } from "./reference.ts";

/** A signature and the text that it signs. */
interface KeptSignature {
  readonly payload: Buffer;
  readonly signature: Buffer;
}

/** Bytes, or a function that yields them in pieces. */
type Content = Uint8Array | (() => AsyncIterable<Uint8Array>);

/**
 * The folder `oci` of a cache folder: `blobs/<hex>` for manifests, configurations and engines, `components/<hex>/<name>.wasm`,
 * `signatures/<hex>.json`, and `repositories/<hex>.json` for the places of an engine.
 */
export class Store {
  readonly #folder: string;

  constructor(cacheFolder: string) {
    this.#folder = join(cacheFolder, "oci");
  }

  /** Returns the file of a component. The module is named after it. */
  componentFile({ digest }: Descriptor, name: string): string {
    return join(this.#folder, "components", hexOf(digest), `${name}.wasm`);
  }

  /** Reads a small blob. Returns undefined when it is missing or does not match its digest. */
  async read(digest: string, limit: number): Promise<Buffer | undefined> {
    await this.#check();
    const file = this.#blobFile(digest);
    const size = (await stat(file).catch(() => undefined))?.size ?? Number.POSITIVE_INFINITY;
    if (size > limit) return undefined;
    const bytes = await readFile(file).catch(() => undefined);
    return bytes !== undefined && digestOf(bytes) === digest ? bytes : undefined;
  }

  /** @throws TenonError `WRITE` */
  async write(digest: string, bytes: Uint8Array): Promise<void> {
    await this.#replace(this.#blobFile(digest), bytes);
  }

  /** Returns whether the file of a component exists and matches its descriptor. */
  async hasComponent(layer: Descriptor, name: string): Promise<boolean> {
    await this.#check();
    const file = this.componentFile(layer, name);
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() !== true || found.size !== layer.size) return false;
    const hash = createHash("sha256");
    try {
      for await (const piece of createReadStream(file)) hash.update(piece as Uint8Array);
    } catch {
      return false;
    }
    return `sha256:${hash.digest("hex")}` === layer.digest;
  }

  /**
   * Writes the file of a component. It appears only when it is complete and its pieces have ended without an error.
   *
   * @throws TenonError `WRITE`, or an error of the pieces
   */
  async writeComponent(layer: Descriptor, name: string, content: Content): Promise<void> {
    await this.#replace(this.componentFile(layer, name), content);
  }

  /** Reads the kept signature of a manifest. Anyone could have written it, so the caller verifies it. */
  async readSignature(digest: string): Promise<KeptSignature | undefined> {
    await this.#check();
    try {
      const { payload, signature } = JSON.parse(await readFile(this.#signatureFile(digest), "utf8"));
      return { payload: Buffer.from(payload, "base64"), signature: Buffer.from(signature, "base64") };
    } catch {
      return undefined;
    }
  }

  /** @throws TenonError `WRITE` */
  async writeSignature(digest: string, { payload, signature }: KeptSignature): Promise<void> {
    const text = JSON.stringify({ payload: payload.toString("base64"), signature: signature.toString("base64") });
    await this.#replace(this.#signatureFile(digest), Buffer.from(text));
  }

  /** Returns the repository of a registry that got a blob last. */
  async readRepository(digest: string, registry: string): Promise<string | undefined> {
    const repository = (await this.#repositories(digest))[registry];
    if (typeof repository !== "string") return undefined;
    try {
      return parseReference(`${registry}/${repository}@${digest}`).repository;
    } catch {
      return undefined;
    }
  }

  /** @throws TenonError `WRITE` */
  async writeRepository(digest: string, registry: string, repository: string): Promise<void> {
    const all = { ...(await this.#repositories(digest)), [registry]: repository };
    await this.#replace(this.#repositoriesFile(digest), Buffer.from(JSON.stringify(all)));
  }

  async #repositories(digest: string): Promise<Readonly<Record<string, unknown>>> {
    await this.#check();
    try {
      return Object(JSON.parse(await readFile(this.#repositoriesFile(digest), "utf8")));
    } catch {
      return {};
    }
  }

  #repositoriesFile(digest: string): string {
    return join(this.#folder, "repositories", `${hexOf(digest)}.json`);
  }

  #signatureFile(digest: string): string {
    return join(this.#folder, "signatures", `${hexOf(digest)}.json`);
  }

  #blobFile(digest: string): string {
    return join(this.#folder, "blobs", hexOf(digest));
  }

  /** Refuses a folder in which another user could replace a file between its verification and its use. */
  async #check(): Promise<void> {
    const found = await stat(this.#folder).catch(() => undefined);
    if (found === undefined || process.getuid === undefined) return;
    const isTheirs = found.uid !== process.getuid() && found.uid !== 0;
    if (!isTheirs && (found.mode & 0o022) === 0) return;
    throw new TenonError(
      "WRITE",
      `${this.#folder} ${isTheirs ? "belongs to another user" : "is writable by other users"}`,
      isTheirs
        ? "set TENON_CACHE_DIR to a folder of your own"
        : `run \`chmod go-w ${this.#folder}\`, or set TENON_CACHE_DIR to a folder of your own`,
    );
  }

  async #replace(file: string, content: Content): Promise<void> {
    const temporary = `${file}.${randomBytes(8).toString("hex")}.partial`;
    const refused = (error: unknown) =>
      new TenonError(
        "WRITE",
        `cannot write ${file}: ${systemReason(error)}`,
        "set TENON_CACHE_DIR to a folder of your own",
      );
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch((error) => Promise.reject(refused(error)));
      await this.#check();
      const handle = await open(temporary, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600).catch(
        (error) => Promise.reject(refused(error)),
      );
      try {
        for await (const piece of typeof content === "function" ? content() : [content])
          await handle.writeFile(piece).catch((error) => Promise.reject(refused(error)));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, file).catch((error) => Promise.reject(refused(error)));
    } finally {
      await rm(temporary, { force: true }).catch(() => {});
    }
  }
}

function hexOf(digest: string): string {
  return digest.slice("sha256:".length);
}
