import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createDayFormatter } from "@pragma/contracts/date-time";
import type { Day } from "@pragma/contracts/day";
import { defaultTimeZone } from "@pragma/contracts/time-zone";
import { addDays } from "@pragma/mcp/period";
import { generateDemoTill, listDemoDaysWithTillIds } from "@pragma/simulator/demo-location";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { type DemoFigures, euros, rankBy, readDemoFigures, readOrder, sumBy } from "./mcp/demo-figures.ts";

/** Two weeks, so that a week can be compared with the one before. */
const dayCount = 14;

let product: PragmaUnderTestAccess;
let demo: TestLocation;
let days: string[];
let figures: DemoFigures;
let client: Client;
/** The last week of the demo, which ends yesterday, and the week before. */
let week: string[];
let earlierWeek: string[];
const clients: Client[] = [];

beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  demo = await createTestLocation(product);
  const demoDays = listDemoDaysWithTillIds(demo.locationId, new Date()).slice(-dayCount);
  days = demoDays.map(({ day }) => day);
  [earlierWeek, week] = [days.slice(0, 7), days.slice(7)];
  await Promise.all(
    demoDays.map(async (day) => {
      const response = await demo.pushTillWithRetries(generateDemoTill(demo.locationId, day));
      expect(response.status).toBe(201);
    }),
  );
  await demo.waitForReports(dayCount);
  figures = await readDemoFigures(demo, days);
  client = await connectClient(demo.key);
}, 300_000);
afterAll(() => Promise.all(clients.map((each) => each.close())));

async function connectClient(key: string, mode: "legacy" | "auto" = "auto"): Promise<Client> {
  const connected = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`${product.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await connected.connect(transport);
  // With the schemas of the tools, the client validates their structured content.
  await connected.listTools();
  clients.push(connected);
  return connected;
}

interface Called {
  text: string;
  isError: boolean;
  structured: Record<string, unknown>;
}

async function callTool(name: string, args: object, from = client): Promise<Called> {
  const { content, structuredContent, isError = false } = await from.callTool({ name, arguments: { ...args } });
  const [item] = content;
  const structured = (structuredContent ?? {}) as Called["structured"];
  return { text: item?.type === "text" ? item.text : "", isError, structured };
}

const today = () => createDayFormatter(defaultTimeZone)(new Date().toISOString());

const reportsOf = (selected: string[]) => selected.map((day) => figures.reports.get(day) ?? expect.unreachable());
const range = (selected: string[]) => ({ since: selected[0], until: selected.at(-1) });
const percent = (part: number, whole: number) => `${(Math.round((1000 * part) / whole) / 10).toFixed(1)}%`;
const changePercent = (now: number, before: number) => Math.round((10_000 * (now - before)) / before) / 100;
const salesOf = (selected: string[]) => sumBy(reportsOf(selected), ({ totalSales }) => totalSales);
const productsOf = (selected: string[]) => reportsOf(selected).flatMap(({ reportProducts }) => reportProducts);
const paymentsOf = (selected: string[]) =>
  reportsOf(selected)
    .flatMap(({ reportRecordedPayments }) => reportRecordedPayments)
    .filter(({ paymentType }) => paymentType === "payment" || paymentType === "customerAccount");
const ordersOf = (selected: string[]) => {
  const reportIds = new Set(reportsOf(selected).map(({ id }) => id));
  return figures.orders.filter(({ reportId }) => reportIds.has(reportId));
};
/** Expects figures in euros. Rows are expected among others. */
const inEuros = ({ rows, ...more }: { rows?: object[] } & Record<string, unknown>) => ({
  currencies: [
    {
      amountsIn: "EUR",
      ...more,
      ...(rows && { rows: expect.arrayContaining(rows.map((row) => expect.objectContaining(row))) }),
    },
  ],
});
const containing = (rows: object[]) => expect.arrayContaining(rows.map((row) => expect.objectContaining(row)));
const productKey = ({
  productCatalogId,
  productName,
}: {
  productCatalogId: string | null;
  productName: string | null;
}) => JSON.stringify([productCatalogId, productName]);

/** An owner's question, the call that an assistant would make, and a part of the answer, computed from reports and orders. */
interface OwnerQuestion {
  question: string;
  tool: string;
  args: () => object;
  expected: () => object | Promise<object>;
}

const questions: OwnerQuestion[] = [
  {
    question: "How much did we make yesterday?",
    tool: "sales",
    args: () => ({ period: "yesterday" }),
    expected: () => {
      const [report] = reportsOf(week.slice(-1));
      return {
        period: { since: week.at(-1), name: "yesterday", days: 1, timeZone: defaultTimeZone },
        ...inEuros({
          totals: { sales: euros(report?.totalSales ?? 0), orders: report?.orderCount, guests: report?.guestsNumber },
        }),
      };
    },
  },
  {
    question: "And the last seven days, without tax?",
    tool: "sales",
    args: () => ({}),
    expected: () => {
      const net = sumBy(
        reportsOf(week).flatMap(({ reportRooms }) => reportRooms),
        (room) => room.totalExcludingTax,
      );
      const orders = sumBy(reportsOf(week), ({ orderCount }) => orderCount);
      const averageOrder = euros(Math.round(salesOf(week) / orders));
      return inEuros({ totals: { salesWithoutTax: euros(net), orders, averageOrder } });
    },
  },
  {
    question: "What were the sales of each day last week?",
    tool: "sales",
    args: () => ({ period: "last_7_days", groupBy: "day" }),
    expected: () =>
      inEuros({
        rows: week.map((day) => {
          const [report] = reportsOf([day]);
          const sales = report?.totalSales ?? 0;
          return { day, sales: euros(sales), share: percent(sales, salesOf(week)), orders: report?.orderCount };
        }),
      }),
  },
  {
    question: "How much did each room sell?",
    tool: "sales",
    args: () => ({ ...range(days), groupBy: "room" }),
    expected: () => {
      const rooms = rankBy(
        reportsOf(days).flatMap(({ reportRooms }) => reportRooms),
        ({ name }) => name ?? "(no name)",
        ({ total }) => total,
      );
      return inEuros({
        rows: rooms.map(([room, sales]) => ({ room, sales: euros(sales), share: percent(sales, salesOf(days)) })),
      });
    },
  },
  {
    question: "How much VAT do I owe for these two weeks, by rate?",
    tool: "sales",
    args: () => ({ ...range(days), groupBy: "taxRate" }),
    expected: () => {
      const taxes = rankBy(
        reportsOf(days).flatMap(({ reportTaxes }) => reportTaxes),
        ({ taxRate }) => `${taxRate / 100}%`,
        ({ taxAmount }) => taxAmount,
      );
      return inEuros({ rows: taxes.map(([taxRate, tax]) => ({ taxRate, tax: euros(tax) })) });
    },
  },
  {
    question: "Which weekday is the strongest?",
    tool: "sales",
    args: () => ({ ...range(days), groupBy: "weekday" }),
    expected: () => {
      const names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
      const weekdays = rankBy(
        days,
        (day) => names[new Date(day).getUTCDay()] ?? "",
        (day) => salesOf([day]),
      );
      return inEuros({ rows: weekdays.map(([weekday, sales]) => ({ weekday, sales: euros(sales) })) });
    },
  },
  {
    question: "Was last week better than the week before?",
    tool: "sales",
    args: () => ({ ...range(week), compareWith: "previous_period" }),
    expected: () => {
      const [now, before] = [salesOf(week), salesOf(earlierWeek)];
      return {
        comparedWith: range(earlierWeek),
        ...inEuros({
          comparison: containing([
            {
              measure: "sales",
              now: euros(now),
              before: euros(before),
              change: euros(now - before),
              changePercent: changePercent(now, before),
            },
          ]),
        }),
      };
    },
  },
  {
    question: "Is this week better so far than the last one?",
    tool: "sales",
    args: () => ({ period: "this_week", compareWith: "previous_period", groupBy: "day" }),
    expected: () => {
      const weekday = (new Date(today()).getUTCDay() + 6) % 7;
      const current = Array.from({ length: weekday + 1 }, (_, index) => addDays(today(), index - weekday));
      const earlier = current.map((day) => addDays(day, -7));
      const known = current.filter((day) => figures.reports.has(day));
      return {
        comparedWith: { ...range(earlier), reason: "previous_period: the same days of the week before" },
        ...inEuros({
          comparison: containing([{ measure: "sales", now: euros(salesOf(known)), before: euros(salesOf(earlier)) }]),
          rows: known.map((day) => {
            const dayBefore = addDays(day, -7);
            return { day, dayBefore, now: euros(salesOf([day])), before: euros(salesOf([dayBefore])) };
          }),
        }),
      };
    },
  },
  {
    question: "Which products sell better or worse than the week before?",
    tool: "items",
    args: () => ({ ...range(week), compareWith: "previous_period", limit: 3 }),
    expected: () => {
      const before = new Map(rankBy(productsOf(earlierWeek), productKey, ({ productSales }) => productSales));
      const now = new Map(rankBy(productsOf(week), productKey, ({ productSales }) => productSales));
      const changes = [...new Set([...now.keys(), ...before.keys()])].map((key) => ({
        product: JSON.parse(key)[1] as string,
        sales: now.get(key) ?? 0,
        difference: (now.get(key) ?? 0) - (before.get(key) ?? 0),
      }));
      const [largest] = changes.sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference));
      const { product: name = "", sales = 0, difference = 0 } = largest ?? {};
      return inEuros({
        rows: [{ product: name, now: euros(sales), before: euros(sales - difference), change: euros(difference) }],
        leftOut: { rows: changes.length - 3 },
      });
    },
  },
  {
    question: "What are my five best products?",
    tool: "items",
    args: () => ({ ...range(days), limit: 5 }),
    expected: () => {
      const ranked = rankBy(productsOf(days), productKey, ({ productSales }) => productSales);
      const total = sumBy(ranked, ([, sales]) => sales);
      const top = ranked.slice(0, 5);
      return {
        currencies: [
          {
            rows: top.map(([key, sales]) => ({ product: JSON.parse(key)[1], sales: euros(sales) })),
            leftOut: { rows: ranked.length - 5, sales: euros(total - sumBy(top, ([, sales]) => sales)) },
          },
        ],
      };
    },
  },
  {
    question: "How many units did each category sell?",
    tool: "items",
    args: () => ({ ...range(days), by: "category", rankBy: "quantity" }),
    expected: () => {
      const categories = rankBy(
        productsOf(days),
        ({ category }) => category ?? "(none)",
        ({ productQuantity }) => productQuantity,
      );
      return inEuros({ rows: categories.slice(0, 10).map(([category, quantity]) => ({ category, quantity })) });
    },
  },
  {
    question: "How did people pay last week?",
    tool: "sales",
    args: () => ({ ...range(week), groupBy: "paymentMethod" }),
    expected: () => {
      const methods = rankBy(
        paymentsOf(week),
        ({ name }) => name ?? "(no name)",
        ({ totalAmount }) => totalAmount,
      );
      const total = sumBy(methods, ([, amount]) => amount);
      const paymentCount = sumBy(paymentsOf(week), ({ quantity }) => quantity);
      return inEuros({
        totals: { payments: euros(total), paymentCount },
        rows: methods.map(([name, amount]) => ({
          paymentMethod: expect.stringContaining(name),
          payments: euros(amount),
          share: percent(amount, total),
        })),
      });
    },
  },
  {
    question: "How much did we receive in tips?",
    tool: "sales",
    args: () => ({ ...range(days) }),
    expected: () => {
      const payments = reportsOf(days).flatMap(({ reportRecordedPayments }) => reportRecordedPayments);
      const tipsOf = ({ paymentType, totalAmount, tipsAmount }: (typeof payments)[number]) =>
        paymentType === "tip" ? totalAmount : tipsAmount;
      return inEuros({ totals: { tips: euros(sumBy(payments, tipsOf)) } });
    },
  },
  {
    question: "Which discounts did we give?",
    tool: "sales",
    args: () => ({ ...range(days), groupBy: "discount" }),
    expected: () => {
      const discounts = reportsOf(days).flatMap(({ reportDiscounts }) => reportDiscounts);
      const key = ({ discountName, gifted }: { discountName: string | null; gifted: boolean }) =>
        `${discountName}${gifted ? " (free)" : ""}`;
      return inEuros({
        totals: {
          discounts: euros(sumBy(discounts, ({ discountValue }) => discountValue)),
          discountCount: sumBy(discounts, ({ quantity }) => quantity),
        },
        rows: rankBy(discounts, key, ({ discountValue }) => discountValue).map(([name, value]) => ({
          discount: name,
          discounts: euros(value),
        })),
      });
    },
  },
  {
    question: "Why were products canceled?",
    tool: "sales",
    args: () => ({ ...range(days), groupBy: "cancellationReason" }),
    expected: () => {
      const cancellations = reportsOf(days).flatMap(({ reportCancellations }) => reportCancellations);
      const key = ({ name, afterFinalization }: { name: string; afterFinalization: boolean }) =>
        `${name || "(no reason)"}${afterFinalization ? " (after the bill)" : ""}`;
      return inEuros({
        totals: { cancellations: euros(sumBy(cancellations, ({ amount }) => amount)) },
        rows: rankBy(cancellations, key, ({ amount }) => amount).map(([reason, amount]) => ({
          cancellationReason: reason,
          cancellations: euros(amount),
        })),
      });
    },
  },
  {
    question: "Is yesterday complete?",
    tool: "days",
    args: () => ({}),
    expected: async () => {
      const day = await demo.getJson<Day>(`/v1/days/${week.at(-1)}`);
      const [report] = reportsOf(week.slice(-1));
      const declared = rankBy(
        report?.reportPayments ?? [],
        ({ paymentMode }) => paymentMode,
        ({ paymentAmount }) => paymentAmount,
      );
      return {
        amountsIn: "EUR",
        days: [{ day: day.day, state: day.state, totalSales: euros(report?.totalSales ?? 0) }],
        tills: [{ reportNumber: report?.reportNumber, deviceName: report?.deviceName, reportId: report?.id }],
        payments: containing(declared.map(([paymentMode, amount]) => ({ paymentMode, declaredAmount: euros(amount) }))),
      };
    },
  },
  {
    question: "On which days do the figures not add up?",
    tool: "days",
    args: () => ({ ...range(days) }),
    expected: async () => {
      const { data } = await demo.getJson<{ data: Day[] }>(`/v1/days/?since=${days[0]}&until=${days.at(-1)}&size=100`);
      const failed = data.flatMap(({ day, state, reasons, reconciliation }) => {
        const codes = [...reasons, ...reconciliation.filter(({ status }) => status === "failed")].map(
          ({ code }) => code,
        );
        const totalSales = euros(salesOf([day]));
        return codes.length > 0 ? [{ day, state, totalSales, failedChecksAndReasons: codes.join(", ") }] : [];
      });
      expect(failed.length).toBeGreaterThan(0);
      return {
        summary: { days: 14, closedWithoutFailedCheck: 14 - failed.length, totalSales: euros(salesOf(days)) },
        days: failed,
      };
    },
  },
  {
    question: "Which orders were above 100 euros?",
    tool: "orders_and_reports",
    args: () => ({ ...range(week), minTotal: 100, sort: "highest", limit: 3 }),
    expected: () => {
      const found = ordersOf(week)
        .filter(({ total }) => total >= 10_000)
        .sort((one, other) => other.total - one.total);
      expect(found.length).toBeGreaterThan(3);
      return {
        amountsIn: "EUR",
        summary: { matches: found.length, sum: euros(sumBy(found, ({ total }) => total)) },
        orders: found.slice(0, 3).map(({ total }) => ({ total: euros(total) })),
        leftOut: { orders: found.length - 3 },
      };
    },
  },
  {
    question: "Were orders canceled?",
    tool: "orders_and_reports",
    args: () => ({ ...range(days), status: "canceled" }),
    expected: () => {
      const found = ordersOf(days).filter(({ isCanceled }) => isCanceled);
      const sum = euros(sumBy(found, ({ total }) => total));
      return { summary: { matches: found.length, sum, ordersInPeriod: ordersOf(days).length } };
    },
  },
  {
    question: "What was in the largest order?",
    tool: "orders_and_reports",
    args: () => ({ orderId: findLargestOrder().id }),
    expected: async () => {
      const order = await readOrder(demo, findLargestOrder().id);
      return {
        amountsIn: "EUR",
        order: { total: euros(order.total), totalWithoutTax: euros(order.totalWithoutTax) },
        products: containing(
          order.productRowList.map(({ quantity, name, totalRow }) => ({ quantity, name, totalRow: euros(totalRow) })),
        ),
      };
    },
  },
  {
    question: "Which Z reports are there of last week?",
    tool: "orders_and_reports",
    args: () => ({ ...range(week), list: "reports" }),
    expected: () => ({
      summary: { reports: 7 },
      reports: containing(reportsOf(week).map(({ id, totalSales }) => ({ id, totalSales: euros(totalSales) }))),
    }),
  },
  {
    question: "Can you explain the Z report of yesterday?",
    tool: "explain",
    args: () => ({ day: week.at(-1) }),
    expected: () => {
      const [report] = reportsOf(week.slice(-1));
      return {
        amountsIn: "EUR",
        report: {
          businessDay: week.at(-1),
          reportNumber: report?.reportNumber,
          deviceName: report?.deviceName,
          orderCount: report?.orderCount,
          totalSales: euros(report?.totalSales ?? 0),
          initialCashBalance: euros(report?.initialCashBalance ?? 0),
          finalCashBalance: euros(report?.finalCashBalance ?? 0),
        },
        taxes: report?.reportTaxes.map((tax) => ({
          taxRate: `${tax.taxRate / 100}%`,
          taxableAmount: euros(tax.taxableAmount),
          taxAmount: euros(tax.taxAmount),
        })),
      };
    },
  },
  {
    question: "What does a declared payment mean?",
    tool: "search_docs",
    args: () => ({ query: "declared payment" }),
    expected: () => ({
      passages: containing([
        { title: "Glossary: Declared payment", url: expect.stringContaining("/docs/glossary#declared-payment") },
      ]),
    }),
  },
];

function findLargestOrder() {
  const [largest] = [...ordersOf(week)].sort((one, other) => other.total - one.total);
  return largest ?? expect.unreachable();
}

describe("an owner's question", () => {
  it.each(questions)("$question", async ({ tool, args, expected }) => {
    const { text, isError, structured } = await callTool(tool, args());
    expect(isError, text).toBe(false);
    if (process.env.SHOW_ANSWERS) process.stdout.write(`--- ${tool} ${JSON.stringify(args())}\n${text}\n`);
    expect(structured).toMatchObject(await expected());
  });

  it("has a small text that states the currency, unless it is documentation", async () => {
    for (const { tool, args } of questions) {
      const { text } = await callTool(tool, args());
      expect(text.length, tool).toBeLessThan(6_000);
      if (tool !== "search_docs") expect(text, tool).toContain("amountsIn: EUR");
    }
  });

  it("has the same answer for clients of earlier protocol versions", async () => {
    const earlier = await connectClient(demo.key, "legacy");
    expect(earlier.getNegotiatedProtocolVersion()).toBe("2025-11-25");
    expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
    for (const { tool, args } of questions)
      expect(await callTool(tool, args(), earlier)).toEqual(await callTool(tool, args()));
  });
});

describe("access of an API key", () => {
  it("an API key reads no other location, and learns nothing about its orders and reports", async () => {
    const other = await createTestLocation(product);
    const stranger = await connectClient(other.key);
    const [report] = reportsOf(week);
    const { locationId } = demo;
    const calls = [
      ["sales", { locationId }],
      ["items", { locationId }],
      ["days", { locationId }],
      ["orders_and_reports", { locationId }],
      ["orders_and_reports", { locationId, list: "reports" }],
      ["orders_and_reports", { orderId: findLargestOrder().id }],
      ["explain", { locationId }],
      ["explain", { reportId: report?.id }],
    ] as const;
    for (const [tool, args] of calls) {
      const { text, isError } = await callTool(tool, args, stranger);
      expect(isError, text).toBe(true);
      expect(text).toMatch(/location_forbidden|_not_found/);
      expect(text).not.toMatch(/EUR|\d\.\d\d/);
    }
    const { structured } = await callTool("orders_and_reports", { ...range(days) }, stranger);
    expect(structured).toMatchObject({ summary: { matches: 0, ordersInPeriod: 0 } });
  });

  it("an API key without a scope gets the name of the scope", async () => {
    const limited = await createTestLocation(product, { scopes: ["catalog:read"] });
    const limitedClient = await connectClient(limited.key);
    expect((await limitedClient.listTools()).tools).toHaveLength(6);
    expect(await callTool("sales", {}, limitedClient)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/reports:read.*scope_missing/s),
    });
    expect((await callTool("orders_and_reports", {}, limitedClient)).text).toMatch(/orders:read.*scope_missing/s);
    expect((await callTool("search_docs", { query: "business day" }, limitedClient)).isError).toBe(false);
  });

  it("an API key with only orders:read finds orders with their currency", async () => {
    const admin = createTestAdminClient(product);
    const consumerName = `orders of ${demo.locationId}`;
    const { data: consumer } = await admin.POST("/v1/consumers", { body: { name: consumerName } });
    await admin.PATCH("/v1/consumers/{id}", {
      params: { path: { id: consumer.id } },
      body: { scopes: ["orders:read"] },
    });
    const body = { locationId: demo.locationId, consumerName };
    const { data: created } = await admin.POST("/v1/auth/keys", { body });
    const orderClient = await connectClient(created.apiKey);
    const args = { ...range(week), minTotal: 100, limit: 1 };
    const { structured } = await callTool("orders_and_reports", args, orderClient);
    expect(structured).toMatchObject({ amountsIn: "EUR", summary: { sum: expect.stringMatching(/^\d+\.\d\d$/) } });
  });

  it("an operator's API key chooses the location", async () => {
    const operator = await connectClient(product.adminKey);
    expect(await callTool("sales", {}, operator)).toMatchObject({
      isError: true,
      text: expect.stringContaining("locationId is required"),
    });
    const args = { period: "yesterday", locationId: demo.locationId };
    const { structured } = await callTool("sales", args, operator);
    expect(structured).toMatchObject({
      period: { name: "yesterday", days: 1, timeZone: defaultTimeZone },
      ...inEuros({ totals: { sales: euros(salesOf(week.slice(-1))) } }),
    });
  });

  it("a revoked API key is rejected", async () => {
    const location = await createTestLocation(product);
    const connected = await connectClient(location.key);
    const admin = createTestAdminClient(product);
    const keys = await admin.GET("/v1/auth/keys", { params: { query: { locationId: location.locationId } } });
    const [{ id } = { id: "" }] = keys.data.data;
    await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
    await expect
      .poll(() => callTool("days", {}, connected).catch(String), { timeout: 10_000 })
      .toContain("key_revoked");
  });
});

it("named periods are those of the location's time zone", async () => {
  const { structured } = await callTool("sales", { period: "last_7_days" });
  const period = { since: addDays(today(), -7), until: addDays(today(), -1), name: "last_7_days", days: 7 };
  expect(structured.period).toEqual({ ...period, timeZone: defaultTimeZone });
});
