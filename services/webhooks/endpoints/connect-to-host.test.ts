import type { LookupAddress } from "node:dns";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { createWebhookHttpClient } from "../deliveries/webhook-http-client.ts";
import { type SlowListener, startSlowListener } from "../testing/slow-listener.ts";
import { createWebhookAddressPolicy, parseWebhookAddressAllowlist } from "./address-policy.ts";
import { sortAddresses } from "./connect-to-host.ts";
import { readOwnPorts } from "./own-ports.ts";

const v4: LookupAddress = { address: "127.0.0.1", family: 4 };
const v6: LookupAddress = { address: "::1", family: 6 };

describe("the addresses of a host", () => {
  const interfaceWith = (...addresses: string[]) => ({
    eth0: addresses.map((address) => ({ address, family: address.includes(":") ? "IPv6" : "IPv4", internal: false })),
  });
  const sort = (own: object, addresses: LookupAddress[] = [v4, v6]) =>
    sortAddresses(addresses, () => own as NodeJS.Dict<NetworkInterfaceInfo[]>).map(({ address }) => address);

  it("begin with IPv6 if the machine has a global IPv6 address", () => {
    expect(sort(interfaceWith("192.0.2.7", "2a01:4f8::7"))).toEqual(["::1", "127.0.0.1"]);
  });

  it.each([[["192.0.2.7"]], [["192.0.2.7", "fe80::7"]], [["192.0.2.7", "fd00::7"]]])(
    "begin with IPv4 if the machine has only %j",
    (own) => {
      expect(sort(interfaceWith(...own))).toEqual(["127.0.0.1", "::1"]);
    },
  );

  it("alternate between the families", () => {
    const addresses = ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map((address) => ({ address, family: 6 }));
    expect(sort(interfaceWith("192.0.2.7"), [...addresses, v4])).toEqual([
      "127.0.0.1",
      "2001:db8::1",
      "2001:db8::2",
      "2001:db8::3",
    ]);
  });
});

describe("an endpoint with two addresses", () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  function createClient(addresses: LookupAddress[]) {
    const client = createWebhookHttpClient({
      addressPolicy: createWebhookAddressPolicy(parseWebhookAddressAllowlist(""), { isLoopbackAllowed: true }),
      ownPorts: readOwnPorts({}),
      resolveHost: async () => addresses,
      timeoutMs: 15_000,
      maxConnectionsPerOrigin: 10,
    });
    closers.push(() => client.close());
    const startedAtMs = performance.now();
    return async (port: number) => {
      const url = new URL(`http://two.example:${port}/`);
      const result = await client.post({ url, headers: {}, body: Buffer.from("{}") });
      return { ...result, milliseconds: performance.now() - startedAtMs };
    };
  }

  async function listen(host: string, port: number): Promise<number> {
    const server = createServer((_, response) => void response.writeHead(204).end());
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    closers.push(() => server.closeAllConnections() ?? server.close());
    return (server.address() as AddressInfo).port;
  }

  async function listenSlowly(host: string): Promise<SlowListener> {
    const listener = await startSlowListener(host);
    closers.push(listener.close);
    return listener;
  }

  it.each([
    ["IPv6", v6, v4],
    ["IPv4", v4, v6],
  ])(
    "receives messages at %s, which takes longer than 250 ms to connect, if the other one refuses",
    async (_, slow, other) => {
      const listener = await listenSlowly(slow.address);
      const post = createClient([slow, other]);
      setTimeout(listener.startAccepting, 300);
      const result = await post(listener.port);
      expect(result.status).toBe(204);
      expect(result.milliseconds).toBeGreaterThan(300);
    },
  );

  it.each([
    ["IPv6", v6, v4],
    ["IPv4", v4, v6],
  ])("receives messages at once if %s is a black hole", async (_, blackHole, other) => {
    const { port } = await listenSlowly(blackHole.address);
    await listen(other.address, port);
    const result = await createClient([v4, v6])(port);
    expect(result.status).toBe(204);
    expect(result.milliseconds).toBeLessThan(1_000);
  });

  it("has an error with both addresses after 5 seconds if both are black holes", async () => {
    const { port } = await listenSlowly(v4.address);
    const other = await startSlowListener(v6.address, port);
    closers.push(other.close);
    const { milliseconds, ...result } = await createClient([v6, v4])(port);
    expect(milliseconds).toBeGreaterThan(4_900);
    expect(milliseconds).toBeLessThan(8_000);
    expect(result).toMatchObject({ status: null, triedAddresses: expect.arrayContaining(["127.0.0.1", "::1"]) });
    expect(result).toMatchObject({ reason: expect.stringMatching(/timed out\. Tried [^ ]+, [^ ]+\.$/) });
  });

  it("has an error with both addresses if both refuse", async () => {
    const { port } = await listenSlowly(v4.address);
    await closers.pop()?.();
    expect(await createClient([v6, v4])(port)).toMatchObject({
      status: null,
      reason: expect.stringMatching(/^The endpoint refused the connection\. Tried .*127\.0\.0\.1.*\.$/),
    });
  });
});
