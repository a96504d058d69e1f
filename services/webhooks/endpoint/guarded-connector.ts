import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import type { AddressPolicy } from "./address-policy.ts";
import { ForbiddenAddress } from "./forbidden-address.ts";
import type { ResolveHost } from "./resolve-host.ts";

interface Guarding {
  policy: AddressPolicy;
  resolve: ResolveHost;
  /** Milliseconds that a connection may take to come about. */
  timeout: number;
  /** Certificates to trust besides the usual ones. */
  ca?: string;
}

/**
 * Connects to allowed addresses only. A host is resolved for each connection, every one of its addresses has to be
 * allowed, and the connection is made to one of those that were checked: what the name stands for a moment later does
 * not matter. Fails with `ForbiddenAddress`, also when the host cannot be resolved.
 */
export function guardedConnector({ policy, resolve, timeout, ca }: Guarding): buildConnector.connector {
  const checkedLookup: LookupFunction = (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const refused = addresses.find(({ address }) => !policy.allows(address, host));
        const [first] = addresses;
        if (refused || !first) callback(new ForbiddenAddress(), "", 0);
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(new ForbiddenAddress({ cause: error }), "", 0),
    );
  };
  const connect = buildConnector({ timeout, lookup: checkedLookup, autoSelectFamily: true, ...(ca && { ca }) });

  return (options, callback) => {
    const { hostname } = options;
    // No lookup is made for what is an address already.
    if (isIP(hostname) && !policy.allows(hostname, hostname)) {
      queueMicrotask(() => callback(new ForbiddenAddress(), null));
      return;
    }
    connect(options, (...result) => {
      const [, socket] = result;
      const reached = socket?.remoteAddress;
      if (!socket || (reached !== undefined && policy.allows(reached, hostname))) return callback(...result);
      socket.destroy();
      callback(new ForbiddenAddress(), null);
    });
  };
}
