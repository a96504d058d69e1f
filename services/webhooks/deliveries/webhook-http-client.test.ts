import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createWebhookAddressPolicy, parseWebhookAddressAllowlist } from "../endpoints/address-policy.ts";
import { readOwnPorts } from "../endpoints/own-ports.ts";
import {
  createFixedStatusResponseHandler,
  startTestWebhookReceiver,
  type TestWebhookReceiver,
  type TestWebhookReceiverEndpoint,
} from "../testing/webhook-receiver.ts";
import { createWebhookHttpClient, type WebhookHttpClient } from "./webhook-http-client.ts";

let receiver: TestWebhookReceiver;
let endpoint: TestWebhookReceiverEndpoint;
let httpClient: WebhookHttpClient;

beforeAll(async () => {
  receiver = await startTestWebhookReceiver();
  httpClient = createWebhookHttpClient({
    addressPolicy: createWebhookAddressPolicy(parseWebhookAddressAllowlist(""), { isLoopbackAllowed: true }),
    ownPorts: readOwnPorts({}),
    resolveHost: () => Promise.reject(new Error("unused")),
    timeoutMs: 400,
    maxConnectionsPerOrigin: 10,
  });
});
beforeEach(() => {
  endpoint = receiver.addEndpoint();
});
afterAll(async () => {
  await httpClient?.close();
  await receiver?.close();
});

const post = (url = endpoint.url, headers = {}) =>
  httpClient.post({ url: new URL(url), headers, body: Buffer.from('{"crème":1}') });

describe("a posted message", () => {
  it("arrives unchanged, and its result contains the response", async () => {
    endpoint.setHandler(
      createFixedStatusResponseHandler(202, { body: "thank you", headers: { "retry-after": "120" } }),
    );
    expect(await post(endpoint.url, { "x-test": "1" })).toEqual({
      status: 202,
      response: "thank you",
      retryAfterMs: 120_000,
    });
    expect(endpoint.receivedWebhooks).toMatchObject([
      { method: "POST", body: '{"crème":1}', headers: { "x-test": "1" } },
    ]);
  });

  it("reuses the connection of the previous message", async () => {
    await post();
    const { connectionCount } = receiver;
    for (let count = 0; count < 20; count += 1) await post();
    expect(receiver.connectionCount).toBe(connectionCount);
  });

  it("has at most 20 KB of its response stored and at most 64 KB read", async () => {
    const text = randomBytes(20_000).toString("hex");
    endpoint.setHandler(createFixedStatusResponseHandler(200, { body: text }));
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
    await eventually("the connection to close", () => isEnded);
    expect(sent).toBeLessThan(1_000_000);
  });

  it("has a result once the status is known, even if the response body is incomplete", async () => {
    endpoint.setHandler((_, response) => void response.writeHead(200).write("unfinished"));
    expect(await post()).toMatchObject({ status: 200, response: "unfinished" });
    endpoint.setHandler((_, response) => {
      response.writeHead(201).write("broken");
      setTimeout(() => response.destroy(), 20);
    });
    expect(await post()).toMatchObject({ status: 201, response: "broken" });
  });

  it("ignores interim responses", async () => {
    endpoint.setHandler((_, response) => {
      response.writeEarlyHints({ link: "</a>; rel=preload" });
      response.writeHead(204).end();
    });
    expect(await post()).toMatchObject({ status: 204 });
  });
});

describe("a message without a response", () => {
  const findClosedPort = async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  };

  it("times out", async () => {
    endpoint.setHandler(() => {});
    const startedAt = performance.now();
    expect(await post()).toEqual({ status: null, reason: "The endpoint did not respond within 0.4 s." });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it("has a reason for the operator of the endpoint", async () => {
    const closedUrl = `http://127.0.0.1:${await findClosedPort()}/`;
    expect(await post(closedUrl)).toEqual({ status: null, reason: "The endpoint refused the connection." });
    endpoint.setHandler((_, response) => void response.destroy());
    expect(await post()).toEqual({ status: null, reason: "The endpoint closed the connection without a response." });
    const reason = "The endpoint's host has no public address, or could not be resolved.";
    expect(await post("http://10.1.2.3/")).toEqual({ status: null, reason });
    expect(await post("https://nowhere.example/")).toEqual({ status: null, reason });
  });

  it("has a result even if its headers are invalid", async () => {
    expect(await post(endpoint.url, { "not a name\n": "x" })).toMatchObject({ status: null });
  });
});
