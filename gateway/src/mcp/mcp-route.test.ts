import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { metricsExample } from "@pragma/contracts/examples/metrics";
import { reportV2Example } from "@pragma/contracts/examples/report-v2";
import { problemSchema } from "@pragma/contracts/problem";
import { defaultApiConsumerScopes } from "@pragma/contracts/scopes";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { RequestPrincipalAndMetadata } from "@pragma/runtime/http/request-identity";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { eventually } from "@pragma/runtime/testing/eventually";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { maxSubrequestResponseBytes } from "../forwarding/subrequests.ts";
import { type GatewaysInBothModes, startGatewaysInBothModes } from "../testing/in-process-and-remote-gateways.ts";
import type { TestGateway } from "../testing/test-gateway.ts";
import { mcpLimits } from "./mcp-route.ts";

interface ReceivedRequest {
  url: URL;
  identity: RequestPrincipalAndMetadata | undefined;
  authorization: string | null;
}

let gateways: GatewaysInBothModes;
let gateway: TestGateway;
let key: string;
/** The requests that the reporting service received. */
let received: ReceivedRequest[] = [];
/** Returns the response of the reporting service. */
let respond: (url: URL, signal: AbortSignal) => Response | Promise<Response>;

beforeAll(async () => {
  gateways = await startGatewaysInBothModes(
    async (request, bindings) => {
      const url = new URL(request.url);
      received.push({ url, identity: bindings?.requestIdentity, authorization: request.headers.get("authorization") });
      return respond(url, request.signal);
    },
    { CORS_ORIGINS: "https://assistant.example", UPSTREAM_TIMEOUT_SECONDS: "1", USAGE_INTERVAL_SECONDS: "60" },
  );
  gateway = gateways["in-process"];
});
afterAll(() => gateways?.stop());
beforeEach(() => {
  received = [];
  respond = () => Response.json(metricsExample);
  ({ key } = gateways.accounts.addKey({ scopes: [...defaultApiConsumerScopes] }));
});

const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const listTools = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const callTool = (name: string, args: object = {}, id: number | string = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

interface JsonRpcResponse {
  jsonrpc: string;
  id: unknown;
  error?: { code: number; message: string };
  result?: { content?: { text: string }[]; isError?: boolean; tools?: unknown[]; protocolVersion?: string };
}

function post(body: unknown, init: RequestInit & { key?: string } = {}, to = gateway): Promise<Response> {
  const content = typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body);
  return to.request("/mcp", { method: "POST", key, ...init, body: content, headers: { ...headers, ...init.headers } });
}

const readMessage = async (response: Response) => (await response.json()) as JsonRpcResponse;

/** Calls a tool, and returns its text and whether it is an error. */
async function ask(name: string, args: object = {}, to = gateway): Promise<{ text: string; isError: boolean }> {
  const response = await post(callTool(name, args), {}, to);
  expect(response.status).toBe(200);
  const { result } = await readMessage(response);
  return { text: result?.content?.[0]?.text ?? "", isError: result?.isError ?? false };
}

describe("the MCP server", () => {
  it("requires an API key", async () => {
    const response = await gateway.request("/mcp", { method: "POST", headers, body: JSON.stringify(listTools) });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(problemSchema.parse(await response.json()).code).toBe("key_missing");
    expect((await post(listTools, { key: "wrong" })).status).toBe(401);
  });

  it.each(["GET", "DELETE", "PUT"])("responds with 405 to %s", async (method) => {
    const response = await gateway.request("/mcp", { method, key, headers: { accept: "text/event-stream" } });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST, OPTIONS");
  });

  it("rejects web pages of other origins than those of CORS_ORIGINS", async () => {
    const sendFrom = (origin: string) => post(listTools, { headers: { origin } });
    expect((await sendFrom("https://assistant.example")).status).toBe(200);
    for (const origin of ["https://attacker.example", "null", "http://localhost:6274"])
      expect((await sendFrom(origin)).status).toBe(403);
    const preflight = await gateway.request("/mcp", {
      method: "OPTIONS",
      headers: { origin: "https://assistant.example", "access-control-request-method": "POST" },
    });
    expect(preflight.headers.get("access-control-allow-headers")).toContain("mcp-protocol-version");
  });

  it.each(["application/json", "*/*", "application/*", "application/json;q=0.9, text/html", ""])(
    "answers a client that sends accept: %s",
    async (accept) => {
      const response = await post(listTools, { headers: { accept } });
      expect(response.status).toBe(200);
      expect((await readMessage(response)).result?.tools?.length).toBeGreaterThan(0);
    },
  );

  it.each(["text/event-stream", "text/html", "application/json;q=0, */*"])(
    "states to a client that sends accept: %s that all responses are JSON",
    async (accept) => {
      const response = await post(listTools, { headers: { accept } });
      expect(response.status).toBe(406);
      expect((await readMessage(response)).error?.message).toContain("application/json");
    },
  );

  it("checks the headers that the protocol requires", async () => {
    expect((await post(listTools, { headers: { "content-type": "text/plain" } })).status).toBe(415);
    const unsupported = await post(listTools, { headers: { "mcp-protocol-version": "2020-01-01" } });
    expect(unsupported.status).toBe(400);
    expect((await readMessage(unsupported)).error?.message).toContain("2025-11-25");
    expect((await post(listTools, { headers: { "mcp-protocol-version": "2025-06-18" } })).status).toBe(200);
  });

  it("limits the size of bodies, also after decompression", async () => {
    const large = { ...listTools, params: { padding: "x".repeat(mcpLimits.bodyBytes) } };
    for (const response of [
      await post(large),
      await post(gzipSync(JSON.stringify(large)), { headers: { "content-encoding": "gzip" } }),
    ]) {
      expect(response.status).toBe(413);
      expect(problemSchema.parse(await response.json())).toMatchObject({
        code: "body_too_large",
        detail: expect.stringContaining("64 KB"),
      });
    }
    const compressed = await post(gzipSync(JSON.stringify(listTools)), { headers: { "content-encoding": "gzip" } });
    expect((await readMessage(compressed)).result?.tools).toHaveLength(6);
  });

  it("answers batches up to a limit, and rejects those that could not be answered completely", async () => {
    const batch = await post([listTools, { ...listTools, id: "two" }]);
    expect((await batch.json()) as unknown[]).toHaveLength(2);
    const tooMany = Array.from({ length: mcpLimits.batchMessages + 1 }, (_, id) => ({ ...listTools, id }));
    const cancellation = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    for (const body of [tooMany, [], [listTools, listTools], [listTools, cancellation]]) {
      const response = await post(body);
      expect(response.status).toBe(400);
      expect((await readMessage(response)).error?.code).toBe(-32600);
    }
  });

  it.each([
    ["text that is not JSON", "{", 400, -32700],
    ["an empty body", "", 400, -32700],
    ["a number", "1", 400, -32600],
    ["null", "null", 400, -32600],
    ["a message of another protocol", { jsonrpc: "1.0", id: 1, method: "tools/list" }, 400, -32600],
    ["a request whose id is null", { ...listTools, id: null }, 400, -32600],
    ["an unknown method", { ...listTools, method: "tools/remove" }, 200, -32601],
    ["a call without parameters", { ...listTools, method: "tools/call" }, 200, -32602],
    ["a call without a name", { ...listTools, method: "tools/call", params: {} }, 200, -32602],
    ["an unknown tool", callTool("drop_tables"), 200, -32602],
  ])("responds to %s with a JSON-RPC error", async (_, body, status, code) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect((await readMessage(response)).error?.code).toBe(code);
  });

  it("never responds with a server error, whatever the message", async () => {
    const names = fc.constantFrom("sales", "items", "days", "orders_and_reports", "explain", "search_docs");
    const call = fc.record({ name: fc.oneof(names, fc.string()), arguments: fc.jsonValue() });
    const message = fc.record(
      {
        jsonrpc: fc.oneof(fc.constant("2.0"), fc.jsonValue()),
        id: fc.oneof(fc.integer(), fc.string(), fc.jsonValue()),
        method: fc.oneof(fc.constantFrom("tools/call", "tools/list", "initialize", "ping"), fc.string()),
        params: fc.oneof(call, fc.jsonValue()),
        result: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), message, fc.array(message, { maxLength: 4 })), async (body) => {
        expect((await post(body, { key: testKey() })).status).toBeLessThan(500);
      }),
      { numRuns: 100 },
    );
  });
});

/** A key whose rate limit no test reaches. */
function testKey(): string {
  return gateways.accounts.addKey({ rateLimit: { perSecond: 10_000, burst: 10_000 } }).key;
}

describe.each(["in-process", "remote"] as const)("a tool that calls an %s service", (mode) => {
  it("sends requests of the same key, with the request id and the trace of the client's request", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const response = await post(
      callTool("sales", { since: "2026-05-29" }),
      { headers: { "x-request-id": `mcp-${mode}`, traceparent } },
      gateways[mode],
    );
    expect((await readMessage(response)).result?.isError).toBeUndefined();
    expect(received).toHaveLength(1);
    const [{ url, identity, authorization } = expect.unreachable()] = received;
    expect(url.pathname + url.search).toMatch(/^\/v1\/metrics\?measures=sales%2C.*&since=2026-05-29&until=20/);
    expect(authorization).toBeNull();
    if (mode === "in-process") {
      expect(identity).toMatchObject({
        requestId: `mcp-${mode}`,
        principal: { scopes: [...defaultApiConsumerScopes] },
      });
      expect(identity?.traceparent).toContain("0af7651916cd43dd8448eb211c80319c");
    }
    const line = await eventually("the log line of the request to the service", async () =>
      gateways[mode].logLines.find(
        ({ requestId, isSubrequest }) => requestId === `mcp-${mode}` && isSubrequest === true,
      ),
    );
    expect(line).toMatchObject({
      method: "GET",
      route: "/v1/metrics",
      status: 200,
      consumer: "Acme",
      upstream: "reporting",
    });
    expect(line.aborted).toBeUndefined();
    const own = gateways[mode].logLines.find(({ requestId, path }) => requestId === `mcp-${mode}` && path === "/mcp");
    expect(own).toMatchObject({ method: "POST", route: "/mcp", status: 200, tool: "sales" });
  });

  it("explains errors of the service", async () => {
    const problem = {
      type: "https://docs.pragma.example/docs/errors#invalid_request",
      title: "Invalid",
      requestId: "1",
    };
    respond = () =>
      Response.json(
        {
          ...problem,
          status: 400,
          code: "invalid_request",
          detail: "The request has 1 issue.",
          errors: [{ in: "query", path: "until", code: "too_big", message: "Must be at most 731 days" }],
        },
        { status: 400 },
      );
    expect(await ask("sales", {}, gateways[mode])).toEqual({
      isError: true,
      text: "The arguments are invalid:\n- until: Must be at most 731 days",
    });
    respond = () => new Response("broken", { status: 500 });
    const broken = await ask("sales", {}, gateways[mode]);
    expect(broken).toMatchObject({ isError: true, text: expect.stringContaining("Request ID for support: ") });
    expect(broken.text).not.toContain("broken");
  });

  it("reads responses up to a limit", async () => {
    respond = () => new Response(new Uint8Array(7 * 1024 * 1024));
    expect(await ask("sales", {}, gateways[mode])).toMatchObject({
      isError: true,
      text: expect.stringContaining("more than 6 MB"),
    });
  });

  it("fails after a timeout, and stops its request", async () => {
    respond = (_, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response(null, { status: 204 }))));
    const { text, isError } = await ask("sales", {}, gateways[mode]);
    expect(isError).toBe(true);
    expect(text).toMatch(/upstream_timeout\)\nWait a few seconds and call the tool again/);
  });
});

describe("the rate limit of a key", () => {
  it("the rate limit counts the request of the client and each request of its tools", async () => {
    const { key: limitedKey } = gateways.accounts.addKey({ rateLimit: { perSecond: 1, burst: 1_000 } });
    const remaining = async (body: unknown) =>
      Number((await post(body, { key: limitedKey })).headers.get("ratelimit-remaining"));
    const calls = 20;
    const useTokens = async (body: unknown) => {
      const before = await remaining(listTools);
      for (let call = 0; call < calls - 1; call++) await remaining(body);
      return before - (await remaining(body));
    };
    // One token for each request, minus the few that are added meanwhile.
    expect(await useTokens(callTool("search_docs", { query: "business day" }))).toBeLessThanOrEqual(calls);
    // The client's request, and two of the tool.
    const used = await useTokens(callTool("sales", { period: "this_week", compareWith: "previous_period" }));
    expect(used).toBeGreaterThan(2 * calls);
    expect(used).toBeLessThanOrEqual(3 * calls);
  });

  it("the error explains the rate limit to the assistant if a request of a tool exceeds it", async () => {
    const { key: limitedKey } = gateways.accounts.addKey({ rateLimit: { perSecond: 1, burst: 1 } });
    const response = await post(callTool("sales"), { key: limitedKey });
    const { result } = await readMessage(response);
    expect(result).toMatchObject({ isError: true });
    expect(result?.content?.[0]?.text).toMatch(/rate_limited\)\nWait \d+ seconds and call the tool again/);
    expect(received).toHaveLength(0);
  });
});

describe("the key of a request", () => {
  it("the key is checked again for each request of a tool", async () => {
    const expiresAt = Date.now() + 600;
    const { key: expiringKey } = gateways.accounts.addKey({
      scopes: ["reports:read"],
      expiresAt: new Date(expiresAt).toISOString(),
    });
    respond = async () => {
      await sleep(Math.max(0, expiresAt + 20 - Date.now()));
      return Response.json({ data: [{ id: reportV2Example.id }] });
    };
    const { result } = await readMessage(await post(callTool("explain"), { key: expiringKey }));
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("key_expired") }] });
    expect(received).toHaveLength(1);
  });

  it("the key of an operator needs the location as an argument, and which its requests state", async () => {
    const { key: operatorKey } = gateways.accounts.addKey({
      location: null,
      scopes: ["reports:read", "locations:any"],
    });
    const call = async (args: object) =>
      (await readMessage(await post(callTool("sales", args), { key: operatorKey }))).result?.content?.[0]?.text;
    expect(await call({})).toContain("the argument locationId is required");
    const locationId = "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11";
    expect(await call({ locationId, since: "2026-05-29", until: "2026-05-29" })).toContain(
      "period: since 2026-05-29, until 2026-05-29, days 1",
    );
    expect(received.at(-1)?.url.searchParams.get("locationId")).toBe(locationId);
  });
});

it("each message of a batch uses a token of the rate limit", async () => {
  const { key: limitedKey } = gateways.accounts.addKey({ rateLimit: { perSecond: 1, burst: 3 } });
  const sendBatch = (count: number) =>
    post(
      Array.from({ length: count }, (_, id) => ({ ...listTools, id })),
      { key: limitedKey },
    );
  expect((await sendBatch(3)).status).toBe(200);
  const refused = await sendBatch(3);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ code: "rate_limited" });
});

it("the log line of a batch names all its tools once", async () => {
  const calls = ["sales", "items", "sales"].map((name, id) => callTool(name, {}, id));
  await post(calls, { headers: { "x-request-id": "mcp-batch" } });
  const line = await eventually("the log line of the batch", async () =>
    gateway.logLines.find(({ requestId, path }) => requestId === "mcp-batch" && path === "/mcp"),
  );
  expect(line.tool).toBe("sales,items");
});

it("filters are so short that a request line can contain them", async () => {
  const filters = { room: Array.from({ length: 28 }, (_, index) => `${"x".repeat(195)}${index}`) };
  for (const mode of ["in-process", "remote"] as const)
    expect((await ask("sales", { filters }, gateways[mode])).isError).toBe(false);
  respond = () => new Response("<html>Request Header Fields Too Large</html>", { status: 431 });
  for (const mode of ["in-process", "remote"] as const) {
    expect(await ask("sales", {}, gateways[mode])).toEqual({
      isError: true,
      text: "The server rejected the request (431). Shorten the arguments, such as filters.",
    });
    expect(gateways[mode].logLines.filter(({ level, msg }) => level === "error" && /431/.test(String(msg)))).toEqual(
      [],
    );
  }
});

it("the table of limits states the limits of the MCP server", () => {
  const guide = join(findEnclosingPackageFolder(import.meta.url), "..", "docs-portal", "docs", "rate-limits.mdx");
  const [, table = ""] = /\{#limits-of-the-mcp-server\}\n(.*?)\n#/s.exec(readFileSync(guide, "utf8")) ?? [];
  expect(table).toContain(`| ${mcpLimits.bodyBytes / 1024} KB |`);
  expect(table).toContain(`| Messages in a batch | ${mcpLimits.batchMessages} |`);
  expect(table).toContain(`| ${maxSubrequestResponseBytes / 1024 / 1024} MB |`);
});
