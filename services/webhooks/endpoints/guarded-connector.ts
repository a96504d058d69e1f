import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { getUrlPort, type WebhookEndpointRules } from "./check-endpoint.ts";

/**
 * Returns the error for a host that has a forbidden address or no address. The message, which clients see, is the same
 * in both cases, so that it does not reveal which internal hosts exist.
 */
const createForbiddenAddressError = (cause?: unknown) =>
  new Error("The endpoint's host has no public address, or could not be resolved.", { cause });

/**
 * Returns a connector that connects only to allowed addresses, and to none of this machine on a port of this
 * installation. For each connection, it resolves the host once, requires that all addresses of the host are allowed, and
 * connects to one of them, so that a DNS change after the check has no effect. If an address is forbidden, or if the host
 * cannot be resolved, the connection fails.
 */
export function createWebhookAddressCheckingConnector(
  { addressPolicy, ownPorts, resolveHost }: Pick<WebhookEndpointRules, "addressPolicy" | "ownPorts" | "resolveHost">,
  options: { timeoutMs: number },
): buildConnector.connector {
  const connect = createConnector(addressPolicy, resolveHost, options);
  const isAddressAllowed = (address: string, host: string) =>
    addressPolicy.isAddressAllowed(address, host) && !ownPorts.isOwnAddress(address);
  const connectToOwnPort = createConnector({ isAddressAllowed }, resolveHost, options);
  return (target, callback) =>
    ownPorts.has(getUrlPort(target)) ? connectToOwnPort(target, callback) : connect(target, callback);
}

function createConnector(
  addressPolicy: Pick<WebhookEndpointRules["addressPolicy"], "isAddressAllowed">,
  resolveHost: WebhookEndpointRules["resolveHost"],
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
    // An IP address is checked here, because the lookup function is called only for host names.
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
