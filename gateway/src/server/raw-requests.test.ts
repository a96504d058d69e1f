import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { type HttpServer, startHttpServer } from "@pragma/runtime/http/http-server";
import { createVerifiedBodyStream, hasRequestBody } from "@pragma/runtime/http/read-body";
import type { RequestPrincipalAndMetadata, ServiceHonoBindings } from "@pragma/runtime/http/request-identity";
import { generateApiKey } from "@pragma/runtime/security/api-key";
import { createInternalRequestVerifier } from "@pragma/runtime/service-calls/internal-request-signing";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeApiKeyLookupService, startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

/** The names of two consumers. Each has its own API key. */
const clients = ["Anna", "Bruno"] as const;
const keys = { Anna: generateApiKey().key, Bruno: generateApiKey().key };

let environment: IsolatedTestEnvironment;
let service: HttpServer;
/** A node:http server without Hono that responds like the service, for comparison. */
let referenceServer: Server;
const gateways = {} as Record<"in-process" | "remote", TestGateway>;

/** Returns a summary of a request as the server parsed it. */
async function describeRequest(
  incoming: IncomingMessage,
  consumer: string,
  identity?: RequestPrincipalAndMetadata,
): Promise<object> {
  const hash = createHash("sha256");
  let bytes = 0;
  if (hasRequestBody(incoming)) {
    for await (const chunk of identity ? createVerifiedBodyStream(incoming, identity.createBodyVerifier) : incoming) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
  }
  const { "content-type": type, "if-none-match": tag } = incoming.headers;
  return { consumer, method: incoming.method, url: incoming.url, bytes, hash: hash.digest("hex"), type, tag };
}

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const accounts = new FakeApiKeyLookupService();
  for (const consumer of clients) {
    accounts.addKey({ consumer, rateLimit: { perSecond: 100_000, burst: 1_000_000 } }, keys[consumer]);
  }
  const verify = createInternalRequestVerifier(environment.variables, "reporting");
  const respond = async (_: Request, { incoming, requestIdentity }: ServiceHonoBindings = {}) => {
    if (!incoming) throw new Error("Every request comes over HTTP.");
    const identity = requestIdentity ?? verify(incoming);
    return Response.json(await describeRequest(incoming, identity.principal.consumer, identity));
  };
  service = await startHttpServer(respond, { port: 0 });
  gateways["in-process"] = await startTestGateway(environment, { accounts, inProcessServices: { reporting: respond } });
  gateways.remote = await startTestGateway(environment, {
    accounts,
    variables: { REPORTING_URL: `http://127.0.0.1:${service.port}` },
  });
  referenceServer = createServer(async (incoming, outgoing) => {
    const { authorization, "transfer-encoding": encoding = "" } = incoming.headers;
    // The encoding is checked here, because with an Upgrade header, node:http accepts any encoding and ignores bodies.
    if (!/^$|^([, ]*chunked)+$/i.test(encoding)) return void outgoing.writeHead(501, { connection: "close" }).end();
    const key = authorization?.replace("Bearer ", "");
    const consumer = clients.find((name) => keys[name] === key);
    const body = await describeRequest(incoming, consumer ?? "nobody").catch(() => undefined);
    if (body)
      outgoing.writeHead(consumer ? 200 : 401, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => referenceServer.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await Promise.all(Object.values(gateways).map((gateway) => gateway.stop()));
  await service.stop();
  referenceServer.close();
  referenceServer.closeAllConnections();
  await environment.remove();
});

interface RawResponseSummary {
  status: number;
  /** Undefined for errors, because the servers send different error texts. */
  body: unknown;
}

/**
 * Sends bytes in several pieces. Returns all responses that arrive before the connection closes or is idle for half a
 * second (two seconds before the first response).
 */
function sendRawBytes(port: number, pieces: Buffer[]): Promise<RawResponseSummary[]> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    let idleTimer: NodeJS.Timeout | undefined;
    const end = () => {
      clearTimeout(idleTimer);
      socket.destroy();
      resolve(parseResponses(text));
    };
    const wait = () => {
      clearTimeout(idleTimer);
      // Waits longer for the first response, because it can be slow on a busy machine.
      idleTimer = setTimeout(end, text === "" ? 2_000 : 500);
    };
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      wait();
    });
    socket.on("error", () => {}).on("close", end);
    socket.on("connect", async () => {
      for (const piece of pieces) {
        if (!socket.writable) break;
        socket.write(piece);
        await sleep(1);
      }
      wait();
    });
  });
}

function parseResponses(text: string): RawResponseSummary[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((response) => response.startsWith("HTTP/1.1 "))
    .map((response) => ({ status: Number(response.slice(9, 12)), response }))
    .filter(({ status }) => status !== 100)
    .map(({ status, response }) => ({
      status,
      body: status === 200 ? JSON.parse(/\{.*\}/s.exec(response)?.[0] ?? "null") : undefined,
    }));
}

const headerNames = [
  ...["content-length", "transfer-encoding", "host", "authorization", "content-type", "content-encoding", "expect"],
  ...["if-none-match", "x-request-id", "traceparent", "x-forwarded-host", "x-forwarded-proto", "x-pragma-principal"],
  ...["x-pragma-signature", "connection", "keep-alive", "te", "upgrade", "cookie", "idempotency-key"],
];

const body = fc.oneof(
  fc.constant("{}"),
  fc.stringMatching(/^[a-z]{0,200}$/),
  // A body that looks like another request, to detect request smuggling.
  fc
    .constantFrom(...clients)
    .map((name) => `DELETE /v1/auth/keys/1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keys[name]}\r\n\r\n`),
);

const framing = fc.constantFrom<(text: string) => [string[], string]>(
  (text) => [[`content-length: ${text.length}`], text],
  (text) => [
    ["transfer-encoding: chunked"],
    `${text.length.toString(16)}\r\n${text}\r\n${text === "" ? "" : "0\r\n\r\n"}`,
  ],
  // Invalid or unusual Content-Length headers, Transfer-Encoding headers and chunks.
  (text) => [[`content-length: ${text.length}`, `content-length: ${text.length}`], text],
  (text) => [[`content-length: ${text.length}`, "content-length: 1"], text],
  (text) => [
    ["content-length: 3", "transfer-encoding: chunked"],
    `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
  ],
  (text) => [[`content-length: +${text.length}`], text],
  (text) => [["transfer-encoding: chunked, identity"], text],
  (text) => [["transfer-encoding: xchunked"], text],
  (text) => [
    ["transfer-encoding: chunked"],
    `${text.length.toString(16)};ext=1\r\n${text}\r\n0\r\nx-trailer: 1\r\n\r\n`,
  ],
  (text) => [["transfer-encoding: chunked"], `zz\r\n${text}\r\n0\r\n\r\n`],
  (text) => [["content-length : 2"], text],
);

const unusualHeader = fc.constantFrom(
  "x-forwarded-host: evil.example",
  "x-pragma-principal: eyJzY29wZXMiOlsiYWRtaW4iXX0",
  "x-pragma-signature: gateway;test;9999999999;AAAA",
  "x-request-id: mine",
  "te: trailers",
  "upgrade: websocket",
  "cookie: a=1",
  'if-none-match: "a"',
  "content-type: application/json",
  "x-folded: a\r\n b",
  "x-empty:",
);

const rawRequest = fc
  .record({
    method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH"),
    path: fc.constantFrom("/v2/reports/", "/v2/reports/1?a=b", "/v2/reports/x%20y"),
    client: fc.constantFrom(...clients),
    connectionHeaders: fc.option(fc.subarray(headerNames, { minLength: 1 })),
    unusualHeaders: fc.array(unusualHeader, { maxLength: 3 }),
    framing,
    body,
    lineEnd: fc.constantFrom("\r\n", "\r\n", "\r\n", "\n"),
  })
  .map(({ method, path, client, connectionHeaders, unusualHeaders, framing: frame, body: text, lineEnd }) => {
    const [lines, bytes] = method === "GET" ? [[], ""] : frame(text);
    const head = [
      `${method} ${path} HTTP/1.1`,
      "host: api.example",
      `authorization: Bearer ${keys[client]}`,
      ...(connectionHeaders ? [`connection: ${connectionHeaders.join(", ")}`] : []),
      ...unusualHeaders,
      ...lines,
    ];
    return `${head.join(lineEnd)}${lineEnd}${lineEnd}${bytes}`;
  });

/** Generates one to three requests for one connection, as bytes that are split at random offsets. */
const rawConnection = fc
  .tuple(
    fc.array(rawRequest, { minLength: 1, maxLength: 3 }),
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
  )
  .map(([requests, cuts]) => {
    const bytes = Buffer.from(requests.join(""), "latin1");
    const offsets = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length].sort((a, b) => a - b);
    return offsets.slice(1).map((end, index) => bytes.subarray(offsets[index], end));
  });

/**
 * Expects the same responses from both servers. If both servers reject a request, only the successful responses that
 * both have sent are compared, because a server that rejects a request can lose responses that it has not sent yet.
 */
function expectSameResponses(ours: RawResponseSummary[], theirs: RawResponseSummary[], bytes: string): void {
  const successfulBodies = (responses: RawResponseSummary[]) =>
    responses.filter(({ status }) => status === 200).map((response) => response.body);
  const areAllSuccessful = (responses: RawResponseSummary[]) =>
    responses.every(({ status }) => status === 200) && responses.length > 0;
  const [mine, other] = [successfulBodies(ours), successfulBodies(theirs)];
  if (areAllSuccessful(theirs) || areAllSuccessful(ours)) expect(ours, JSON.stringify(bytes)).toEqual(theirs);
  const length = Math.min(mine.length, other.length);
  expect(mine.slice(0, length), JSON.stringify(bytes)).toEqual(other.slice(0, length));
}

/** The number of generated connections, and how many of them are open concurrently. */
const inputCount = 400;
const batchSize = 50;

describe.each(["in-process", "remote"] as const)("raw requests to a gateway (service %s)", (placement) => {
  it("are parsed as node:http parses them, whatever headers the Connection header lists and wherever the bytes are split", async () => {
    const all = fc.sample(rawConnection, { numRuns: inputCount });
    let successCount = 0;
    for (let start = 0; start < all.length; start += batchSize) {
      await Promise.all(
        all.slice(start, start + batchSize).map(async (pieces) => {
          const [ours, theirs] = await Promise.all([
            sendRawBytes(gateways[placement].port, pieces),
            sendRawBytes((referenceServer.address() as AddressInfo).port, pieces),
          ]);
          expectSameResponses(ours, theirs, Buffer.concat(pieces).toString("latin1"));
          successCount += ours.filter(({ status }) => status === 200).length;
        }),
      );
    }
    expect(successCount).toBeGreaterThan(inputCount / 10);
  }, 240_000);
});
