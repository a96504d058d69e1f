import { isIPv6 } from "node:net";

/** Returns the network that counts as one client in limits: an IPv4 address, or the /64 prefix of an IPv6 address. */
export function getClientIpNetwork(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (!isIPv6(plain)) return plain;
  const [head = "", tail = ""] = plain.replace(/%.*$/, "").split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const missing = plain.includes("::") ? 8 - groups.length - tail.split(":").filter((group) => group !== "").length : 0;
  return [...groups, ...Array<string>(missing).fill("0"), ...tail.split(":")]
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""))
    .join(":");
}
