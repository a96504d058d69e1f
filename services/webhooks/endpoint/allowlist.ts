import { BlockList, isIP, isIPv4 } from "node:net";

/** What an operator lets endpoints be, beyond what is public. */
export interface Allowlist {
  hosts: ReadonlySet<string>;
  addresses: BlockList;
}

/** Reads hosts, addresses and CIDR ranges with commas between them. Throws an `Error` that names the entry that is none. */
export function parseAllowlist(text: string): Allowlist {
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
