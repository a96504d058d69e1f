import { describe, expect, it, test } from "vitest";
import { createWebhookAddressPolicy, parseWebhookAddressAllowlist } from "./address-policy.ts";

const emptyAllowlistPolicy = createWebhookAddressPolicy(parseWebhookAddressAllowlist(""), { isLoopbackAllowed: false });

const forbiddenAddresses = [
  ...["0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1"],
  ...["172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9"],
  // Metadata and platform addresses of AWS, Azure, Google, Alibaba and Oracle.
  ...["169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd20:ce::254"],
  ...["::ffff:168.63.129.16", "::ffff:a83f:8110", "64:ff9b::168.63.129.16", "2002:a83f:8110::1", "2001:0:a83f:8110::1"],
  ...["::ffff:100.100.100.200", "64:ff9b::c000:c0", "::168.63.129.16"],
  ...["224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"],
  ...["::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1", "2001::1", "2001:db8::1"],
  ...["2001:0:4136:e378:8000:63bf:3fff:fdd2", "2002:7f00:1::", "2002:808:808::", "3fff::1", "5f00::1"],
  ...["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.1.2.3", "0:0:0:0:0:ffff:a9fe:a9fe", "::127.0.0.1"],
  ...["64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "fe80::1%eth0", "::1%lo"],
  ...["localhost", "2130706433", "0x7f.1", "0177.0.0.1", "", "127.1"],
];

test.each(forbiddenAddresses)("forbids %s", (address) => {
  expect(emptyAllowlistPolicy.isAddressAllowed(address, address)).toBe(false);
});

test.each([
  "8.8.8.8",
  "168.63.129.15",
  "168.63.129.17",
  "172.15.255.255",
  "172.32.0.1",
  "100.128.0.1",
  "2606:4700::1111",
  "2a00:1450:4007::200e",
])("allows %s", (address) => {
  expect(emptyAllowlistPolicy.isAddressAllowed(address, address)).toBe(true);
});

test.each(["::ffff:8.8.8.8", "64:ff9b::8.8.8.8"])("allows %s, which represents an allowed IPv4 address", (address) => {
  expect(emptyAllowlistPolicy.isAddressAllowed(address, address)).toBe(true);
});

describe("the operator's allowlist", () => {
  const policy = createWebhookAddressPolicy(
    parseWebhookAddressAllowlist(" receiver, 10.1.0.0/16,fd00::/8 , 192.168.7.7, Hooks.Example.com"),
    { isLoopbackAllowed: false },
  );

  it("allows addresses and ranges in any notation", () => {
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "192.168.7.7"]) {
      expect(policy.isAddressAllowed(address, "anything"), address).toBe(true);
    }
    for (const address of ["10.2.0.1", "192.168.7.8", "fe80::1", "127.0.0.1"]) {
      expect(policy.isAddressAllowed(address, "anything"), address).toBe(false);
    }
  });

  it("allows hosts with any address", () => {
    expect(policy.isAddressAllowed("172.20.0.5", "receiver")).toBe(true);
    expect(policy.isAddressAllowed("172.20.0.5", "hooks.example.com")).toBe(true);
    expect(policy.isAddressAllowed("172.20.0.5", "other.example.com")).toBe(false);
    expect(policy.isHostAllowlisted("receiver")).toBe(true);
  });

  test.each(["10.0.0.0/33", "10.0.0.0/x", "::1/129", "fe80::1%eth0", "bad host", "https://a.b", "a/8"])(
    "is rejected when it contains %s",
    (entry) => {
      expect(() => parseWebhookAddressAllowlist(`10.0.0.1,${entry}`)).toThrow(entry);
    },
  );
});

it("allows loopback addresses for development", () => {
  const policy = createWebhookAddressPolicy(parseWebhookAddressAllowlist(""), { isLoopbackAllowed: true });
  for (const address of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]) {
    expect(policy.isAddressAllowed(address, "localhost"), address).toBe(true);
  }
  for (const address of ["10.0.0.1", "169.254.169.254", "64:ff9b::127.0.0.1", "0.0.0.0", "::"]) {
    expect(policy.isAddressAllowed(address, "localhost"), address).toBe(false);
  }
});
