import { isIPv4 } from "node:net";

/** Forbidden networks and their prefix lengths. A separate list, so that tests find errors in the service's list. */
const forbiddenIPv4Ranges: [string, number][] = [
  ...[8, 10, 127].map((first): [string, number] => [`${first === 8 ? 0 : first}.0.0.0`, 8]),
  ["100.64.0.0", 10],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Returns whether an address is not public. Compares bits, so that the test does not use the service's BlockList. */
export function isNonPublicIpAddress(address: string): boolean {
  if (address.includes("%")) return true;
  return isIPv4(address) ? isForbiddenIPv4(ipv4Bits(address)) : isForbiddenIPv6(ipv6Bits(address));
}

function isForbiddenIPv4(bits: bigint): boolean {
  return forbiddenIPv4Ranges.some(
    ([network, length]) => bits >> BigInt(32 - length) === ipv4Bits(network) >> BigInt(32 - length),
  );
}

function isForbiddenIPv6(bits: bigint): boolean {
  const last4 = bits & 0xffffffffn;
  const first96 = bits >> 32n;
  // IPv4-mapped addresses and NAT64 addresses have these prefixes, and contain an IPv4 address in the last 32 bits.
  if (first96 === 0xffffn || first96 === 0x64ff9b0000000000000000n) return isForbiddenIPv4(last4);
  if (bits >> 125n !== 1n) return true;
  const first32 = bits >> 96n;
  return (
    first32 >> 9n === 0x20010000n >> 9n ||
    first32 === 0x20010db8n ||
    first32 >> 16n === 0x2002n ||
    bits >> 108n === 0x3fff0n
  );
}

function ipv4Bits(address: string): bigint {
  return address.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function ipv6Bits(address: string): bigint {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  if (dotted) {
    const last = ipv4Bits(dotted[2] ?? "");
    return ipv6Bits(`${dotted[1]}${(last >> 16n).toString(16)}:${(last & 0xffffn).toString(16)}`);
  }
  const [head = "", tail] = address.split("::");
  const groups = (part: string) => part.split(":").filter((group) => group !== "");
  const [before, after] = [groups(head), groups(tail ?? "")];
  const middle = tail === undefined ? [] : new Array<string>(8 - before.length - after.length).fill("0");
  return [...before, ...middle, ...after].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}
