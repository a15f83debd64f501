/** The recording of `tenon dev --recording`, which each build is compared with. */
import { failureToTell } from "../errors.ts";
import { withPlaces } from "../replay/places.ts";
import { Replayer } from "../replay/replayer.ts";
import { type TapeView, tapeBytes, viewOf } from "../replay/tapes.ts";
import { type Compared, recordingPage } from "./recording-page.ts";

/** A recording that is open. */
export class DevRecording {
  readonly #file: string;
  readonly #bytes: Buffer;
  readonly #view: TapeView;
  #compared: Compared | undefined;

  private constructor(file: string, bytes: Buffer, view: TapeView) {
    this.#file = file;
    this.#bytes = bytes;
    this.#view = view;
  }

  /** @throws TenonError `RECORDING` when the file is no recording */
  static async open(file: string): Promise<DevRecording> {
    const bytes = await tapeBytes(file);
    return new DevRecording(file, bytes, await withPlaces(viewOf(bytes, file)));
  }

  /** The module that was recorded. */
  get module(): string {
    return this.#view.module;
  }

  /** Runs it in a build, and returns whether it is the same there. */
  async compare(component: string): Promise<boolean> {
    const replayer = new Replayer();
    try {
      this.#compared = await replayer.against(this.#bytes, component);
      return this.#compared.verdict === "same";
    } catch (error) {
      this.#compared = { failure: failureToTell(error)?.message ?? String(error) };
      return false;
    } finally {
      replayer.close();
    }
  }

  /** Renders the page that shows the recording beside a build. */
  page(build: number): string {
    return recordingPage(this.#file, this.#view, this.#compared, build);
  }
}
