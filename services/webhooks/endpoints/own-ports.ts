import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

/** The ports of the API and of its servers on this machine, which must not receive webhook messages. */
export type OwnPorts = ReturnType<typeof readOwnPorts>;

const defaultPortByScheme: Record<string, number> = {
  ...{ http: 80, https: 443, postgres: 5432, postgresql: 5432, nats: 4222, tls: 4222, redis: 6379, rediss: 6379 },
};

/**
 * Returns the ports in environment variables such as `OPS_PORT`, `DATABASE_URL` and `OBJECT_STORE`. On this machine, each
 * of them is assumed to be one of the API, even if the variable names another host. The inbox of sandboxes is left out,
 * because it exists to receive webhook messages. It is allowed only if its address is.
 */
export function readOwnPorts(environment: Record<string, string | undefined>) {
  const ports = new Set<number>();
  for (const [name, value = ""] of Object.entries({ PORT: "4000", OPS_PORT: "4090", ...environment })) {
    if (name === "SANDBOX_INBOX_PORT" || name === "SANDBOX_INBOX_URL") continue;
    if (/(?:^|_)PORT$/.test(name)) ports.add(Number(value));
    if (!/_URLS?$|_ENDPOINT$|_ENDPOINT_URL_\w+$|^OBJECT_STORE$/.test(name)) continue;
    // PostgreSQL also takes the port as a parameter.
    for (const [, port] of value.matchAll(/[?&]port=(\d+)/g)) ports.add(Number(port));
    // Splits lists of servers, and separates the URL in `s3://bucket?endpoint=http://host:9000`.
    for (const part of value
      .replaceAll(/%3a/gi, ":")
      .replaceAll(/%2f/gi, "/")
      .split(/[,?&=]/)) {
      const [, scheme = ""] = /^(\w+):\/\//.exec(part.trim()) ?? [];
      ports.add(Number(/:(\d+)\s*(?:\/|$)/.exec(part)?.[1] ?? defaultPortByScheme[scheme]));
    }
  }
  return { has: (port: number) => ports.has(port), isOwnAddress };
}

// BlockList also compares IPv4-mapped addresses, such as ::ffff:127.0.0.1 or ::ffff:7f00:1, with IPv4 addresses.
const localAddresses = new BlockList();
// A connection to an unspecified address leads to this machine.
localAddresses.addSubnet("0.0.0.0", 8, "ipv4");
localAddresses.addSubnet("127.0.0.0", 8, "ipv4");
localAddresses.addAddress("::", "ipv6");
localAddresses.addAddress("::1", "ipv6");

/** Returns whether the address belongs to this machine. */
function isOwnAddress(address: string): boolean {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  if (localAddresses.check(address, family)) return true;
  const ownAddresses = new BlockList();
  for (const own of Object.values(networkInterfaces()).flat())
    if (own) ownAddresses.addAddress(own.address, own.family === "IPv6" ? "ipv6" : "ipv4");
  return ownAddresses.check(address, family);
}
