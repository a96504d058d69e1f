import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import type { AddressPolicy } from "./address-policy.ts";
import type { ResolveHost } from "./resolve-host.ts";

/**
 * No connection was made: the host has an address that endpoints may not have, or no address is known of it. The message
 * is the same for both, since it is shown to clients, who would learn from it which internal names there are.
 */
class ForbiddenAddress extends Error {
  readonly code = "FORBIDDEN_ADDRESS";

  constructor(options?: ErrorOptions) {
    super("The endpoint cannot be sent to: its host has no public address, or cannot be looked up.", options);
    this.name = "ForbiddenAddress";
  }
}

interface Guarding {
  policy: AddressPolicy;
  resolve: ResolveHost;
  /** How long a connection may take to come about. */
  timeoutMs: number;
}

/**
 * Connects to allowed addresses only. A host is resolved for each connection, every one of its addresses has to be
 * allowed, and the connection is made to one of those that were checked: what the name stands for a moment later does
 * not matter. Fails with `ForbiddenAddress`, also when the host cannot be resolved.
 */
export function guardedConnector({ policy, resolve, timeoutMs }: Guarding): buildConnector.connector {
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
  const connect = buildConnector({ timeout: timeoutMs, lookup: checkedLookup, autoSelectFamily: true });

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
