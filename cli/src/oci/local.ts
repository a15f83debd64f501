/** Addresses of this machine, in all their forms. A remote registry must not send requests to them. */
import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** This host, this network's "any" address, and link-local addresses such as a cloud's metadata service. */
const LOCAL_IPV4 = [
  ["0.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
] as const;

/** Networks of IPv6 whose addresses end in an IPv4 address: mapped, translated, compatible and NAT64. */
const EMBEDDING = ["::ffff:", "::ffff:0:", "::", "64:ff9b::"] as const;

const local = new BlockList();
local.addAddress("::", "ipv6");
local.addAddress("::1", "ipv6");
local.addSubnet("fe80::", 10, "ipv6");
for (const [network, bits] of LOCAL_IPV4) {
  local.addSubnet(network, bits, "ipv4");
  for (const prefix of EMBEDDING) local.addSubnet(`${prefix}${network}`, 96 + bits, "ipv6");
}

/**
 * Reports whether the host of a URL is this machine. `URL` has written all forms of IPv4 addresses, such as
 * `2130706433`, with four numbers.
 */
export function isLocal(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return isLocalAddress(host.replace(/^\[|\]$/g, ""));
}

function isLocalAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && local.check(address, family === 4 ? "ipv4" : "ipv6");
}

/** Makes a function that resolves names, and fails for names that lead to this machine, except that of the registry. */
export function lookupElsewhere(registry: string): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    lookup(hostname, options, (error, found: string | LookupAddress[], family?: number) => {
      const addresses = typeof found === "string" ? [found] : (found ?? []).map(({ address }) => address);
      const refused =
        error === null && hostname !== registry && addresses.some(isLocalAddress)
          ? Object.assign(new Error(`${hostname} is this machine`), { code: "ERR_LOCAL_ADDRESS" })
          : error;
      callback(refused, found, family);
    });
  };
}
