import { TenonError } from "../errors.ts";

/** Where the development services are, or the next free port. */
export const servicesPort = 9919;

/** How many ports are tried from the first one on. */
const tries = 20;

/**
 * Listens on a port, or on the next free one when another program has it.
 *
 * @returns what `listen` gave for the port that was free
 * @throws TenonError `ADDRESS_IN_USE` when none of the ports is free, and whatever else `listen` throws
 */
export async function listenNear<T>(port: number, listen: (port: number) => Promise<T>): Promise<T> {
  for (let at = port; ; at++) {
    try {
      return await listen(at);
    } catch (error) {
      const taken = error instanceof TenonError && error.code === "ADDRESS_IN_USE";
      // 0 is any free port.
      if (!taken || port === 0 || at === Math.min(port + tries, 65_535)) throw error;
    }
  }
}
