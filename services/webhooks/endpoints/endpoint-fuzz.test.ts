import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWebhookHttpClient } from "../deliveries/webhook-http-client.ts";
import { type ConnectionRecorder, recordConnections } from "../testing/connection-recorder.ts";
import { isForbiddenAddress } from "../testing/forbidden-address.ts";
import { createAddressPolicy, parseEndpointAllowlist } from "./address-policy.ts";
import { checkWebhookEndpoint } from "./check-endpoint.ts";

/** Endpoints that are tried. */
const runs = 5_000;

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
const percentEncode = (text: string) => text.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`);
const hex2 = (value: number) => value.toString(16).padStart(2, "0");

/** The ways in which an IPv4 address can be written in a URL. */
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

/** The ways in which an IPv4 address hides in IPv6. */
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

/** A name, and what is said when it is looked up: the first time, the second, and so on; the last answer stays. */
interface ResolvedName {
  host: string;
  answers: string[][];
}
const nameArbitrary: fc.Arbitrary<ResolvedName> = fc.record({
  host: fc.constantFrom(
    ...["hooks.example", "HOOKS.example", "hooks.example.", "xn--bcher-kva.example", "bücher.example", "a.b.c.d"],
    ...["localhost", "localhost.", "LOCALHOST", "x.localhost", "metadata.google.internal", "127.0.0.1.nip.example"],
  ),
  answers: fc.array(fc.array(plainAddress, { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
});

const hostArbitrary = fc.oneof(
  { weight: 3, arbitrary: ipv4Notation.map((host): ResolvedName => ({ host, answers: [] })) },
  { weight: 3, arbitrary: ipv6Notation.map((address): ResolvedName => ({ host: `[${address}]`, answers: [] })) },
  { weight: 3, arbitrary: nameArbitrary },
  { weight: 1, arbitrary: fc.domain().map((host): ResolvedName => ({ host, answers: [["127.0.0.1"]] })) },
);

const endpointArbitrary = fc.record({
  place: hostArbitrary,
  scheme: fc.constantFrom("http://", "https://", "HTTP://", "http:\\\\", "http:/", "ftp://", "//"),
  user: fc.constantFrom("", "", "", "user@", "user:pass@", "8.8.8.8@", "8.8.8.8:80@", "@"),
  port: fc.constantFrom("", "", ":80", ":443", ":8080", ":22", ":6379", ":65535", ":0", ":99999", ":"),
  rest: fc.constantFrom("", "/", "/hook?x=1", "/../..", "#", "#@8.8.8.8/", "\\@8.8.8.8/", "/@127.0.0.1"),
});

let connectionRecorder: ConnectionRecorder;
beforeAll(() => {
  connectionRecorder = recordConnections(() => false);
});
afterAll(() => connectionRecorder?.stop());

it("no forbidden address is ever connected to, however an endpoint is written or its name resolved", async () => {
  const policy = createAddressPolicy(parseEndpointAllowlist(""), { isLoopbackAllowed: false });
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(endpointArbitrary, async ({ place: { host, answers }, scheme, user, port, rest }) => {
      const url = `${scheme}${user}${host}${port}${rest}`;
      let asked = 0;
      const resolve = async () => {
        const answer = answers[Math.min(asked, answers.length - 1)] ?? [];
        asked += 1;
        if (answer.length === 0) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
        return answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      };
      const before = connectionRecorder.addresses.length;
      const rules = { addressPolicy: policy, resolveHost: resolve, isHttpsRequired: false };
      const fault = await checkWebhookEndpoint(url, rules);
      if (fault) expect(fault.message.length).toBeGreaterThan(20);
      else taken += 1;
      // Nor when it was registered before it was forbidden, or before its name stood for something else.
      if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
        const poster = createWebhookHttpClient({
          addressPolicy: policy,
          resolveHost: resolve,
          timeoutMs: 2_000,
          maxConnectionsPerOrigin: 2,
        });
        const letter = { url: new URL(url), headers: {}, body: Buffer.from("{}") };
        for (const _ of [1, 2]) expect(await poster.post(letter)).toMatchObject({ status: null });
        await poster.close();
      }
      expect(connectionRecorder.addresses.slice(before).filter(isForbiddenAddress), url).toEqual([]);
    }),
    { numRuns: runs },
  );
  // That some are good, and are connected to, is what gives the rest its weight.
  expect(taken).toBeGreaterThan(runs / 100);
  expect(connectionRecorder.addresses.length).toBeGreaterThan(runs / 50);
}, 120_000);

it("no redirect is followed to a forbidden address, nor to any other", async () => {
  connectionRecorder.stop();
  const places = ["http://169.254.169.254/", "http://[::1]:9/", "//10.0.0.1/", "/elsewhere", "http://127.0.0.1:9/"];
  let index = 0;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.writeHead(300 + (index % 9), { location: places[index % places.length] ?? "" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  connectionRecorder = recordConnections((address) => address === "127.0.0.1");
  const policy = createAddressPolicy(parseEndpointAllowlist("127.0.0.1"), { isLoopbackAllowed: false });
  const poster = createWebhookHttpClient({
    addressPolicy: policy,
    resolveHost: async () => [],
    timeoutMs: 5_000,
    maxConnectionsPerOrigin: 2,
  });
  for (; index < 45; index += 1) {
    const url = new URL(`http://127.0.0.1:${port}/hook`);
    const posted = await poster.post({ url, headers: {}, body: Buffer.from("{}") });
    expect(posted.status).toBe(300 + (index % 9));
  }
  await poster.close();
  server.close();
  expect(new Set(requests)).toEqual(new Set(["/hook"]));
  expect(new Set(connectionRecorder.addresses)).toEqual(new Set(["127.0.0.1"]));
});
