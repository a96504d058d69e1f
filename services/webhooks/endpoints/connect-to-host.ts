import type { LookupAddress } from "node:dns";
import { connect, isIPv6, type Socket } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";

/** The delay after which the next address is tried as well. Source: RFC 8305, section 8 (Connection Attempt Delay). */
const attemptDelayMs = 250;
/** The maximum number of addresses that are tried, so that a name with many addresses does not cause many connections. */
const maxTriedAddresses = 10;

/** The error for a host with which no connection could be made. */
export class HostConnectionError extends Error {
  override name = "HostConnectionError";
  /** The addresses that were tried, in this sequence. */
  readonly addresses: readonly string[];
  readonly code: string;

  constructor(code: string, addresses: readonly string[], cause?: unknown) {
    super(`connecting to ${addresses.join(", ")} failed (${code})`, { cause });
    this.code = code;
    this.addresses = addresses;
  }
}

/**
 * Returns addresses in the sequence in which they are tried: the families alternate, and the family of the first address
 * is IPv6 if this machine has a global IPv6 address. Source: RFC 8305, section 4.
 */
export function sortAddresses(
  addresses: readonly LookupAddress[],
  listInterfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces,
): LookupAddress[] {
  const v6 = addresses.filter(({ address }) => isIPv6(address));
  const v4 = addresses.filter(({ address }) => !isIPv6(address));
  if (v4.length === 0 || v6.length === 0) return [...addresses];
  // The range of global unicast addresses is 2000::/3.
  const hasGlobalIPv6Address = Object.values(listInterfaces())
    .flat()
    .some((own) => own?.family === "IPv6" && !own.internal && /^[23]/.test(own.address));
  const [first, second] = hasGlobalIPv6Address ? [v6, v4] : [v4, v6];
  const pairs = addresses.map((_, index) => [first[index], second[index]]);
  return pairs.flat().filter((each) => each !== undefined);
}

/** An attempt to connect to a host, which can be given up. */
export interface HostConnectionAttempt {
  /** The addresses that were tried so far. */
  addresses: string[];
  /** Gives the attempt up. The callback is not called anymore. */
  cancel(): void;
}

/**
 * Connects to one of the addresses of a host. If an address has neither connected nor failed after 250 ms, tries the
 * next one too, and keeps the first connection. An address that connects slowly is therefore not given up, unlike with
 * the `autoSelectFamily` of Node.js. Calls back with a `HostConnectionError` when all addresses have failed.
 */
export function connectToHost(
  addresses: readonly LookupAddress[],
  port: number,
  callback: (error: HostConnectionError | null, socket: Socket | null) => void,
): HostConnectionAttempt {
  const remaining = sortAddresses(addresses).slice(0, maxTriedAddresses);
  const sockets = new Set<Socket>();
  const errors: Error[] = [];
  const attempt: HostConnectionAttempt = { addresses: [], cancel: () => settle() };
  let timer: NodeJS.Timeout | undefined;
  let isSettled = false;

  function settle(winner?: Socket) {
    isSettled = true;
    clearTimeout(timer);
    for (const socket of sockets) if (socket !== winner) socket.destroy();
  }

  function tryNext() {
    clearTimeout(timer);
    const next = remaining.shift();
    if (!next) return;
    attempt.addresses.push(next.address);
    const socket = connect({ host: next.address, port });
    sockets.add(socket);
    socket.once("connect", () => {
      if (isSettled) return;
      settle(socket);
      callback(null, socket);
    });
    // Also handles errors between the connection and the moment in which its user adds a listener.
    socket.on("error", (error) => {
      if (isSettled || !sockets.delete(socket)) return;
      errors.push(error);
      if (remaining.length > 0) return tryNext();
      if (sockets.size > 0) return;
      settle();
      callback(createConnectionError(errors, attempt.addresses), null);
    });
    if (remaining.length > 0) timer = setTimeout(tryNext, attemptDelayMs);
  }

  tryNext();
  return attempt;
}

/** Codes of addresses that this machine cannot reach at all. Errors of other addresses say more about the endpoint. */
const unreachableCodes = new Set(["ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);

function createConnectionError(errors: Error[], addresses: readonly string[]): HostConnectionError {
  const cause = errors.find((error) => !unreachableCodes.has(getErrorCode(error))) ?? errors[0];
  return new HostConnectionError(getErrorCode(cause), addresses, cause);
}

/** Returns the code of an error, such as `ECONNREFUSED`; an empty text if it has none. */
export function getErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
