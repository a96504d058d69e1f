import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import type { EndpointRules } from "./check-endpoint.ts";

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
