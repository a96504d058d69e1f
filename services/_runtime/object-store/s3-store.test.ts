import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { expectObjectStoreCallsUnavailable } from "../testing/object-store-conformance.ts";
import { createObjectStore } from "./object-store.ts";
import { createS3ObjectStore, type S3BucketAddress } from "./s3-store.ts";
import { ObjectNotFoundError, type ObjectStore, ObjectStoreUnavailableError } from "./store-interface.ts";

const bytes = Buffer.from("content");
const timeouts = { connectMs: 500, responseMs: 300, idleMs: 1_000, healthCheckMs: 300 };

/** The request handler of the fake S3 server. Set by each test that sends requests to this server. */
let respond: (request: IncomingMessage, response: ServerResponse) => void;
let requests: number;
let connections: number;
let server: Server;
let location: S3BucketAddress;
let store: ObjectStore;

beforeEach(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "access");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  requests = 0;
  connections = 0;
  server = createServer((request, response) => {
    requests++;
    respond(request, response);
  });
  server.on("connection", () => connections++);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  location = { bucket: "tills", prefix: "live", endpoint, forcePathStyle: true };
  store = createS3ObjectStore(location, timeouts);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await store.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

test("sends the body unchanged with its signed hash and type, and without headers that only AWS supports", async () => {
  const received: { request: IncomingMessage; body: Buffer }[] = [];
  respond = async (request, response) => {
    received.push({ request, body: await readBody(request) });
    response.end();
  };
  const large = Buffer.alloc(3_000_000, "x");
  await store.put("a/b", large);
  const [put] = received;
  expect(put?.request.url).toMatch(/^\/tills\/live\/a\/b(\?|$)/);
  expect(put?.body.equals(large)).toBe(true);
  expect(put?.request.headers).toMatchObject({
    "content-type": "application/json",
    "content-length": "3000000",
    "x-amz-content-sha256": createHash("sha256").update(large).digest("hex"),
  });
  const names = Object.keys(put?.request.headers ?? {}).join(" ");
  expect(names).not.toMatch(/expect|trailer|x-amz-checksum|content-encoding/);
});

test("finds out whether an object exists by reading one byte of it", async () => {
  const ranges: string[] = [];
  respond = (request, response) => {
    ranges.push(`${request.method} ${request.headers.range}`);
    if (request.url?.includes("empty")) response.writeHead(416).end("<Error><Code>InvalidRange</Code></Error>");
    else if (request.url?.includes("absent")) response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
    else response.writeHead(206).end("c");
  };
  const { bucket, prefix, endpoint = "" } = location;
  const compressing = createObjectStore(`s3://${bucket}/${prefix}?forcePathStyle=true&endpoint=${endpoint}`);
  expect(await compressing.has("a/present")).toBe(true);
  expect(await compressing.has("a/empty")).toBe(true);
  expect(await compressing.has("a/absent")).toBe(false);
  expect(ranges).toEqual(["GET bytes=0-0", "GET bytes=0-0", "GET bytes=0-0"]);
  respond = (_, response) => response.writeHead(403).end();
  await expect(compressing.has("a/b")).rejects.toThrow(ObjectStoreUnavailableError);
  await compressing.close();
});

test("reuses its connection", async () => {
  respond = async (request, response) => {
    await readBody(request);
    response.end("content");
  };
  for (let times = 0; times < 4; times++) {
    await store.put("a/b", Buffer.alloc(3_000_000));
    await store.get("a/b");
  }
  expect(connections).toBe(1);
});

test("retries server errors, up to three attempts", async () => {
  respond = (_, response) => response.writeHead(requests < 3 ? 503 : 200).end();
  await store.put("a/b", bytes);
  expect(requests).toBe(3);

  respond = (_, response) => response.writeHead(500).end();
  await expect(store.put("a/b", bytes)).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
  expect(requests).toBe(6);
});

test("is unavailable when the connection is refused", async () => {
  await expectObjectStoreCallsUnavailable(createS3ObjectStore({ ...location, endpoint: "http://127.0.0.1:1" }), 5_000);
});

test("is unavailable when the server never responds", async () => {
  respond = () => {};
  await expectObjectStoreCallsUnavailable(store, 8_000);
});

test("allows more time for the transfer of a large body", async () => {
  respond = async (request, response) => {
    await readBody(request);
    setTimeout(() => response.end(), 3 * timeouts.responseMs);
  };
  // Only the time until the response is short, so that a busy machine does not reach the others.
  await store.close();
  store = createS3ObjectStore(location, { ...timeouts, connectMs: 10_000, idleMs: 30_000 });
  await store.put("a/b", Buffer.alloc(10_000_000));
  expect(requests).toBe(1);
});

test.each([
  [403, "AccessDenied"],
  [404, "NoSuchBucket"],
  [400, "ExpiredToken"],
  [301, "PermanentRedirect"],
  [429, "TooManyRequests"],
])("is unavailable on %i %s, which the request did not cause", async (status, code) => {
  respond = (_, response) => sendS3Error(response, status, code);
  await expectObjectStoreCallsUnavailable(store, 12_000);
});

test("is unavailable when a proxy responds with an HTML page", async () => {
  respond = (_, response) => response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway");
  await expectObjectStoreCallsUnavailable(store, 12_000);
});

test("reports an absent object only for NoSuchKey", async () => {
  respond = (_, response) => sendS3Error(response, 404, "NoSuchKey");
  await expect(store.get("a/b")).rejects.toBeInstanceOf(ObjectNotFoundError);
  await expect(store.stream("a/b")).rejects.toBeInstanceOf(ObjectNotFoundError);
  await store.delete("a/b");
  respond = (_, response) => response.writeHead(404).end();
  await expect(store.get("a/b")).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
});

test("does not report EntityTooLarge as unavailable", async () => {
  respond = (_, response) => sendS3Error(response, 400, "EntityTooLarge");
  await expect(store.put("a/b", bytes)).rejects.toMatchObject({ name: "EntityTooLarge" });
});

test.each([
  ["is truncated", (response: ServerResponse) => response.destroy()],
  ["stalls", () => {}],
])("is unavailable when a body %s halfway", async (_, interrupt) => {
  respond = (_, response) => {
    response.writeHead(200, { "content-length": 100_000 }).write(Buffer.alloc(1_000), () => interrupt(response));
  };
  await expect(store.get("a/b")).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
  const { body, size } = await store.stream("a/b");
  expect(size).toBe(100_000);
  await expect(new Response(body).arrayBuffer()).rejects.toBeInstanceOf(ObjectStoreUnavailableError);
});

test("ends the transfer of a canceled stream", async () => {
  const closed = new Promise<void>((resolve) => {
    respond = (_, response) => {
      response.on("close", resolve);
      response.writeHead(200, { "content-length": 100_000_000 }).write(Buffer.alloc(1_000_000));
    };
  });
  const storeWithDefaultTimeouts = createS3ObjectStore(location);
  const { body } = await storeWithDefaultTimeouts.stream("a/b");
  await body.cancel();
  await closed;
  await storeWithDefaultTimeouts.close();
});

function sendS3Error(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>test</Message></Error>`);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
