import { BlockList, isIP, isIPv4 } from "node:net";

export type WebhookAddressPolicy = ReturnType<typeof createWebhookAddressPolicy>;

/**
 * Forbidden IPv4 ranges: the ranges of IANA's special-purpose registry, multicast and reserved ranges. Most metadata
 * addresses of cloud providers are in these ranges. Azure's platform address, 168.63.129.16, is listed separately,
 * because it is in a public range.
 */
const specialIPv4 = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
  203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`;

/** Special-purpose IPv6 ranges within 2000::/3: protocol assignments (such as Teredo), documentation, 6to4, AS112. */
const specialIPv6 = "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20";

const parseRanges = (text: string) =>
  text
    .trim()
    .split(/\s+/)
    .map((range) => {
      const [network = "", prefix] = range.split("/");
      return { network, prefix: Number(prefix) };
    });

const forbiddenAddresses = new BlockList();
const publicIPv6Addresses = new BlockList();
publicIPv6Addresses.addSubnet("2000::", 3, "ipv6");
// IPv4 addresses in IPv6 notation (IPv4-mapped or NAT64) are allowed, except for the forbidden IPv4 ranges below.
publicIPv6Addresses.addSubnet("::ffff:0.0.0.0", 96, "ipv6");
publicIPv6Addresses.addSubnet("64:ff9b::0.0.0.0", 96, "ipv6");
for (const { network, prefix } of parseRanges(specialIPv4)) {
  forbiddenAddresses.addSubnet(network, prefix, "ipv4");
  forbiddenAddresses.addSubnet(`::ffff:${network}`, 96 + prefix, "ipv6");
  forbiddenAddresses.addSubnet(`64:ff9b::${network}`, 96 + prefix, "ipv6");
}
for (const { network, prefix } of parseRanges(specialIPv6)) forbiddenAddresses.addSubnet(network, prefix, "ipv6");

const loopbackAddresses = new BlockList();
loopbackAddresses.addSubnet("127.0.0.0", 8, "ipv4");
loopbackAddresses.addSubnet("::ffff:127.0.0.0", 104, "ipv6");
loopbackAddresses.addAddress("::1", "ipv6");

/** Returns a policy that allows public addresses, the operator's allowlist and, for development, loopback addresses. */
export function createWebhookAddressPolicy(
  allowlist: ReturnType<typeof parseWebhookAddressAllowlist>,
  { isLoopbackAllowed }: { isLoopbackAllowed: boolean },
) {
  return {
    /** Returns whether connections to this IP address of the host are allowed. Returns false for an invalid address. */
    isAddressAllowed(address: string, host: string): boolean {
      const family = isIP(address);
      if (family === 0 || address.includes("%")) return false;
      const type = family === 4 ? "ipv4" : "ipv6";
      if (allowlist.addresses.check(address, type) || allowlist.hosts.has(host)) return true;
      if (isLoopbackAllowed && loopbackAddresses.check(address, type)) return true;
      return !forbiddenAddresses.check(address, type) && (family === 4 || publicIPv6Addresses.check(address, "ipv6"));
    },
    isHostAllowlisted: (host: string) => allowlist.hosts.has(host),
  };
}

/**
 * Parses a comma-separated list of hosts, addresses and CIDR ranges that an operator allows although they are not public.
 *
 * @throws `Error` that names the first invalid entry.
 */
export function parseWebhookAddressAllowlist(text: string) {
  const hosts = new Set<string>();
  const addresses = new BlockList();
  for (const entry of text.split(",").map((part) => part.trim().toLowerCase())) {
    if (entry === "") continue;
    const [address = "", prefix] = entry.split("/");
    if (isIP(address) && !address.includes("%")) {
      const isV4 = isIPv4(address);
      const bits = prefix === undefined ? (isV4 ? 32 : 128) : Number(/^\d{1,3}$/.exec(prefix)?.[0] ?? Number.NaN);
      if (!(bits >= 0 && bits <= (isV4 ? 32 : 128))) throw new Error(`${entry} is not a valid CIDR range`);
      addresses.addSubnet(address, bits, isV4 ? "ipv4" : "ipv6");
    } else if (/^(?!-)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(entry)) hosts.add(entry);
    else throw new Error(`${entry} is not a valid host, address or CIDR range`);
  }
  return { hosts, addresses };
}
