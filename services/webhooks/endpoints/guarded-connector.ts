import type { LookupAddress } from "node:dns";
import { isIP, isIPv6, type Socket } from "node:net";
import { buildConnector } from "undici";
import { getUrlPort, type WebhookEndpointRules } from "./check-endpoint.ts";
import { connectToHost, getErrorCode, type HostConnectionAttempt, HostConnectionError } from "./connect-to-host.ts";

/**
 * Returns the error for a host that has a forbidden address or no address. The message, which clients see, is the same
 * in both cases, so that it does not reveal which internal hosts exist.
 */
const createForbiddenAddressError = (cause?: unknown) =>
  new Error("The endpoint's host has no public address, or could not be resolved.", { cause });

/** The time after which an idle connection is probed, in milliseconds, as undici sets it for its own connections. */
const keepAliveDelayMs = 60_000;

/**
 * Returns a connector that connects only to allowed addresses, and to none of this machine on a port of this
 * installation. The inboxes of sandboxes may have any address, if scheme, host and port are theirs. For each connection, it resolves the host once, requires that all addresses of the host are allowed, and
 * connects to one of them, so that a DNS change after the check has no effect. If an address is forbidden, or if the host
 * cannot be resolved, the connection fails. `timeoutMs` limits the whole: the lookup, all addresses and TLS.
 */
export function createCheckedConnector(
  {
    addressPolicy,
    ownPorts,
    resolveHost,
    inboxOrigin,
  }: Pick<WebhookEndpointRules, "addressPolicy" | "ownPorts" | "resolveHost" | "inboxOrigin">,
  { timeoutMs }: { timeoutMs: number },
): buildConnector.connector {
  const inbox = inboxOrigin === undefined ? undefined : new URL(inboxOrigin);
  const startTls = buildConnector({ timeout: timeoutMs });

  async function findAllowedAddresses(host: string, port: number, isInbox: boolean): Promise<LookupAddress[]> {
    const addresses = isIP(host)
      ? [{ address: host, family: isIPv6(host) ? 6 : 4 }]
      : await resolveHost(host).catch((error: unknown) => {
          throw createForbiddenAddressError(error);
        });
    const isOwnPort = ownPorts.has(port);
    const isAllowed = ({ address }: LookupAddress) =>
      (isInbox || addressPolicy.isAddressAllowed(address, host)) && !(isOwnPort && ownPorts.isOwnAddress(address));
    if (addresses.length === 0 || !addresses.every(isAllowed)) throw createForbiddenAddressError();
    return addresses;
  }

  return (options, callback) => {
    const { hostname, protocol } = options;
    const port = getUrlPort(options);
    let attempt: HostConnectionAttempt | undefined;
    let connected: Socket | undefined;
    let isSettled = false;
    const settle: buildConnector.Callback = (...result) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      callback(...result);
    };
    const fail = (error: Error) => settle(error, null);
    const settleTls: buildConnector.Callback = (...result) => {
      const [error] = result;
      if (!error) return settle(...result);
      connected?.destroy();
      fail(new HostConnectionError(getErrorCode(error), attempt?.addresses.slice(-1) ?? [], error));
    };
    const timer = setTimeout(() => {
      fail(new HostConnectionError("ETIMEDOUT", attempt?.addresses ?? []));
      attempt?.cancel();
      connected?.destroy();
    }, timeoutMs);

    const isInbox = inbox?.protocol === protocol && inbox.hostname === hostname && getUrlPort(inbox) === port;
    findAllowedAddresses(hostname, port, isInbox).then((addresses) => {
      if (isSettled) return;
      attempt = connectToHost(addresses, port, (error, socket) => {
        if (!socket) return fail(error ?? createForbiddenAddressError());
        connected = socket;
        if (protocol === "https:") return startTls({ ...options, httpSocket: socket }, settleTls);
        settle(null, socket.setNoDelay(true).setKeepAlive(true, keepAliveDelayMs));
      });
    }, fail);
  };
}
