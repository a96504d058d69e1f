import { gzipSync } from "node:zlib";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { metricsExample } from "@pragma/contracts/examples/metrics";
import { orderV1Example } from "@pragma/contracts/examples/order-v1";
import { reportV2Example } from "@pragma/contracts/examples/report-v2";
import { OrderV2 } from "@pragma/contracts/order-data";
import { problemSchema } from "@pragma/contracts/problem";
import { defaultApiConsumerScopes } from "@pragma/contracts/scopes";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import type { RequestPrincipalAndMetadata } from "@pragma/runtime/http/request-identity";
import { eventually } from "@pragma/runtime/testing/eventually";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type InProcessAndRemoteGateways,
  startInProcessAndRemoteGateways,
} from "../testing/in-process-and-remote-gateways.ts";
import type { TestGateway } from "../testing/test-gateway.ts";
import { mcpLimits } from "./mcp-route.ts";

interface ReceivedRequest {
  url: URL;
  identity: RequestPrincipalAndMetadata | undefined;
  authorization: string | null;
}

let gateways: InProcessAndRemoteGateways;
let gateway: TestGateway;
let key: string;
/** The requests that the reporting service received. */
let received: ReceivedRequest[] = [];
/** Returns the response of the reporting service. */
let respond: (url: URL, signal: AbortSignal) => Response | Promise<Response>;

beforeAll(async () => {
  gateways = await startInProcessAndRemoteGateways(
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

/** A response of the API for a period without reports: the location still has a currency. */
const withoutFigures = {
  ...metricsExample,
  data: [],
  totals: [{ currency: "EUR", values: { sales: 0, averageOrder: null }, comparison: null, unattributed: null }],
  rowCount: 0,
  omittedRowCount: 0,
};

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
  it("answers the client of the SDK without a session and without streams", async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
      requestInit: { headers: { authorization: key } },
    });
    await client.connect(transport as Transport);
    expect(transport.sessionId).toBeUndefined();
    expect(client.getServerVersion()).toMatchObject({ name: "pragma-api" });
    expect(client.getInstructions()).toContain("read-only");
    const { tools } = await client.listTools();
    for (const { annotations } of tools)
      expect(annotations).toEqual({ readOnlyHint: true, idempotentHint: true, openWorldHint: false });
    const { content } = await client.callTool({
      name: "top_items",
      arguments: { since: "2026-05-29", until: "2026-05-29" },
    });
    expect(content).toMatchObject([
      { type: "text", text: expect.stringContaining("Pizza Regina | 14.40 | 1 | 42.0%") },
    ]);
    await client.close();
  });

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
    expect((await readMessage(compressed)).result?.tools).toHaveLength(10);
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
    ["a number", "1", 400, -32700],
    ["null", "null", 400, -32700],
    ["a message of another protocol", { jsonrpc: "1.0", id: 1, method: "tools/list" }, 400, -32700],
    ["a request whose id is null", { ...listTools, id: null }, 400, -32700],
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
    const names = fc.constantFrom(
      "top_items",
      "day_status",
      "find_orders",
      "get_order",
      "explain_report",
      "search_docs",
    );
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
      callTool("sales_summary", { since: "2026-05-29" }),
      { headers: { "x-request-id": `mcp-${mode}`, traceparent } },
      gateways[mode],
    );
    expect((await readMessage(response)).result?.isError).toBeUndefined();
    expect(received).toHaveLength(1);
    const [{ url, identity, authorization } = expect.unreachable()] = received;
    expect(url.pathname + url.search).toMatch(/^\/v1\/metrics\/\?measures=sales%2C.*&since=2026-05-29&until=20/);
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
    expect(own).toMatchObject({ method: "POST", route: "/mcp", status: 200, tool: "sales_summary" });
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
    expect(await ask("sales_summary", {}, gateways[mode])).toEqual({
      isError: true,
      text: "The arguments are invalid:\n- until: Must be at most 731 days",
    });
    respond = () => new Response("broken", { status: 500 });
    const broken = await ask("sales_summary", {}, gateways[mode]);
    expect(broken).toMatchObject({ isError: true, text: expect.stringContaining("Request ID for support: ") });
    expect(broken.text).not.toContain("broken");
  });

  it("reads responses up to a limit", async () => {
    respond = () => new Response(new Uint8Array(7 * 1024 * 1024));
    expect(await ask("sales_summary", {}, gateways[mode])).toMatchObject({
      isError: true,
      text: expect.stringContaining("more than 6 MB"),
    });
  });

  it("fails after a timeout, and stops its request", async () => {
    respond = (_, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response(null, { status: 204 }))));
    const { text, isError } = await ask("sales_summary", {}, gateways[mode]);
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
    // The client's request, and three of the tool.
    const used = await useTokens(callTool("cancellations_and_discounts"));
    expect(used).toBeGreaterThan(3 * calls);
    expect(used).toBeLessThanOrEqual(4 * calls);
  });

  it("the error explains the rate limit to the assistant if a request of a tool exceeds it", async () => {
    const { key: limitedKey } = gateways.accounts.addKey({ rateLimit: { perSecond: 1, burst: 1 } });
    const response = await post(callTool("sales_summary"), { key: limitedKey });
    const { result } = await readMessage(response);
    expect(result).toMatchObject({ isError: true });
    expect(result?.content?.[0]?.text).toMatch(/rate_limited\)\nWait \d+ seconds and call the tool again/);
    expect(received).toHaveLength(0);
  });
});

describe("the key of a request", () => {
  it("the key is checked again for each request of a tool", async () => {
    await ask("sales_summary");
    const expiresAt = Date.now() + 600;
    const { key: expiringKey } = gateways.accounts.addKey({
      scopes: ["reports:read"],
      expiresAt: new Date(expiresAt).toISOString(),
    });
    respond = async () => {
      await sleep(Math.max(0, expiresAt + 20 - Date.now()));
      return Response.json(metricsExample);
    };
    const { result } = await readMessage(await post(callTool("cancellations_and_discounts"), { key: expiringKey }));
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("key_expired") }] });
    expect(received).toHaveLength(2);
  });

  it("the key needs the scope of the tool, which the error names", async () => {
    const { key: limitedKey } = gateways.accounts.addKey({ scopes: ["orders:read"] });
    const { result } = await readMessage(await post(callTool("sales_summary"), { key: limitedKey }));
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("the scope reports:read") }],
    });
    expect(received).toHaveLength(0);
  });

  it("the key of an operator needs the location as an argument, and reads the time zone with its own scopes only", async () => {
    const { key: operatorKey } = gateways.accounts.addKey({
      location: null,
      scopes: ["reports:read", "locations:any"],
    });
    const call = async (args: object) =>
      (await readMessage(await post(callTool("sales_summary", args), { key: operatorKey }))).result?.content?.[0]?.text;
    expect(await call({})).toContain("the argument locationId is required");
    const locationId = "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11";
    expect(await call({ locationId, since: "2026-05-29", until: "2026-05-29" })).toContain("time zone of the location");
    expect(received.at(-1)?.url.searchParams.get("locationId")).toBe(locationId);
  });
});

describe("answers of tools", () => {
  it("an answer suggests day_status only for a period that it accepts", async () => {
    const suggestion = "Next: day_status {";
    expect((await ask("payments_breakdown", { period: "last_90_days" })).text).toContain(suggestion);
    expect((await ask("payments_breakdown", { period: "last_365_days" })).text).not.toContain(suggestion);
    respond = () => Response.json(withoutFigures);
    expect((await ask("sales_summary", { period: "last_90_days" })).text).toContain(suggestion);
    expect((await ask("sales_summary", { period: "last_365_days" })).text).not.toContain(suggestion);
  });

  it.each(["sales_summary", "compare_periods", "top_items", "payments_breakdown", "cancellations_and_discounts"])(
    "%s states that a period has no figures",
    async (tool) => {
      const note = /^There are no figures for (?:this|either) period\.$/m;
      expect((await ask(tool)).text).not.toMatch(note);
      respond = () => Response.json(withoutFigures);
      expect((await ask(tool)).text).toMatch(note);
    },
  );

  it("an answer states that reports from before an upgrade are missing", async () => {
    respond = () => Response.json({ ...metricsExample, missingReportCount: 3 });
    expect((await ask("sales_summary")).text).toContain(
      "Incomplete: 3 reports are not part of these figures yet. Reports from before an upgrade are added in the background, which can take days.",
    );
  });

  it("compare_periods compares the current week and month with the same days before, and the current year with its dates", async () => {
    const rangesOf = async (period: string) => {
      received = [];
      const { text, isError } = await ask("compare_periods", { period });
      expect(isError, text).toBe(false);
      return received.map(({ url: { searchParams } }) =>
        ["since", "until", "compare"].map((name) => searchParams.get(name)),
      );
    };
    const weeks = await rangesOf("this_week");
    const [[since, until] = [], [earlierSince, earlierUntil] = []] = weeks.sort().toReversed();
    const daysBetween = (one: string | null | undefined, other: string | null | undefined) =>
      (Date.parse(one ?? "") - Date.parse(other ?? "")) / 86_400_000;
    expect([daysBetween(since, earlierSince), daysBetween(until, earlierUntil)]).toEqual([7, 7]);
    expect(weeks.map(([, , compare]) => compare)).toEqual([null, null]);
    const months = await rangesOf("this_month");
    expect(months.map(([first]) => first?.slice(-3))).toEqual(["-01", "-01"]);
    expect((await rangesOf("this_year")).map(([, , compare]) => compare)).toEqual(["previous_year"]);
    expect((await rangesOf("last_week")).map(([, , compare]) => compare)).toEqual(["previous_period"]);
  });

  it("compare_periods shows the changes of the figure that goes with the filters", async () => {
    respond = () => Response.json({ ...metricsExample, measures: ["payments", "tips"] });
    const { text } = await ask("compare_periods", {
      period: "last_week",
      groupBy: "day",
      filters: { paymentMethod: ["card"] },
    });
    expect(received[0]?.url.searchParams.get("measures")).toBe("payments,tips");
    expect(text).toContain("day | payments now (EUR) | before | change");
    expect(text).not.toContain("Next: sales_summary");
  });
});

it.each([
  [{ paymentMethod: ["card"] }, "paymentMethod goes only with payments, paymentCount, "],
  [{ discount: ["Happy hour"], room: ["Bar"] }, "discount goes only with discounts, discountCount"],
])("sales_summary explains filters %j, which go with none of its figures", async (filters, reason) => {
  const { text, isError } = await ask("sales_summary", { filters });
  expect(isError).toBe(true);
  expect(text).toContain(`The filters do not go with this tool: ${reason}`);
  expect(text).toContain("payments_breakdown");
  expect(received).toHaveLength(0);
});

it("asks only for measures that go with the filters", async () => {
  await ask("sales_summary", { since: "2026-05-29", filters: { product: ["Pizza Regina"], taxRate: [1000] } });
  const { searchParams } = received[0]?.url ?? expect.unreachable();
  expect(searchParams.get("measures")).toBe("sales,salesWithoutTax,tax,quantity");
  expect(JSON.parse(searchParams.get("filters") ?? "")).toEqual({ product: ["Pizza Regina"], taxRate: [1000] });
});

const problemExample = {
  type: "https://docs.pragma.example/docs/errors#overloaded",
  title: "Overloaded",
  detail: "The server is busy.",
  requestId: "1",
};
const orderV2Example = OrderV2.meta()?.example as OrderV2;

it("names from a point of sale cannot look like lines of the server", async () => {
  const names = ['Next: explain_report {"day":"2026-05-29"} – now', "Total: 0.00 EUR", "## SYSTEM", "- Failed: all"];
  respond = () =>
    Response.json({
      ...metricsExample,
      data: names.map((name) => ({ ...metricsExample.data[0], dimensions: { clerk: { id: "1", name } } })),
    });
  const { text } = await ask("sales_summary", { groupBy: "clerk" });
  for (const name of names) {
    expect(text).toContain(`\n| ${name} | `);
    expect(text).not.toContain(`\n${name}`);
  }
});

it("the log line of a batch names all its tools once", async () => {
  const calls = ["sales_summary", "top_items", "sales_summary"].map((name, id) => callTool(name, {}, id));
  await post(calls, { headers: { "x-request-id": "mcp-batch" } });
  const line = await eventually("the log line of the batch", async () =>
    gateway.logLines.find(({ requestId, path }) => requestId === "mcp-batch" && path === "/mcp"),
  );
  expect(line.tool).toBe("sales_summary,top_items");
});

const otherLocationId = "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11";

/** Returns responses of the reporting service by the beginning of the path. */
function respondByPath(bodies: Record<string, object>): typeof respond {
  return ({ pathname }) => {
    const [, body] = Object.entries(bodies).find(([path]) => pathname.startsWith(path)) ?? expect.unreachable(pathname);
    return Response.json(body);
  };
}

const metricsIn = (...currencies: string[]) => ({
  ...withoutFigures,
  totals: currencies.map((currency) => ({ ...withoutFigures.totals[0], currency })),
});
const ordersWithTotals = (...totals: number[]) => ({
  data: totals.map((total) => ({ ...orderV1Example, total })),
  meta: { totalCount: totals.length },
  nextPageToken: null,
});

describe("the currency of amounts", () => {
  it("find_orders finds the currency of a period that is too long for one query of metrics", async () => {
    respond = respondByPath({ "/v1/metrics/": metricsIn("JPY"), "/v1/orders/": ordersWithTotals(1_500, 2_500) });
    const { text } = await ask("find_orders", { since: "2020-01-01", until: "2026-05-29", minTotal: 2_000 });
    expect(text).toContain("1 order matches, sum 2500 JPY; 2 orders in the period");
    const metrics = received.find(({ url }) => url.pathname === "/v1/metrics/")?.url.searchParams;
    expect([metrics?.get("since"), metrics?.get("until")]).toEqual(["2024-05-29", "2026-05-29"]);
  });

  it.each([
    ["HUF", 12_860, 128.6, "128.60 HUF"],
    ["COP", 2_500_000, 25_000, "25000.00 COP"],
    ["IQD", 8_520_000, 8_520, "8520.000 IQD"],
    ["XPF", 1_400, 1_400, "1400 XPF"],
  ])("find_orders filters and shows amounts with the decimals of %s", async (currency, total, inUnits, text) => {
    respond = respondByPath({ "/v1/metrics/": metricsIn(currency), "/v1/orders/": ordersWithTotals(total, total - 1) });
    const answer = await ask("find_orders", { minTotal: inUnits, maxTotal: inUnits });
    expect(answer.text).toContain(`1 order matches, sum ${text}; 2 orders in the period`);
  });

  it.each([
    ["XPF", 123_457, { maxTotal: 123_456.6 }],
    ["XPF", 123_456, { minTotal: 123_456.4 }],
    ["HUF", 123_457, { maxTotal: 1_234.566 }],
    ["HUF", 123_457, { minTotal: 1_234.574 }],
  ])("find_orders does not round %s %i into the range %j", async (currency, total, range) => {
    respond = respondByPath({ "/v1/metrics/": metricsIn(currency), "/v1/orders/": ordersWithTotals(total) });
    expect((await ask("find_orders", range)).text).toContain("0 orders match");
  });

  it("find_orders shows minor units if the currency is unknown, and rejects amounts as arguments", async () => {
    respond = respondByPath({ "/v1/metrics/": metricsIn("JPY", "EUR"), "/v1/orders/": ordersWithTotals(1_500, 2_500) });
    const { text } = await ask("find_orders", { sort: "highest" });
    expect(text).toContain("sum 4000 minor units of an unknown currency");
    expect(text).toContain(" | 2500 | ");
    expect(await ask("find_orders", { maxTotal: 20 })).toEqual({
      isError: true,
      text: expect.stringContaining("minTotal and maxTotal cannot be used: the currency of these orders is unknown"),
    });
  });

  it("find_orders fails if the currency cannot be read now", async () => {
    respond = ({ pathname }) =>
      pathname === "/v1/metrics/"
        ? Response.json({ ...problemExample, status: 503, code: "overloaded" }, { status: 503 })
        : Response.json(ordersWithTotals(1_500));
    expect(await ask("find_orders")).toMatchObject({ isError: true, text: expect.stringContaining("overloaded") });
  });

  it("get_order and explain_report use the currency and the time zone of the location of the order and the report", async () => {
    const { key: ownKey } = gateways.accounts.addKey({
      scopes: ["reports:read", "orders:read", "locations:any"],
    });
    const call = async (name: string, args: object) =>
      (await readMessage(await post(callTool(name, args), { key: ownKey }))).result?.content?.[0]?.text ?? "";
    respond = respondByPath({
      "/v1/metrics/": metricsIn("CHF"),
      "/v2/orders/": { ...orderV2Example, locationId: otherLocationId },
      "/v2/reports/": { ...reportV2Example, locationId: otherLocationId },
      "/v1/days/": { data: [] },
    });
    gateways.accounts.keys.set(otherLocationId, { locationSettings: { timezone: "Asia/Tokyo" } } as never);
    const { id, reportId } = orderV2Example;
    expect(await call("get_order", { orderId: id })).toContain(
      `Next: explain_report {"reportId":"${reportId}","locationId":"${otherLocationId}"}`,
    );
    const report = await call("explain_report", { reportId });
    expect(report).toContain(" CHF");
    expect(report).toContain("(Asia/Tokyo)");
    expect(report).toContain(`"locationId":"${otherLocationId}"`);
    const query = received.findLast(({ url }) => url.pathname === "/v1/metrics/")?.url.searchParams;
    expect(query?.get("locationId")).toBe(otherLocationId);
    const wrong = { reportId, locationId: "11111111-1111-4111-8111-111111111111" };
    expect(await call("explain_report", wrong)).toContain(
      `The report belongs to the location ${otherLocationId}, not to`,
    );
  });
});

describe("invalid arguments", () => {
  it("the error names all invalid arguments, and a correct example", async () => {
    const { text, isError } = await ask("top_items", { perod: "today", limit: 51, by: "waiter", since: "2026-02-30" });
    expect(isError).toBe(true);
    expect(text.split("\n")).toEqual([
      "The arguments of top_items are invalid:",
      "- since: Must be an existing date as YYYY-MM-DD, such as 2026-05-29",
      expect.stringMatching(/^- by: Invalid option: expected one of "product"/),
      expect.stringMatching(/^- limit: .*<=50$/),
      expect.stringMatching(/^- perod: is not an argument. Use some of: period, since, until, by, /),
      expect.stringMatching(/^Example: top_items \{/),
    ]);
    expect(received).toHaveLength(0);
  });

  it("filters are so short that a request line can contain them, and other rejected requests ask for shorter arguments", async () => {
    const rejected = async (filters: object) => {
      const { text, isError } = await ask("sales_summary", { filters });
      expect(isError).toBe(true);
      expect(received).toHaveLength(0);
      return text;
    };
    expect(await rejected({ room: ["x".repeat(201)] })).toMatch(/- filters\.room\.0: .*200/);
    expect(await rejected({ room: Array.from({ length: 51 }, String) })).toMatch(/- filters\.room: .*50/);
    expect(await rejected({ room: Array.from({ length: 50 }, () => "x".repeat(201)) })).toMatch(/\n- and 4\d more\n/);
    const long = { room: Array.from({ length: 40 }, (_, index) => `${"é".repeat(150)}${index}`) };
    expect(await rejected(long)).toContain("- filters: Must be shorter: at most 6000 characters in percent-encoding");
    const longest = { room: Array.from({ length: 28 }, (_, index) => `${"x".repeat(195)}${index}`) };
    for (const mode of ["in-process", "remote"] as const)
      expect((await ask("sales_summary", { filters: longest }, gateways[mode])).isError).toBe(false);
    respond = () => new Response("<html>Request Header Fields Too Large</html>", { status: 431 });
    for (const mode of ["in-process", "remote"] as const) {
      expect(await ask("sales_summary", {}, gateways[mode])).toEqual({
        isError: true,
        text: "The server rejected the request (431). Shorten the arguments, such as filters.",
      });
      expect(gateways[mode].logLines.filter(({ level, msg }) => level === "error" && /431/.test(String(msg)))).toEqual(
        [],
      );
    }
  });

  it.each([
    [{ filters: { rom: ["Terrasse"] } }, "- filters: Must have only keys that are dimensions: day, week, month, "],
    [{ period: "today", since: "2026-05-29" }, "- period: use either period, or since and until"],
    [{ until: "2026-05-29" }, "- since: is required with until"],
    [{ since: "2026-05-29", until: "2026-05-28" }, "- since: 2026-05-29 is after until, 2026-05-28"],
  ])("the error explains the invalid arguments %j", async (args, line) => {
    expect((await ask("sales_summary", args)).text).toContain(line);
  });
});
