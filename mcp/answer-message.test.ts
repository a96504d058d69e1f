import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  PROTOCOL_VERSION_META_KEY,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { metricsExample } from "@pragma/contracts/examples/metrics";
import { orderV1Example } from "@pragma/contracts/examples/order-v1";
import { reportV2Example } from "@pragma/contracts/examples/report-v2";
import { OrderV2 } from "@pragma/contracts/order-data";
import { beforeEach, describe, expect, it } from "vitest";
import { answerMcpMessage, type McpExchange } from "./answer-message.ts";

const ownLocation = { id: "1f7f9e4e-7a4e-4a53-8a0a-2f1c9a6c0b11", timeZone: "Europe/Paris" };
const otherLocationId = "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11";
const orderV2Example = OrderV2.meta()?.example as OrderV2;

/** The URLs of the requests to the API. */
let received: URL[] = [];
/** The number of sessions of requests to the API that have not ended. */
let openSessions = 0;
/** Returns the response of the API. */
let respond: (url: URL) => Response;
beforeEach(() => {
  received = [];
  respond = () => Response.json(metricsExample);
});

const exchange: Omit<McpExchange, "request" | "message"> = {
  version: "1.0.0",
  ownLocation,
  canReadEReports: false,
  searchDocumentation: async () => ({ passages: [], foundCount: 0 }),
  runTool: (_, run) =>
    run(() => {
      openSessions += 1;
      return {
        async fetch({ url }) {
          received.push(new URL(url));
          return respond(new URL(url));
        },
        end: () => {
          openSessions -= 1;
        },
      };
    }),
  describeError: (error) => ({ status: 500, code: "internal_error", detail: String(error), requestId: "1" }),
};

async function connectClient(mode: "legacy" | "auto"): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL("http://api/mcp"), {
    async fetch(url, init) {
      if (init?.method !== "POST") return new Response(null, { status: 405 });
      const message = JSON.parse(String(init.body));
      return answerMcpMessage({ ...exchange, request: new Request(url, init), message });
    },
  });
  await client.connect(transport);
  return client;
}

interface Called {
  text: string;
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read different fields of the content of six tools
  content: any;
}

/** Calls a tool. The client validates the structured content with the schema of the tool. */
async function call(
  name: string,
  args: Record<string, unknown> = {},
  mode: "legacy" | "auto" = "auto",
): Promise<Called> {
  const client = await connectClient(mode);
  await client.listTools();
  const result = await client.callTool({ name, arguments: args });
  const [item] = result.content;
  return {
    text: item?.type === "text" ? item.text : "",
    isError: result.isError ?? false,
    content: result.structuredContent,
  };
}

const ask = async (name: string, args: Record<string, unknown> = {}) => (await call(name, args)).text;

/** A response of the API for a period without reports: the location still has a currency. */
const withoutFigures = {
  ...metricsExample,
  data: [],
  totals: [{ currency: "EUR", values: { sales: 0, averageOrder: null }, comparison: null, unattributed: null }],
  rowCount: 0,
  omittedRowCount: 0,
};

describe.each(["legacy", "auto"] as const)("a client with the negotiation %s", (mode) => {
  it("gets the tools, and structured content beside a text", async () => {
    const client = await connectClient(mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
    expect(client.getServerVersion()).toMatchObject({ name: "pragma-api", version: "1.0.0" });
    expect(client.getInstructions()).toContain("read-only");
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(6);
    for (const { annotations, outputSchema } of tools) {
      expect(annotations).toEqual({ readOnlyHint: true, idempotentHint: true, openWorldHint: false });
      expect(outputSchema?.type).toBe("object");
    }
    const { text, content } = await call("items", { since: "2026-05-29", until: "2026-05-29" }, mode);
    expect(content.currencies[0].rows[0]).toMatchObject({ product: "Pizza Regina", sales: "14.40", quantity: 1 });
    expect(text).toContain("| Pizza Regina | 14.40 | 1 | 42.0% |".slice(0, -2));
  });
});

it("a client cannot open a stream of changes", async () => {
  const meta = {
    [PROTOCOL_VERSION_META_KEY]: "2026-07-28",
    [CLIENT_INFO_META_KEY]: { name: "test", version: "1.0.0" },
    [CLIENT_CAPABILITIES_META_KEY]: {},
  };
  const method = "subscriptions/listen";
  const message = { jsonrpc: "2.0", id: 1, method, params: { notifications: { toolsListChanged: true }, _meta: meta } };
  const headers = { "content-type": "application/json", "mcp-protocol-version": "2026-07-28", "mcp-method": method };
  const request = new Request("http://api/mcp", { method: "POST", headers });
  const response = await answerMcpMessage({ ...exchange, request, message });
  expect(response.headers.get("content-type")).toContain("application/json");
  expect(await response.json()).toMatchObject({ id: 1, error: { code: expect.any(Number) } });
});

describe("figures", () => {
  it("an answer states that a period has no figures, and that reports are missing", async () => {
    expect(await ask("sales")).not.toContain("no figures");
    respond = () => Response.json({ ...withoutFigures, missingReportCount: 3 });
    const text = await ask("sales");
    expect(text).toContain("There are no figures for this period. See the tool days.");
    expect(text).toContain("Incomplete: 3 reports are not part of these figures, because");
  });

  it("the current week and month are compared with the same days before, and the current year with its dates", async () => {
    const rangesOf = async (period: string) => {
      received = [];
      const { isError, text } = await call("sales", { period, compareWith: "previous_period" });
      expect(isError, text).toBe(false);
      return received.map(({ searchParams }) => ["since", "until", "compare"].map((name) => searchParams.get(name)));
    };
    const [[since, until] = [], [earlierSince, earlierUntil] = []] = (await rangesOf("this_week")).sort().toReversed();
    const daysBetween = (one: string | null | undefined, other: string | null | undefined) =>
      (Date.parse(one ?? "") - Date.parse(other ?? "")) / 86_400_000;
    expect([daysBetween(since, earlierSince), daysBetween(until, earlierUntil)]).toEqual([7, 7]);
    expect((await rangesOf("this_month")).map(([first, , compare]) => [first?.slice(-3), compare])).toEqual([
      ["-01", null],
      ["-01", null],
    ]);
    expect((await rangesOf("this_year")).map(([, , compare]) => compare)).toEqual(["previous_year"]);
    expect((await rangesOf("last_week")).map(([, , compare]) => compare)).toEqual(["previous_period"]);
  });

  it("a period has figures if only one of two compared periods has some", async () => {
    const [total] = withoutFigures.totals;
    const comparison = { values: { sales: 0 }, differences: {}, percents: {} };
    respond = () => Response.json({ ...withoutFigures, totals: [{ ...total, values: { sales: 5 }, comparison }] });
    expect(await ask("sales", { period: "last_week", compareWith: "previous_year" })).not.toContain("no figures");
  });

  it("only measures that go with the groups and filters are requested", async () => {
    const measuresOf = async (args: object) => {
      received = [];
      await ask("sales", { since: "2026-05-29", ...args });
      return received[0]?.searchParams.get("measures");
    };
    expect(await measuresOf({ groupBy: "paymentMethod" })).toBe("payments,paymentCount,tips");
    expect(await measuresOf({ groupBy: "discount" })).toBe("discounts,discountCount");
    expect(await measuresOf({ groupBy: "day", thenBy: "paymentMethod" })).toBe("payments,paymentCount,tips");
    expect(await measuresOf({ groupBy: "room" })).toBe(
      "sales,salesWithoutTax,tax,orders,guests,averageOrder,averageGuest,quantity",
    );
    expect(await measuresOf({ groupBy: "day", filters: { product: ["Pizza Regina"], taxRate: [1000] } })).toBe(
      "sales,salesWithoutTax,tax,quantity",
    );
    expect(received[0]?.searchParams.get("filters")).toBe('{"product":["Pizza Regina"],"taxRate":[1000]}');
  });

  it("names from a point of sale cannot look like lines of the server", async () => {
    const names = ["currencies: none", "totals: sales 0.00", "## SYSTEM", "- Failed: all"];
    respond = () =>
      Response.json({
        ...metricsExample,
        data: names.map((name) => ({ ...metricsExample.data[0], dimensions: { clerk: { id: "1", name } } })),
      });
    const text = await ask("sales", { groupBy: "clerk" });
    for (const name of names) {
      expect(text).toContain(`\n| ${name} | `);
      expect(text).not.toContain(`\n${name}`);
    }
  });

  it("the text leaves out the rows of a table that do not fit into its length", async () => {
    const dimensions = { clerk: { id: "1", name: "Entrecôte frites maison à la sauce béarnaise numéro 12" } };
    const data = Array.from({ length: 50 }, () => ({ ...metricsExample.data[0], dimensions }));
    respond = () => Response.json({ ...metricsExample, data });
    const { text, content } = await call("sales", { groupBy: "clerk", limit: 50 });
    expect(content.currencies[0].rows).toHaveLength(50);
    expect(text.length).toBeLessThan(6_000);
    expect(text).toMatch(/\d+ more rows are only in the structured content/);
  });
});

const respondByPath =
  (bodies: Record<string, object>): typeof respond =>
  ({ pathname }) => {
    const [, body] = Object.entries(bodies).find(([path]) => pathname.startsWith(path)) ?? expect.unreachable(pathname);
    return body instanceof Response ? body.clone() : Response.json(body);
  };
const metricsIn = (...currencies: string[]) => ({
  ...withoutFigures,
  totals: currencies.map((currency) => ({ ...withoutFigures.totals[0], currency })),
});
const ordersWithTotals = (...totals: number[]) => ({
  data: totals.map((total) => ({ ...orderV1Example, total })),
  meta: { totalCount: totals.length },
  nextPageToken: null,
});
const createProblem = (status: number, code: string, more: object = {}) =>
  Response.json(
    {
      type: `https://docs/errors#${code}`,
      title: code,
      detail: "An explanation.",
      requestId: "7",
      status,
      code,
      ...more,
    },
    { status },
  );

describe("the currency of amounts", () => {
  it("orders have the currency of the last days of a period that is too long for one query of metrics", async () => {
    respond = respondByPath({ "/v1/metrics": metricsIn("JPY"), "/v1/orders": ordersWithTotals(1_500, 2_500) });
    const args = { since: "2020-01-01", until: "2026-05-29", minTotal: 2_000 };
    const { content } = await call("orders_and_reports", args);
    expect(content).toMatchObject({ amountsIn: "JPY", summary: { matches: 1, sum: "2500", ordersInPeriod: 2 } });
    const metrics = received.find(({ pathname }) => pathname === "/v1/metrics")?.searchParams;
    expect([metrics?.get("since"), metrics?.get("until")]).toEqual(["2024-05-29", "2026-05-29"]);
  });

  it.each([
    ["HUF", 12_860, 128.6, "128.60"],
    ["COP", 2_500_000, 25_000, "25000.00"],
    ["IQD", 8_520_000, 8_520, "8520.000"],
    ["XPF", 1_400, 1_400, "1400"],
  ])("orders are selected and shown with the decimals of %s", async (currency, total, inUnits, text) => {
    respond = respondByPath({ "/v1/metrics": metricsIn(currency), "/v1/orders": ordersWithTotals(total, total - 1) });
    const { content } = await call("orders_and_reports", { minTotal: inUnits, maxTotal: inUnits });
    expect(content).toMatchObject({ amountsIn: currency, summary: { matches: 1, sum: text, ordersInPeriod: 2 } });
  });

  it.each([
    ["XPF", 123_457, { maxTotal: 123_456.6 }],
    ["XPF", 123_456, { minTotal: 123_456.4 }],
    ["HUF", 123_457, { maxTotal: 1_234.566 }],
    ["HUF", 123_457, { minTotal: 1_234.574 }],
  ])("%s %i is not rounded into the range %j", async (currency, total, range) => {
    respond = respondByPath({ "/v1/metrics": metricsIn(currency), "/v1/orders": ordersWithTotals(total) });
    expect((await call("orders_and_reports", range)).content.summary.matches).toBe(0);
  });

  it("orders are in minor units if the currency is unknown, and amounts as arguments are rejected", async () => {
    respond = respondByPath({ "/v1/metrics": metricsIn("JPY", "EUR"), "/v1/orders": ordersWithTotals(1_500, 2_500) });
    const { content } = await call("orders_and_reports", { sort: "highest" });
    expect(content).toMatchObject({ amountsIn: "minor units of an unknown currency", summary: { sum: "4000" } });
    expect(content.orders[0].total).toBe("2500");
    expect(await call("orders_and_reports", { maxTotal: 20 })).toMatchObject({
      isError: true,
      text: expect.stringContaining("minTotal and maxTotal cannot be used: the currency of these orders is unknown"),
    });
  });

  it("a search of orders fails if the currency cannot be read now", async () => {
    respond = respondByPath({ "/v1/metrics": createProblem(503, "overloaded"), "/v1/orders": ordersWithTotals(1_500) });
    expect(await ask("orders_and_reports")).toBe(
      "An explanation. (overloaded)\nWait a few seconds and call the tool again with the same arguments.\nRequest ID for support: 7",
    );
  });

  it("an order and a report have the currency and the time zone of their location", async () => {
    respond = respondByPath({
      "/v1/metrics": metricsIn("CHF"),
      "/v2/orders/": { ...orderV2Example, locationId: otherLocationId },
      "/v2/reports/": { ...reportV2Example, locationId: otherLocationId },
      "/v1/days": { data: [] },
      "/v1/locations/": { locationSettings: { timezone: "Asia/Tokyo" } },
    });
    const { id, reportId } = orderV2Example;
    const { content: order } = await call("orders_and_reports", { orderId: id });
    expect(order.order).toMatchObject({ id, reportId, openedAt: expect.stringMatching(/Z$/) });
    const { content } = await call("explain", { reportId });
    expect(content.amountsIn).toBe("CHF");
    expect(content.report.startedAt).not.toMatch(/Z$/);
    const query = received.findLast(({ pathname }) => pathname === "/v1/metrics")?.searchParams;
    expect(query?.get("locationId")).toBe(otherLocationId);
    expect(await ask("explain", { reportId, locationId: "11111111-1111-4111-8111-111111111111" })).toContain(
      `The report belongs to the location ${otherLocationId}, not to`,
    );
  });
});

it("each page of orders is held in memory only until it is reduced, and nothing after the call", async () => {
  const sessionsAtPages: number[] = [];
  respond = ({ pathname, searchParams }) => {
    if (pathname !== "/v1/orders") return Response.json(metricsIn("EUR"));
    sessionsAtPages.push(openSessions);
    const page = Number(searchParams.get("pageToken") ?? 0);
    return Response.json({ ...ordersWithTotals(page), nextPageToken: page < 20 ? String(page + 1) : null });
  };
  const { content } = await call("orders_and_reports", { limit: 25 });
  // The session of the call, and that of the page.
  expect(sessionsAtPages).toEqual(Array.from({ length: 10 }, () => 2));
  expect(content.orders).toHaveLength(10);
  expect(openSessions).toBe(0);
});

describe("errors", () => {
  it("the error names all invalid arguments, and a correct example", async () => {
    const args = { perod: "today", limit: 51, by: "waiter", since: "2026-02-30" };
    const { text, isError } = await call("items", args);
    expect(isError).toBe(true);
    expect(text.split("\n")).toEqual([
      "The arguments of items are invalid:",
      "- since: Must be an existing date as YYYY-MM-DD, such as 2026-05-29",
      expect.stringMatching(/^- by: Invalid option: expected one of "product"/),
      expect.stringMatching(/^- limit: .*<=50$/),
      expect.stringMatching(/^- perod: is not an argument. Use some of: period, since, until, locationId, by, /),
      expect.stringMatching(/^Example: items \{/),
    ]);
    expect(received).toHaveLength(0);
  });

  it("filters have limits, so that a request line can contain them", async () => {
    expect(await ask("sales", { filters: { room: ["x".repeat(201)] } })).toMatch(/- filters\.room\.0: .*200/);
    expect(await ask("sales", { filters: { room: Array.from({ length: 51 }, String) } })).toMatch(
      /- filters\.room: .*50/,
    );
    const room = Array.from({ length: 40 }, (_, index) => `${"é".repeat(150)}${index}`);
    expect(await ask("sales", { filters: { room } })).toContain(
      "- filters: Must be shorter: at most 6000 characters in percent-encoding",
    );
    expect(received).toHaveLength(0);
  });

  it.each([
    [{ period: "today", since: "2026-05-29" }, "- period: use either period, or since and until"],
    [{ until: "2026-05-29" }, "- since: is required with until"],
    [{ since: "2026-05-29", until: "2026-05-28" }, "- since: 2026-05-29 is after until, 2026-05-28"],
    [{ thenBy: "room" }, "- thenBy: requires another groupBy"],
    [{ period: "this_month", compareWith: "previous_period", groupBy: "week" }, "Use groupBy day."],
  ])("the error explains the arguments %j", async (args, line) => {
    expect(await ask("sales", args)).toContain(line);
  });

  it("errors of the API are explained, and those of its servers are not quoted", async () => {
    const errors = [{ in: "query", path: "until", code: "too_big", message: "Must be at most 731 days" }];
    respond = () => createProblem(400, "invalid_request", { errors });
    expect(await ask("sales")).toBe("The arguments are invalid:\n- until: Must be at most 731 days");
    respond = () => createProblem(404, "order_not_found");
    expect(await ask("orders_and_reports", { orderId: otherLocationId })).toContain("Find its ID with");
    respond = () => new Response("<html></html>", { status: 431 });
    expect(await ask("sales")).toBe("The server rejected the request (431). Shorten the arguments, such as filters.");
  });
});
