import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAddressPolicy, parseEndpointAllowlist } from "../endpoints/address-policy.ts";
import {
  type ReceiverEndpoint,
  respondWithStatus,
  startWebhookReceiver,
  type WebhookReceiver,
} from "../testing/webhook-receiver.ts";
import { createWebhookHttpClient, type WebhookHttpClient } from "./webhook-http-client.ts";

let receiver: WebhookReceiver;
let endpoint: ReceiverEndpoint;
let poster: WebhookHttpClient;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  const policy = createAddressPolicy(parseEndpointAllowlist(""), { isLoopbackAllowed: true });
  poster = createWebhookHttpClient({
    addressPolicy: policy,
    resolveHost: () => Promise.reject(new Error("unused")),
    timeoutMs: 400,
    maxConnectionsPerOrigin: 10,
  });
});
beforeEach(() => {
  endpoint = receiver.addEndpoint();
});
afterAll(async () => {
  await poster?.close();
  await receiver?.close();
});

const post = (url = endpoint.url, headers = {}) =>
  poster.post({ url: new URL(url), headers, body: Buffer.from('{"crème":1}') });

describe("a message that is posted", () => {
  it("arrives as it is, and its response is told", async () => {
    endpoint.setHandler(respondWithStatus(202, { body: "thank you", headers: { "retry-after": "120" } }));
    expect(await post(`${endpoint.url}`, { "x-of-ours": "1" })).toEqual({
      status: 202,
      response: "thank you",
      retryAfter: 120_000,
    });
    expect(endpoint.receivedWebhooks).toMatchObject([
      { method: "POST", body: '{"crème":1}', headers: { "x-of-ours": "1" } },
    ]);
  });

  it("uses the connection of the one before", async () => {
    await post();
    const before = receiver.connectionCount;
    for (let count = 0; count < 20; count += 1) await post();
    expect(receiver.connectionCount).toBe(before);
  });

  it("has no more than the first 20 KB of its response kept, and 64 KB of it read", async () => {
    const text = randomBytes(20_000).toString("hex");
    endpoint.setHandler(respondWithStatus(200, { body: text }));
    expect(await post()).toMatchObject({ status: 200, response: text.slice(0, 20 * 1_024) });

    let sent = 0;
    let isEnded = false;
    endpoint.setHandler((_, response) => {
      response.on("close", () => (isEnded = true)).writeHead(500);
      const write = () => {
        if (isEnded) return;
        sent += 16_384;
        response.write("x".repeat(16_384));
        setTimeout(write, 1);
      };
      write();
    });
    expect(await post()).toMatchObject({ status: 500, response: "x".repeat(20 * 1_024) });
    await eventually("the connection to be ended", () => isEnded);
    expect(sent).toBeLessThan(1_000_000);
  });

  it("has succeeded once its status is known, however its response ends", async () => {
    endpoint.setHandler((_, response) => void response.writeHead(200).write("and so on"));
    expect(await post()).toMatchObject({ status: 200, response: "and so on" });
    endpoint.setHandler((_, response) => {
      response.writeHead(201).write("broken");
      setTimeout(() => response.destroy(), 20);
    });
    expect(await post()).toMatchObject({ status: 201, response: "broken" });
  });

  it("may be answered with interim responses before", async () => {
    endpoint.setHandler((_, response) => {
      response.writeEarlyHints({ link: "</a>; rel=preload" });
      response.writeHead(204).end();
    });
    expect(await post()).toMatchObject({ status: 204 });
  });
});

describe("a message that is not answered", () => {
  const closedPort = async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  };

  it("is given up after the time that it may take", async () => {
    endpoint.setHandler(() => {});
    const since = performance.now();
    expect(await post()).toEqual({ status: null, reason: "There was no response within 0.4 s." });
    expect(performance.now() - since).toBeLessThan(1_000);
  });

  it("tells why, in words for whoever runs the endpoint", async () => {
    const refused = `http://127.0.0.1:${await closedPort()}/`;
    expect(await post(refused)).toEqual({ status: null, reason: "The endpoint refused the connection." });
    endpoint.setHandler((_, response) => void response.destroy());
    expect(await post()).toEqual({
      status: null,
      reason: "The endpoint closed the connection without a response.",
    });
    const reason = "The endpoint cannot be sent to: its host has no public address, or cannot be looked up.";
    expect(await post("http://10.1.2.3/")).toEqual({ status: null, reason });
    expect(await post("https://nowhere.example/")).toEqual({ status: null, reason });
  });

  it("is a result also when it cannot be written as a request at all", async () => {
    expect(await post(endpoint.url, { "not a name\n": "x" })).toMatchObject({ status: null });
  });
});
