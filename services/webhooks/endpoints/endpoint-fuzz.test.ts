import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWebhookHttpClient } from "../deliveries/webhook-http-client.ts";
import { type OutboundConnectionRecorder, restrictConnections } from "../testing/connection-recorder.ts";
import { isNonPublicIpAddress } from "../testing/non-public-ip-address.ts";
import { createWebhookAddressPolicy, parseWebhookAddressAllowlist } from "./address-policy.ts";
import { findWebhookEndpointUrlIssue } from "./check-endpoint.ts";
import { readOwnPorts } from "./own-ports.ts";

const runs = 2_000;
const ownPorts = readOwnPorts({});

const byte = fc.oneof(fc.constantFrom(0, 1, 127, 255), fc.nat(255));
const anyIPv4 = fc.tuple(byte, byte, byte, byte);
const internalAddresses: [number, number, number, number][] = [
  [127, 0, 0, 1],
  [127, 1, 2, 3],
  [10, 0, 0, 5],
  [172, 16, 0, 1],
  [192, 168, 1, 1],
  [169, 254, 169, 254],
  [168, 63, 129, 16],
  [192, 0, 0, 192],
  [100, 100, 100, 200],
  [0, 0, 0, 0],
  [224, 0, 0, 1],
  [255, 255, 255, 255],
];
const ipv4 = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...internalAddresses) },
  { weight: 1, arbitrary: anyIPv4 },
);

const toCircledDigits = (digits: string) =>
  digits.replaceAll(/[1-9]/g, (digit) => String.fromCodePoint(0x2460 + Number(digit) - 1));
const toFullWidthDigits = (digits: string) =>
  digits.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
const percentEncode = (text: string) =>
  text.replaceAll(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`);
const hex2 = (value: number) => value.toString(16).padStart(2, "0");

/** Generates a random IPv4 address in one of the notations that a URL can contain, or in an invalid notation. */
const ipv4Notation = ipv4.chain(([a, b, c, d]) => {
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const dotted = `${a}.${b}.${c}.${d}`;
  return fc.constantFrom(
    dotted,
    `${dotted}.`,
    String(whole),
    `0x${whole.toString(16)}`,
    `0${whole.toString(8)}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `0${a.toString(8)}.0${b.toString(8)}.0${c.toString(8)}.0${d.toString(8)}`,
    `0x${a.toString(16)}.${b}.0${c.toString(8)}.${d}`,
    `000${a.toString(8)}.${b}.${c}.${d}`,
    toCircledDigits(dotted),
    toFullWidthDigits(dotted),
    dotted.replaceAll(".", "。"),
    percentEncode(dotted),
    `${a}.${b}.${c}.${d + 256}`,
  );
});

/** Generates an IPv6 address that contains a random IPv4 address in one of several notations, or a fixed address. */
const ipv6Notation = ipv4.chain(([a, b, c, d]) => {
  const [high, low] = [hex2(a) + hex2(b), hex2(c) + hex2(d)];
  const dotted = `${a}.${b}.${c}.${d}`;
  return fc.constantFrom(
    ...[
      `::ffff:${dotted}`,
      `::FFFF:${high}:${low}`,
      `0:0:0:0:0:ffff:${high}:${low}`,
      `::${dotted}`,
      `::${high}:${low}`,
    ],
    ...[`64:ff9b::${dotted}`, `64:ff9b::${high}:${low}`, `64:ff9b:1::${high}:${low}`, `2002:${high}:${low}::1`],
    ...[`2001:0:${high}:${low}::1`, `::ffff:0:${dotted}`, `fe80::5efe:${dotted}`],
    ...["::1", "::", "fe80::1", "fe80::1%25eth0", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"],
    ...["0000:0000:0000:0000:0000:0000:0000:0001", "2606:4700::1111", "2a00:1450::1", "3fff::1", "100::1"],
  );
});

const plainAddress = fc.oneof(
  ipv4.map((parts) => parts.join(".")),
  ipv6Notation.filter((text) => !text.includes("%")),
);

/** A host, and the addresses that each of its lookups returns. Further lookups return the last addresses again. */
interface ResolvedHost {
  host: string;
  lookups: string[][];
}
const hostNameArbitrary: fc.Arbitrary<ResolvedHost> = fc.record({
  host: fc.constantFrom(
    ...["hooks.example", "HOOKS.example", "hooks.example.", "xn--bcher-kva.example", "bücher.example", "a.b.c.d"],
    ...["localhost", "localhost.", "LOCALHOST", "x.localhost", "metadata.google.internal", "127.0.0.1.nip.example"],
  ),
  lookups: fc.array(fc.array(plainAddress, { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
});

const hostArbitrary = fc.oneof(
  { weight: 3, arbitrary: ipv4Notation.map((host): ResolvedHost => ({ host, lookups: [] })) },
  { weight: 3, arbitrary: ipv6Notation.map((address): ResolvedHost => ({ host: `[${address}]`, lookups: [] })) },
  { weight: 3, arbitrary: hostNameArbitrary },
  { weight: 1, arbitrary: fc.domain().map((host): ResolvedHost => ({ host, lookups: [["127.0.0.1"]] })) },
);

const endpointArbitrary = fc.record({
  resolvedHost: hostArbitrary,
  scheme: fc.constantFrom("http://", "https://", "HTTP://", "http:\\\\", "http:/", "ftp://", "//"),
  user: fc.constantFrom("", "", "", "user@", "user:pass@", "8.8.8.8@", "8.8.8.8:80@", "@"),
  port: fc.constantFrom("", "", ":80", ":443", ":8080", ":22", ":6379", ":65535", ":0", ":99999", ":"),
  rest: fc.constantFrom("", "/", "/hook?x=1", "/../..", "#", "#@8.8.8.8/", "\\@8.8.8.8/", "/@127.0.0.1"),
});

let connectionRecorder: OutboundConnectionRecorder;
beforeAll(() => {
  connectionRecorder = restrictConnections(() => false);
});
afterAll(() => connectionRecorder?.stop());

it("never connects to a forbidden address, whatever the notation of the endpoint and the result of lookups", async () => {
  const addressPolicy = createWebhookAddressPolicy(parseWebhookAddressAllowlist(""), { isLoopbackAllowed: false });
  let acceptedCount = 0;
  await fc.assert(
    fc.asyncProperty(endpointArbitrary, async ({ resolvedHost: { host, lookups }, scheme, user, port, rest }) => {
      const url = `${scheme}${user}${host}${port}${rest}`;
      let lookupCount = 0;
      const resolveHost = async () => {
        const addresses = lookups[Math.min(lookupCount, lookups.length - 1)] ?? [];
        lookupCount += 1;
        if (addresses.length === 0) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
        return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      };
      const earlierConnections = connectionRecorder.addresses.length;
      const issue = await findWebhookEndpointUrlIssue(url, {
        addressPolicy,
        ownPorts,
        resolveHost,
        isHttpsRequired: false,
      });
      if (issue) expect(issue.message.length).toBeGreaterThan(20);
      else acceptedCount += 1;
      // Also connects to rejected endpoints, which may have been registered before the rules or the DNS record changed.
      if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
        const httpClient = createWebhookHttpClient({
          addressPolicy,
          ownPorts,
          resolveHost,
          timeoutMs: 2_000,
          maxConnectionsPerOrigin: 2,
        });
        const request = { url: new URL(url), headers: {}, body: Buffer.from("{}") };
        for (const _ of [1, 2]) expect(await httpClient.post(request)).toMatchObject({ status: null });
        await httpClient.close();
      }
      expect(connectionRecorder.addresses.slice(earlierConnections).filter(isNonPublicIpAddress), url).toEqual([]);
    }),
    { numRuns: runs },
  );
  // The test is only meaningful if some endpoints are accepted and connected to.
  expect(acceptedCount).toBeGreaterThan(runs / 100);
  expect(connectionRecorder.addresses.length).toBeGreaterThan(runs / 50);
}, 240_000);

it("does not follow redirects", async () => {
  connectionRecorder.stop();
  const locations = ["http://169.254.169.254/", "http://[::1]:9/", "//10.0.0.1/", "/elsewhere", "http://127.0.0.1:9/"];
  let index = 0;
  const requestedPaths: string[] = [];
  const server = createServer((request, response) => {
    requestedPaths.push(request.url ?? "");
    response.writeHead(300 + (index % 9), { location: locations[index % locations.length] ?? "" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  connectionRecorder = restrictConnections((address) => address === "127.0.0.1");
  const httpClient = createWebhookHttpClient({
    addressPolicy: createWebhookAddressPolicy(parseWebhookAddressAllowlist("127.0.0.1"), { isLoopbackAllowed: false }),
    ownPorts,
    resolveHost: async () => [],
    timeoutMs: 5_000,
    maxConnectionsPerOrigin: 2,
  });
  for (; index < 45; index += 1) {
    const url = new URL(`http://127.0.0.1:${port}/hook`);
    const { status } = await httpClient.post({ url, headers: {}, body: Buffer.from("{}") });
    expect(status).toBe(300 + (index % 9));
  }
  await httpClient.close();
  server.close();
  expect(new Set(requestedPaths)).toEqual(new Set(["/hook"]));
  expect(new Set(connectionRecorder.addresses)).toEqual(new Set(["127.0.0.1"]));
});
