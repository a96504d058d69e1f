import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";

/** Returns all addresses of a host. Rejects when the host has no address, or when no name server responds. */
export type HostResolver = (host: string) => Promise<LookupAddress[]>;

/**
 * Returns a function that resolves hosts by DNS queries. These queries occupy no thread, so a name server that does not
 * respond delays only its own hosts. Hosts for which `isLocalHost` returns true are resolved by the operating
 * system, because it also reads its hosts file.
 */
export function createHostResolver({ isLocalHost }: { isLocalHost: (host: string) => boolean }): HostResolver {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return async (host) => {
    if (host === "localhost") return localhostAddresses;
    if (isLocalHost(host)) return lookup(host, { all: true });
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [
      ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (addresses.length === 0) throw v4.status === "rejected" ? v4.reason : new Error(`${host} has no address`);
    return addresses;
  };
}

const localhostAddresses: LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
