import { BlockList, isIP, isIPv4 } from "node:net";

/** Which addresses endpoints may have. */
export interface AddressPolicy {
  /** Whether a connection to this address may be made for that host. Anything that is no plain address may not. */
  isAddressAllowed(address: string, host: string): boolean;
  /** Whether an operator named this host. */
  isHostAllowlisted(host: string): boolean;
}

/**
 * IPv4 that is not for the public internet: IANA's special-purpose registry, with multicast and what is reserved. The
 * metadata addresses of clouds are within these ranges, but for Azure's.
 */
const specialIPv4: [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Within the IPv6 that is given out publicly: protocol assignments with Teredo, documentation, 6to4, SRv6. */
const specialIPv6: [string, number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
];

const forbiddenAddresses = new BlockList();
const publicIPv6Addresses = new BlockList();
publicIPv6Addresses.addSubnet("2000::", 3, "ipv6");
// Written as IPv6: IPv4-mapped, and as NAT64 networks reach it. What is forbidden as IPv4 is forbidden in these.
publicIPv6Addresses.addSubnet("::ffff:0.0.0.0", 96, "ipv6");
publicIPv6Addresses.addSubnet("64:ff9b::0.0.0.0", 96, "ipv6");
for (const [network, prefix] of specialIPv4) {
  forbiddenAddresses.addSubnet(network, prefix, "ipv4");
  forbiddenAddresses.addSubnet(`::ffff:${network}`, 96 + prefix, "ipv6");
  forbiddenAddresses.addSubnet(`64:ff9b::${network}`, 96 + prefix, "ipv6");
}
for (const [network, prefix] of specialIPv6) forbiddenAddresses.addSubnet(network, prefix, "ipv6");

const loopbackAddresses = new BlockList();
loopbackAddresses.addSubnet("127.0.0.0", 8, "ipv4");
loopbackAddresses.addSubnet("::ffff:127.0.0.0", 104, "ipv6");
loopbackAddresses.addAddress("::1", "ipv6");

/** Public addresses, and those that the operator named; on this machine when `allowLoopback`, for development. */
export function createAddressPolicy(
  allowlist: EndpointAllowlist,
  { allowLoopback: isLoopbackAllowed }: { allowLoopback: boolean },
): AddressPolicy {
  return {
    isAddressAllowed(address, host) {
      const family = isIP(address);
      if (family === 0 || address.includes("%")) return false;
      const type = family === 4 ? "ipv4" : "ipv6";
      if (allowlist.addresses.check(address, type) || allowlist.hosts.has(host)) return true;
      if (isLoopbackAllowed && loopbackAddresses.check(address, type)) return true;
      return !forbiddenAddresses.check(address, type) && (family === 4 || publicIPv6Addresses.check(address, "ipv6"));
    },
    isHostAllowlisted: (host) => allowlist.hosts.has(host),
  };
}

/** What an operator lets endpoints be, beyond what is public. */
export interface EndpointAllowlist {
  hosts: ReadonlySet<string>;
  addresses: BlockList;
}

/** Reads hosts, addresses and CIDR ranges with commas between them. Throws an `Error` that names the entry that is none. */
export function parseEndpointAllowlist(text: string): EndpointAllowlist {
  const hosts = new Set<string>();
  const addresses = new BlockList();
  for (const entry of text.split(",").map((part) => part.trim().toLowerCase())) {
    if (entry === "") continue;
    const [address = "", prefix] = entry.split("/");
    if (isIP(address) && !address.includes("%")) {
      const isV4 = isIPv4(address);
      const bits = prefix === undefined ? (isV4 ? 32 : 128) : Number(/^\d{1,3}$/.exec(prefix)?.[0] ?? Number.NaN);
      if (!(bits >= 0 && bits <= (isV4 ? 32 : 128))) throw new Error(`${entry} is no CIDR range`);
      addresses.addSubnet(address, bits, isV4 ? "ipv4" : "ipv6");
    } else if (/^(?!-)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(entry)) hosts.add(entry);
    else throw new Error(`${entry} is no host, address or CIDR range`);
  }
  return { hosts, addresses };
}
