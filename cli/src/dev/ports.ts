/** Ports of `tenon dev`: the given one, or the next free one. */
import { TenonError } from "../errors.ts";

/** Default port of the development services. */
export const servicesPort = 9919;

/** Number of ports to try. */
const tries = 20;

/**
 * Listens on a port, or on the next free one when another program has it.
 *
 * @returns the result of `listen` for the free port
 * @throws TenonError `ADDRESS_IN_USE` when none of the ports is free, and any other error of `listen`
 */
export async function listenNear<T>(port: number, listen: (port: number) => Promise<T>): Promise<T> {
  for (let at = port; ; at++) {
    try {
      return await listen(at);
    } catch (error) {
      const taken = error instanceof TenonError && error.code === "ADDRESS_IN_USE";
      // Port 0 means any free port.
      if (!taken || port === 0 || at === Math.min(port + tries, 65_535)) throw error;
    }
  }
}
