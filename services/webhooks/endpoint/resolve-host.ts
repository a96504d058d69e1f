import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";

/** Gives every address of a host, at least one; rejects when it has none or nobody can tell. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

/**
 * Asks DNS without occupying a thread, so that a host whose name server does not answer delays no other. The hosts that
 * `isLocal` names are looked up as the system does it, in its files too.
 */
export function openResolver({ isLocal }: { isLocal: (host: string) => boolean }): ResolveHost {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return async (host) => {
    if (host === "localhost") return localhost;
    if (isLocal(host)) return lookup(host, { all: true });
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [
      ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length === 0) throw v4.status === "rejected" ? v4.reason : new Error(`${host} has no address`);
    return found;
  };
}

const localhost: LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
