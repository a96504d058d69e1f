import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { bodySignatureBytes } from "@pragma/runtime/service-calls/body-signature";
import { type InterruptingProxy, startInterruptingProxy } from "@pragma/runtime/testing/interrupting-proxy";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

const resetCount = Number(process.env.CONNECTION_RESETS ?? 100);

let environment: IsolatedTestEnvironment;
let service: Server;
let proxy: InterruptingProxy;
let gateway: TestGateway;
let key: string;
/** The bodies of the POST requests that the service has received. */
let received: string[];

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  service = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    // The gateway appends a signature to the body.
    if (request.method === "POST") received.push(Buffer.concat(chunks).subarray(0, -bodySignatureBytes).toString());
    await sleep(Math.random() * 5);
    response.setHeader("content-type", "text/plain").end(request.url?.includes("large") ? "x".repeat(200_000) : "ok");
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  proxy = await startInterruptingProxy(`http://127.0.0.1:${(service.address() as AddressInfo).port}`);
  gateway = await startTestGateway(environment, {
    variables: { REPORTING_URL: proxy.url, UPSTREAM_TIMEOUT_SECONDS: "5" },
  });
  ({ key } = gateway.accounts.addKey());
});
afterAll(async () => {
  await gateway.stop();
  await proxy.close();
  service.close();
  await environment.remove();
});
beforeEach(() => {
  received = [];
});

const get = async (path = "/v2/reports/") => {
  const response = await gateway.request(path, { key });
  return [response.status, await response.text()];
};
const post = async (body: string) => (await gateway.request("/v2/reports/", { key, method: "POST", body })).status;

describe.each(["reset", "close"] as const)("after a connection to a service was lost (%s)", (action) => {
  it.each([
    ["before the request arrives", "request"],
    ["before the response", 0],
    ["in the headers of the response", 20],
    ["in the body of the response", -1],
  ] as const)("%s, a GET is answered, and a POST is refused and not repeated", async (_, moment) => {
    const whole = proxy.interrupt("GET /v2/reports", Number.POSITIVE_INFINITY);
    await get();
    whole.end();
    const maxBytes = moment === -1 ? whole.byteCount - 1 : moment;
    const readInterruption = proxy.interrupt("GET /v2/reports", maxBytes, action);
    expect(await get()).toEqual([200, "ok"]);
    expect(readInterruption.isInterrupted).toBe(true);
    const writeInterruption = proxy.interrupt("POST /v2/reports", maxBytes, action);
    expect(await post("{}")).toBe(503);
    expect(writeInterruption.isInterrupted).toBe(true);
    expect(received).toHaveLength(moment === "request" ? 0 : 1);
    expect(await post("{}")).toBe(200);
  });

  it("while connections are idle, requests are answered", async () => {
    await Promise.all(Array.from({ length: 20 }, () => get()));
    const responses = Array.from({ length: 20 }, () => get());
    if (action === "reset") proxy.resetConnections();
    else proxy.destroyConnections();
    for (const response of await Promise.all(responses)) expect(response).toEqual([200, "ok"]);
  });
});

it("answers or refuses all requests when all connections are reset under load, and repeats no POST", async () => {
  let resets = 0;
  const outcomes: unknown[] = [];
  const accepted: string[] = [];
  const sendRequests = async (worker: number) => {
    for (let count = 0; resets < resetCount; count += 1) {
      const body = `"${worker} ${count}"`;
      const [read, status] = await Promise.all([get(), post(body)]);
      outcomes.push(read[0], status);
      if (status === 200) accepted.push(body);
      // The start of the response has been sent, so that the gateway can only abort it.
      const large = await gateway.request("/v2/reports/large", { key });
      const text = await large.text().catch(() => undefined);
      if (large.status === 200 && text !== undefined) expect(text).toHaveLength(200_000);
      outcomes.push(large.status);
    }
  };
  const sending = Promise.all(Array.from({ length: 10 }, (_, worker) => sendRequests(worker)));
  while (resets < resetCount) {
    resets += proxy.resetConnections();
    await sleep(Math.random() * 30);
  }
  await sending;
  expect([...new Set(outcomes)].sort()).toEqual([200, 503]);
  expect(received).toEqual([...new Set(received)]);
  expect(received).toEqual(expect.arrayContaining(accepted));
  expect(await get()).toEqual([200, "ok"]);
});
