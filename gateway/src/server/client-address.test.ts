import type { IncomingMessage } from "node:http";
import { getClientIpNetwork } from "@pragma/runtime/http/client-network";
import { describe, expect, it } from "vitest";
import { getClientIpAddress, getPublicBaseUrl } from "./client-address.ts";

function fakeRequest(headers: Record<string, string>, remoteAddress = "192.0.2.9"): IncomingMessage {
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}
const noProxies = { trustedProxies: 0, publicUrl: undefined };

describe("the origin of absolute links", () => {
  it("is the host of the request", () => {
    expect(getPublicBaseUrl(fakeRequest({ host: "api.example:4000" }), noProxies)).toBe("http://api.example:4000");
  });

  it("is the forwarded host of a trusted proxy only", () => {
    const headers = { host: "inside", "x-forwarded-host": "api.example", "x-forwarded-proto": "https" };
    expect(getPublicBaseUrl(fakeRequest(headers), { ...noProxies, trustedProxies: 1 })).toBe("https://api.example");
    expect(getPublicBaseUrl(fakeRequest(headers), noProxies)).toBe("http://inside");
  });

  it("is the configured public URL, if any", () => {
    const publicUrl = "https://api.example";
    expect(getPublicBaseUrl(fakeRequest({ host: "inside" }), { trustedProxies: 0, publicUrl })).toBe(
      "https://api.example",
    );
  });

  it.each(["a b", "evil.example/path", 'x"y', ""])("cannot be %j", (host) => {
    expect(() => getPublicBaseUrl(fakeRequest({ host }), noProxies)).toThrow("Host");
  });
});

describe("a client's address", () => {
  const headers = { "x-forwarded-for": "198.51.100.1, 203.0.113.5,203.0.113.6" };

  it.each([
    [0, "192.0.2.9"],
    [1, "203.0.113.6"],
    [2, "203.0.113.5"],
    [9, "198.51.100.1"],
  ])("behind %i trusted proxies is %s", (trustedProxies, address) => {
    expect(getClientIpAddress(fakeRequest(headers), { ...noProxies, trustedProxies })).toBe(address);
  });

  it("is the address of the connection when the proxy sends no header", () => {
    expect(getClientIpAddress(fakeRequest({}), { ...noProxies, trustedProxies: 1 })).toBe("192.0.2.9");
  });

  it.each([
    ["203.0.113.7:1234", "203.0.113.7"],
    ["2001:db8::1", "2001:db8::1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["unknown", "192.0.2.9"],
    ["garbage:1", "192.0.2.9"],
    ["[203.0.113.7", "192.0.2.9"],
    ["203.0.113.7:port", "192.0.2.9"],
  ])("reported by a proxy as %s is %s", (hop, address) => {
    const request = fakeRequest({ "x-forwarded-for": `198.51.100.1, ${hop}` });
    expect(getClientIpAddress(request, { ...noProxies, trustedProxies: 1 })).toBe(address);
  });

  it.each([
    ["192.0.2.9", "192.0.2.9"],
    ["::ffff:192.0.2.9", "192.0.2.9"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:0DB8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
  ])("%s counts as %s", (address, network) => {
    expect(getClientIpNetwork(address)).toBe(network);
  });
});
