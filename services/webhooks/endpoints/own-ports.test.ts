import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWebhookHttpClient } from "../deliveries/webhook-http-client.ts";
import { createWebhookAddressPolicy, parseWebhookAddressAllowlist } from "./address-policy.ts";
import { findWebhookEndpointUrlIssue } from "./check-endpoint.ts";
import { readOwnPorts } from "./own-ports.ts";

/** A server of the installation, which counts connections. */
const server = createServer((socket) => {
  connectionCount += 1;
  socket.destroy();
});
let connectionCount = 0;
let port: number;
beforeAll(async () => {
  server.listen(0, "::");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => void server.close());

it("leaves out the port of the inbox of sandboxes, unless a server has it", () => {
  const inbox = { SANDBOX_INBOX_PORT: "4010", SANDBOX_INBOX_URL: "http://127.0.0.1:4010" };
  expect(readOwnPorts(inbox).has(4010)).toBe(false);
  expect(readOwnPorts({ ...inbox, OPS_PORT: "4010" }).has(4010)).toBe(true);
});

it("reads the ports of all servers from the environment", () => {
  const ownPorts = readOwnPorts({
    ...{
      OPS_PORT: "4191",
      PORTAL_PORT: "3100",
      DOCS_URL: "http://localhost:3200/docs",
      PUBLIC_URL: "https://api.example",
    },
    ...{
      REPORTING_DATABASE_URL: "postgres://me:7777@db:5433/pragma?sslmode=verify-full",
      DATABASE_URL: "postgres://db/x",
      DATABASE_READ_URL: "postgres:///x?host=replica&port=5434",
    },
    ...{
      NATS_URL: "nats://me:secret@one:4223, two:4224,[::1]:4225",
      REDIS_URL: "redis://[::1]:6380",
      UNRELATED: "http://x:1",
    },
    ...{
      OBJECT_STORE: "s3://pragma?endpoint=http%3A%2F%2Fobjects%3A7070&region=x",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318",
      AWS_ENDPOINT_URL_S3: "http://objects:7071",
    },
  });
  const all = [443, 3100, 3200, 4000, 4191, 4223, 4224, 4225, 4318, 5432, 5433, 5434, 6380, 7070, 7071];
  expect(Array.from({ length: 9_000 }, (_, each) => each + 1).filter((each) => ownPorts.has(each))).toEqual(all);
});

const lanAddress =
  Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === "IPv4" && !each.internal)?.address ?? "127.0.0.1";

describe("a port of this installation", () => {
  const addressPolicy = createWebhookAddressPolicy(parseWebhookAddressAllowlist("0.0.0.0/0,::/0,listed.example"), {
    isLoopbackAllowed: true,
  });
  const resolveHost = async () => [
    { address: "203.0.113.9", family: 4 },
    { address: "127.0.0.1", family: 4 },
  ];

  it.each([
    ...[
      "127.0.0.1",
      "127.8.8.8",
      "0.0.0.0",
      "0",
      "2130706433",
      "[::]",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
    ],
    ...["localhost", "rebound.example", "listed.example", lanAddress, `[::ffff:${lanAddress}]`],
  ])("is rejected as an endpoint at %s, when it is created and when a message is sent", async (host) => {
    const url = new URL(`http://${host}:${port}/till-ingest/unfinished`);
    const rules = { addressPolicy, resolveHost, isHttpsRequired: false };
    const ownPorts = readOwnPorts({ OPS_PORT: String(port) });
    expect(await findWebhookEndpointUrlIssue(url.href, { ...rules, ownPorts })).toMatchObject({
      code: "forbidden_port",
    });
    const send = async (environment: Record<string, string>) => {
      const client = createWebhookHttpClient({
        ...rules,
        ownPorts: readOwnPorts(environment),
        timeoutMs: 2_000,
        maxConnectionsPerOrigin: 1,
      });
      await client.post({ url, headers: {}, body: Buffer.from("{}") });
      await client.close();
    };
    connectionCount = 0;
    await send({ OPS_PORT: String(port) });
    expect(connectionCount).toBe(0);
    // Another port of this machine is allowed for development.
    if (!host.endsWith(".example")) {
      await send({});
      expect(connectionCount).toBeGreaterThan(0);
    }
  });
});
