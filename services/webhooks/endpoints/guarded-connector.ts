import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import type { EndpointRules } from "./check-endpoint.ts";

/** Gives every address of a host, at least one; rejects when it has none or nobody can tell. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

/**
 * Asks DNS without occupying a thread, so that a host whose name server does not answer delays no other. The hosts that
 * `isLocal` names are looked up as the system does it, in its files too.
 */
export function createHostResolver({ isLocal: isLocalHost }: { isLocal: (host: string) => boolean }): ResolveHost {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return async (host) => {
    if (host === "localhost") return localhostAddresses;
    if (isLocalHost(host)) return lookup(host, { all: true });
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [
      ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length === 0) throw v4.status === "rejected" ? v4.reason : new Error(`${host} has no address`);
    return found;
  };
}

const localhostAddresses: LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/**
 * No connection was made: the host has an address that endpoints may not have, or no address is known of it. The message
 * is the same for both, since it is shown to clients, who would learn from it which internal names there are.
 */
const createForbiddenAddressError = (cause?: unknown) =>
  new Error("The endpoint cannot be sent to: its host has no public address, or cannot be looked up.", { cause });

/**
 * Connects to allowed addresses only. A host is resolved for each connection, every one of its addresses has to be
 * allowed, and the connection is made to one of those that were checked: what the name stands for a moment later does
 * not matter. A host that cannot be resolved fails in the same way.
 */
export function createGuardedConnector(
  { addressPolicy, resolveHost }: Pick<EndpointRules, "addressPolicy" | "resolveHost">,
  { timeoutMs }: { timeoutMs: number },
): buildConnector.connector {
  const checkedLookup: LookupFunction = (host, options, callback) => {
    resolveHost(host).then(
      (addresses) => {
        const forbidden = addresses.find(({ address }) => !addressPolicy.isAddressAllowed(address, host));
        const [first] = addresses;
        if (forbidden || !first) callback(createForbiddenAddressError(), "", 0);
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(createForbiddenAddressError(error), "", 0),
    );
  };
  const connect = buildConnector({ timeout: timeoutMs, lookup: checkedLookup, autoSelectFamily: true });

  return (options, callback) => {
    const { hostname } = options;
    // No lookup is made for what is an address already.
    if (isIP(hostname) && !addressPolicy.isAddressAllowed(hostname, hostname)) {
      queueMicrotask(() => callback(createForbiddenAddressError(), null));
      return;
    }
    connect(options, (...result) => {
      const [, socket] = result;
      const connectedAddress = socket?.remoteAddress;
      if (!socket || (connectedAddress !== undefined && addressPolicy.isAddressAllowed(connectedAddress, hostname)))
        return callback(...result);
      socket.destroy();
      callback(createForbiddenAddressError(), null);
    });
  };
}
