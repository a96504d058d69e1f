import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { expectStoreUnavailable } from "../testing/object-store-conformance.ts";
import { ObjectNotFound, type ObjectStore, ObjectStoreUnavailable } from "./object-store.ts";
import { createS3ObjectStore, type S3BucketAddress } from "./s3-store.ts";

const bytes = Buffer.from("content");
const timeouts = { connectMs: 500, responseMs: 300, idleMs: 1_000, checkMs: 300 };

/** What the server in place of S3 does with a request; each test says. */
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

test("sends the body as it is, its hash under the signature, its type, and nothing that only S3 itself knows", async () => {
  const received: { request: IncomingMessage; body: Buffer }[] = [];
  respond = async (request, response) => {
    received.push({ request, body: await bodyOf(request) });
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

test("keeps its connection for the next request", async () => {
  respond = async (request, response) => {
    await bodyOf(request);
    response.end("content");
  };
  for (let times = 0; times < 4; times++) {
    await store.put("a/b", Buffer.alloc(3_000_000));
    await store.get("a/b");
  }
  expect(connections).toBe(1);
});

test("tries again when the server falters, three times at most", async () => {
  respond = (_, response) => response.writeHead(requests < 3 ? 503 : 200).end();
  await store.put("a/b", bytes);
  expect(requests).toBe(3);

  respond = (_, response) => response.writeHead(500).end();
  await expect(store.put("a/b", bytes)).rejects.toBeInstanceOf(ObjectStoreUnavailable);
  expect(requests).toBe(6);
});

test("is unavailable where nothing listens", async () => {
  await expectStoreUnavailable(createS3ObjectStore({ ...location, endpoint: "http://127.0.0.1:1" }), 5_000);
});

test("is unavailable when the server takes requests and never answers", async () => {
  respond = () => {};
  await expectStoreUnavailable(store, 8_000);
});

test("gives a large body the time that its transfer takes", async () => {
  respond = async (request, response) => {
    await bodyOf(request);
    setTimeout(() => response.end(), 3 * timeouts.responseMs);
  };
  await store.put("a/b", Buffer.alloc(3_000_000));
  expect(requests).toBe(1);
});

test.each([
  [403, "AccessDenied"],
  [404, "NoSuchBucket"],
  [400, "ExpiredToken"],
  [301, "PermanentRedirect"],
  [429, "TooManyRequests"],
])("is unavailable on %i %s, which names no fault of the call", async (status, code) => {
  respond = (_, response) => refuse(response, status, code);
  await expectStoreUnavailable(store, 12_000);
});

test("is unavailable when a proxy answers with a page of its own", async () => {
  respond = (_, response) => response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway");
  await expectStoreUnavailable(store, 12_000);
});

test("takes NoSuchKey for an absent object, and only that", async () => {
  respond = (_, response) => refuse(response, 404, "NoSuchKey");
  await expect(store.get("a/b")).rejects.toBeInstanceOf(ObjectNotFound);
  await expect(store.stream("a/b")).rejects.toBeInstanceOf(ObjectNotFound);
  await store.delete("a/b");
  respond = (_, response) => response.writeHead(404).end();
  await expect(store.get("a/b")).rejects.toBeInstanceOf(ObjectStoreUnavailable);
});

test("does not say that a refused object may be taken later", async () => {
  respond = (_, response) => refuse(response, 400, "EntityTooLarge");
  await expect(store.put("a/b", bytes)).rejects.toMatchObject({ name: "EntityTooLarge" });
});

test.each([
  ["is cut off", (response: ServerResponse) => response.destroy()],
  ["stands still", () => {}],
])("is unavailable when a body %s half way", async (_, halfWay) => {
  respond = (_, response) => {
    response.writeHead(200, { "content-length": 100_000 }).write(Buffer.alloc(1_000), () => halfWay(response));
  };
  await expect(store.get("a/b")).rejects.toBeInstanceOf(ObjectStoreUnavailable);
  const { body, size } = await store.stream("a/b");
  expect(size).toBe(100_000);
  await expect(new Response(body).arrayBuffer()).rejects.toBeInstanceOf(ObjectStoreUnavailable);
});

test("ends the transfer of a stream that is given up", async () => {
  const closed = new Promise<void>((resolve) => {
    respond = (_, response) => {
      response.on("close", resolve);
      response.writeHead(200, { "content-length": 100_000_000 }).write(Buffer.alloc(1_000_000));
    };
  });
  const patient = createS3ObjectStore(location);
  const { body } = await patient.stream("a/b");
  await body.cancel();
  await closed;
  await patient.close();
});

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>as the test says</Message></Error>`);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
