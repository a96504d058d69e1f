import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Day } from "@pragma/contracts/day";
import { addDays, getCurrentDay } from "@pragma/gateway/mcp/period";
import { demoTimeZone, generateDemoTill, listDemoDaysWithTillIds } from "@pragma/simulator/demo-location";
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
}, 120_000);
afterAll(() => Promise.all(clients.map((each) => each.close())));

async function connectClient(key: string): Promise<Client> {
  const connected = new Client({ name: "test", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(`${product.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await connected.connect(transport as Transport);
  clients.push(connected);
  return connected;
}

async function callTool(name: string, args: object, from = client): Promise<{ text: string; isError: boolean }> {
  const { content, isError = false } = await from.callTool({ name, arguments: { ...args } });
  const [{ text }] = content as [{ text: string }];
  return { text, isError: isError === true };
}

const reportsOf = (selected: string[]) => selected.map((day) => figures.reports.get(day) ?? expect.unreachable());
const range = (selected: string[]) => ({ since: selected[0], until: selected.at(-1) });
const percent = (part: number, whole: number) => `${(Math.round((1000 * part) / whole) / 10).toFixed(1)}%`;
const signed = (value: number) => `${value > 0 ? "+" : ""}${euros(value)}`;
const change = (now: number, before: number) => {
  const rounded = Math.round((10_000 * (now - before)) / before) / 100;
  return `(${rounded > 0 ? "+" : ""}${rounded}%)`;
};
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

/** An owner's question, the call that an assistant would make, and parts of the answer, computed from reports and orders. */
interface OwnerQuestion {
  question: string;
  tool: string;
  args: () => object;
  expected: () => string[] | Promise<string[]>;
}

const questions: OwnerQuestion[] = [
  {
    question: "How much did we make yesterday?",
    tool: "sales_summary",
    args: () => ({ period: "yesterday" }),
    expected: () => {
      const [report] = reportsOf(week.slice(-1));
      return [
        `${week.at(-1)} (yesterday, 1 day, ${demoTimeZone})`,
        `Sales incl. tax: ${euros(report?.totalSales ?? 0)} EUR`,
        `Orders: ${report?.orderCount} (`,
        `guests: ${report?.guestsNumber} (`,
      ];
    },
  },
  {
    question: "And the last seven days, without tax?",
    tool: "sales_summary",
    args: () => ({}),
    expected: () => {
      const net = sumBy(
        reportsOf(week).flatMap(({ reportRooms }) => reportRooms),
        (room) => room.totalExcludingTax,
      );
      const orders = sumBy(reportsOf(week), ({ orderCount }) => orderCount);
      return [
        `Sales excl. tax: ${euros(net)} EUR`,
        `Orders: ${orders} (average ${euros(Math.round(salesOf(week) / orders))} EUR)`,
      ];
    },
  },
  {
    question: "What were the sales of each day last week?",
    tool: "sales_summary",
    args: () => ({ period: "last_7_days", groupBy: "day" }),
    expected: () =>
      week.map((day) => {
        const [report] = reportsOf([day]);
        const sales = report?.totalSales ?? 0;
        return `${day} | ${euros(sales)} | ${percent(sales, salesOf(week))} | ${report?.orderCount}`;
      }),
  },
  {
    question: "How much did each room sell?",
    tool: "sales_summary",
    args: () => ({ ...range(days), groupBy: "room" }),
    expected: () => {
      const rooms = reportsOf(days).flatMap(({ reportRooms }) => reportRooms);
      return rankBy(
        rooms,
        ({ name }) => name ?? "(no name)",
        ({ total }) => total,
      ).map(([name, sales]) => `${name} | ${euros(sales)} | ${percent(sales, salesOf(days))} | `);
    },
  },
  {
    question: "How much VAT do I owe for these two weeks, by rate?",
    tool: "sales_summary",
    args: () => ({ ...range(days), groupBy: "taxRate" }),
    expected: () => {
      const taxes = reportsOf(days).flatMap(({ reportTaxes }) => reportTaxes);
      return rankBy(
        taxes,
        ({ taxRate }) => `${taxRate / 100}%`,
        ({ taxAmount }) => taxAmount,
      ).map(([rate, tax]) => `\n| ${rate} | .* | ${euros(tax)}`);
    },
  },
  {
    question: "Which weekday is the strongest?",
    tool: "sales_summary",
    args: () => ({ ...range(days), groupBy: "weekday" }),
    expected: () => {
      const names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
      return rankBy(
        days,
        (day) => names[new Date(day).getUTCDay()] ?? "",
        (day) => salesOf([day]),
      ).map(([name, sales]) => `${name} | ${euros(sales)} | `);
    },
  },
  {
    question: "Was last week better than the week before?",
    tool: "compare_periods",
    args: () => ({ ...range(week) }),
    expected: () => {
      const [now, before] = [salesOf(week), salesOf(earlierWeek)];
      return [
        `compared with ${earlierWeek[0]} to ${earlierWeek.at(-1)}`,
        `Sales incl. tax | ${euros(now)} EUR | ${euros(before)} EUR | ${signed(now - before)} EUR ${change(now, before)}`,
      ];
    },
  },
  {
    question: "Is this week better so far than the last one?",
    tool: "compare_periods",
    args: () => ({ period: "this_week", groupBy: "day" }),
    expected: () => {
      const today = getCurrentDay(demoTimeZone);
      const weekday = (new Date(today).getUTCDay() + 6) % 7;
      const current = Array.from({ length: weekday + 1 }, (_, index) => addDays(today, index - weekday));
      const earlier = current.map((day) => addDays(day, -7));
      const known = current.filter((day) => figures.reports.has(day));
      const [now, before] = [salesOf(known), salesOf(earlier)];
      return [
        `compared with ${earlier[0]} to ${earlier.at(-1)} (previous_period: the same days of the week before)`,
        `Sales incl. tax | ${euros(now)} EUR | ${euros(before)} EUR | ${signed(now - before)} EUR ${change(now, before)}`,
        ...known.map(
          (day) => `${day} (${addDays(day, -7)}) | ${euros(salesOf([day]))} | ${euros(salesOf([addDays(day, -7)]))} | `,
        ),
      ];
    },
  },
  {
    question: "Which products sell better or worse than the week before?",
    tool: "compare_periods",
    args: () => ({ ...range(week), groupBy: "product", limit: 3 }),
    expected: () => {
      const keyOf = ({
        productCatalogId,
        productName,
      }: {
        productCatalogId: string | null;
        productName: string | null;
      }) => JSON.stringify([productCatalogId, productName]);
      const before = new Map(rankBy(productsOf(earlierWeek), keyOf, ({ productSales }) => productSales));
      const now = new Map(rankBy(productsOf(week), keyOf, ({ productSales }) => productSales));
      const changes = [...new Set([...now.keys(), ...before.keys()])].map((key) => ({
        name: JSON.parse(key)[1] as string,
        sales: now.get(key) ?? 0,
        difference: (now.get(key) ?? 0) - (before.get(key) ?? 0),
      }));
      const [largest] = changes.sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference));
      const { name = "", sales = 0, difference = 0 } = largest ?? {};
      return [
        `${name} | ${euros(sales)} | ${euros(sales - difference)} | ${signed(difference)}`,
        `Left out: ${changes.length - 3} rows`,
      ];
    },
  },
  {
    question: "What are my five best products?",
    tool: "top_items",
    args: () => ({ ...range(days), limit: 5 }),
    expected: () => {
      const ranked = rankBy(
        productsOf(days),
        ({ productCatalogId, productName }) => JSON.stringify([productCatalogId, productName]),
        ({ productSales }) => productSales,
      );
      const total = sumBy(ranked, ([, sales]) => sales);
      const top = ranked.slice(0, 5);
      return [
        ...top.map(([key, sales], index) => `${index + 1} | ${JSON.parse(key)[1]} | ${euros(sales)} | `),
        `Left out: ${ranked.length - 5} rows (sales ${euros(total - sumBy(top, ([, sales]) => sales))})`,
      ];
    },
  },
  {
    question: "How many units did each category sell?",
    tool: "top_items",
    args: () => ({ ...range(days), by: "category", rankBy: "quantity" }),
    expected: () =>
      rankBy(
        productsOf(days),
        ({ category }) => category ?? "(none)",
        ({ productQuantity }) => productQuantity,
      )
        .slice(0, 10)
        .map(([name, quantity]) => ` | ${name} | ${quantity} | `),
  },
  {
    question: "How did people pay last week?",
    tool: "payments_breakdown",
    args: () => ({ ...range(week) }),
    expected: () => {
      const methods = rankBy(
        paymentsOf(week),
        ({ name }) => name ?? "(no name)",
        ({ totalAmount }) => totalAmount,
      );
      const total = sumBy(methods, ([, amount]) => amount);
      return [
        `Total: ${euros(total)} EUR in ${sumBy(paymentsOf(week), ({ quantity }) => quantity)} payments`,
        ...methods.map(([name, amount]) => `\n| ${name}.* | ${euros(amount)} | ${percent(amount, total)} | `),
      ];
    },
  },
  {
    question: "How much did we receive in tips?",
    tool: "payments_breakdown",
    args: () => ({ ...range(days) }),
    expected: () => {
      const payments = reportsOf(days).flatMap(({ reportRecordedPayments }) => reportRecordedPayments);
      const tipsOf = ({ paymentType, totalAmount, tipsAmount }: (typeof payments)[number]) =>
        paymentType === "tip" ? totalAmount : tipsAmount;
      return [`tips ${euros(sumBy(payments, tipsOf))} EUR in addition`];
    },
  },
  {
    question: "Which discounts did we give?",
    tool: "cancellations_and_discounts",
    args: () => ({ ...range(days) }),
    expected: () => {
      const discounts = reportsOf(days).flatMap(({ reportDiscounts }) => reportDiscounts);
      const total = sumBy(discounts, ({ discountValue }) => discountValue);
      const key = ({ discountName, gifted }: { discountName: string | null; gifted: boolean }) =>
        `${discountName}${gifted ? " (free)" : ""}`;
      return [
        `Discounts: ${euros(total)} EUR (${percent(total, salesOf(days))} of sales), used ${sumBy(discounts, ({ quantity }) => quantity)} times`,
        ...rankBy(discounts, key, ({ discountValue }) => discountValue).map(
          ([name, value]) => `\n| ${name} | ${euros(value)} | `,
        ),
      ];
    },
  },
  {
    question: "Why were products canceled?",
    tool: "cancellations_and_discounts",
    args: () => ({ ...range(days) }),
    expected: () => {
      const cancellations = reportsOf(days).flatMap(({ reportCancellations }) => reportCancellations);
      const key = ({ name, afterFinalization }: { name: string; afterFinalization: boolean }) =>
        `${name || "(no reason)"}${afterFinalization ? " (after the bill)" : ""}`;
      return [
        `Cancellations: ${euros(sumBy(cancellations, ({ amount }) => amount))} EUR`,
        ...rankBy(cancellations, key, ({ amount }) => amount).map(
          ([name, amount]) => `\n| ${name} | ${euros(amount)} | `,
        ),
      ];
    },
  },
  {
    question: "Is yesterday complete?",
    tool: "day_status",
    args: () => ({}),
    expected: async () => {
      const day = await demo.getJson<Day>(`/v1/days/${week.at(-1)}`);
      const [report] = reportsOf(week.slice(-1));
      return [
        `State: ${day.state}`,
        `${report?.reportNumber} | ${report?.deviceName} | `,
        `Total: sales ${euros(report?.totalSales ?? 0)} EUR, ${report?.orderCount} orders`,
        ...rankBy(
          report?.reportPayments ?? [],
          ({ paymentMode }) => paymentMode,
          ({ paymentAmount }) => paymentAmount,
        ).map(([mode, amount]) => `\n| ${mode} | .* | ${euros(amount)} | `),
      ];
    },
  },
  {
    question: "On which days do the figures not add up?",
    tool: "day_status",
    args: () => ({ ...range(days) }),
    expected: async () => {
      const { data } = await demo.getJson<{ data: Day[] }>(`/v1/days/?since=${days[0]}&until=${days.at(-1)}&size=100`);
      const failed = data.flatMap(({ day, state, reasons, reconciliation }) => {
        const codes = [...reasons, ...reconciliation.filter(({ status }) => status === "failed")].map(
          ({ code }) => code,
        );
        return codes.length > 0 ? [`${day} | ${state} | ${euros(salesOf([day]))} | ${codes.join(", ")}`] : [];
      });
      expect(failed.length).toBeGreaterThan(2);
      const passed = 14 - failed.length;
      return [
        `14 days with data, sales ${euros(salesOf(days))} EUR. ${passed} ${passed === 1 ? "day is" : "days are"} closed`,
        ...failed,
      ];
    },
  },
  {
    question: "Which orders were above 100 euros?",
    tool: "find_orders",
    args: () => ({ ...range(week), minTotal: 100, sort: "highest", limit: 3 }),
    expected: () => {
      const found = ordersOf(week)
        .filter(({ total }) => total >= 10_000)
        .sort((one, other) => other.total - one.total);
      expect(found.length).toBeGreaterThan(3);
      return [
        `${found.length} orders match, sum ${euros(sumBy(found, ({ total }) => total))} EUR`,
        `${euros(found[0]?.total ?? 0)} | `,
        `Left out: ${found.length - 3} orders`,
      ];
    },
  },
  {
    question: "Were orders canceled?",
    tool: "find_orders",
    args: () => ({ ...range(days), status: "canceled" }),
    expected: () => {
      const found = ordersOf(days).filter(({ isCanceled }) => isCanceled);
      return [
        `${found.length} order`,
        `sum ${euros(sumBy(found, ({ total }) => total))} EUR; ${ordersOf(days).length} orders`,
      ];
    },
  },
  {
    question: "What was in the largest order?",
    tool: "get_order",
    args: () => ({ orderId: findLargestOrder().id }),
    expected: async () => {
      const order = await readOrder(demo, findLargestOrder().id);
      return [
        `Total: ${euros(order.total)} EUR incl. tax, ${euros(order.totalWithoutTax)} EUR excl. tax`,
        ...order.productRowList
          .slice(0, 5)
          .map(({ quantity, name, totalRow }) => `\n| ${quantity} | ${name} | ${euros(totalRow)} | `),
      ];
    },
  },
  {
    question: "Can you explain the Z report of yesterday?",
    tool: "explain_report",
    args: () => ({ day: week.at(-1) }),
    expected: () => {
      const [report] = reportsOf(week.slice(-1));
      return [
        `Report ${report?.reportNumber} of ${report?.deviceName}, business day ${week.at(-1)}`,
        `Sales incl. tax: ${euros(report?.totalSales ?? 0)} EUR, ${report?.orderCount} orders`,
        ...(report?.reportTaxes ?? []).map(
          (tax) => `\n| ${tax.taxRate / 100}% | ${euros(tax.taxableAmount)} | ${euros(tax.taxAmount)}`,
        ),
        `Cash: ${euros(report?.initialCashBalance ?? 0)} EUR at the start, ${euros(report?.finalCashBalance ?? 0)} EUR counted`,
      ];
    },
  },
  {
    question: "What does a declared payment mean?",
    tool: "search_docs",
    args: () => ({ query: "declared payment" }),
    expected: () => ["## Glossary: Declared payment", "/docs/glossary#declared-payment"],
  },
];

function findLargestOrder() {
  const [largest] = [...ordersOf(week)].sort((one, other) => other.total - one.total);
  return largest ?? expect.unreachable();
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

describe("an owner's question", () => {
  it.each(questions)("$question", async ({ tool, args, expected }) => {
    const { text, isError } = await callTool(tool, args());
    expect(isError, text).toBe(false);
    if (process.env.SHOW_ANSWERS) process.stdout.write(`--- ${tool} ${JSON.stringify(args())}\n${text}\n`);
    for (const part of await expected()) {
      const pattern = part.split(".*").map(escapeRegExp).join("[^\\n]*");
      expect(text).toMatch(new RegExp(pattern));
    }
  });

  it("has a small answer that states the currency, and the next steps unless it is documentation", async () => {
    for (const { tool, args } of questions) {
      const { text } = await callTool(tool, args());
      expect(text.length, tool).toBeLessThan(5_500);
      if (tool !== "search_docs") expect(text, tool).toMatch(/EUR[\s\S]*\nNext: \w+ \{/);
    }
  });

  it("has next steps that can be called as they are", async () => {
    const called = new Set<string>();
    const longPeriod = { args: () => ({ period: "last_365_days" }) };
    const calls = [
      ...questions,
      { tool: "payments_breakdown", ...longPeriod },
      {
        tool: "sales_summary",
        args: () => ({ since: addDays(days[0] ?? "", -400), until: addDays(days[0] ?? "", -1) }),
      },
      { tool: "compare_periods", args: () => ({ ...range(week), filters: { paymentMethod: ["card"] } }) },
    ];
    for (const { tool, args } of calls) {
      const { text, isError } = await callTool(tool, args());
      expect(isError, text).toBe(false);
      for (const [, next = "", json = ""] of text.matchAll(/^Next: (\w+) (\{.*\}) – /gm)) {
        if (called.has(next + json)) continue;
        called.add(next + json);
        const answer = await callTool(next, JSON.parse(json));
        expect(answer.isError, `${next} ${json}: ${answer.text}`).toBe(false);
      }
    }
    expect(called.size).toBeGreaterThan(15);
  });
});

describe("access of an API key", () => {
  it("an API key reads no other location, and learns nothing about its orders and reports", async () => {
    const other = await createTestLocation(product);
    const stranger = await connectClient(other.key);
    const [report] = reportsOf(week);
    const calls = [
      ["sales_summary", { locationId: demo.locationId }],
      ["compare_periods", { locationId: demo.locationId }],
      ["top_items", { locationId: demo.locationId }],
      ["payments_breakdown", { locationId: demo.locationId }],
      ["cancellations_and_discounts", { locationId: demo.locationId }],
      ["day_status", { locationId: demo.locationId }],
      ["find_orders", { locationId: demo.locationId }],
      ["explain_report", { locationId: demo.locationId }],
      ["explain_report", { reportId: report?.id }],
      ["get_order", { orderId: findLargestOrder().id }],
    ] as const;
    for (const [tool, args] of calls) {
      const { text, isError } = await callTool(tool, args, stranger);
      expect(isError, text).toBe(true);
      expect(text).toMatch(/location_forbidden|_not_found/);
      expect(text).not.toMatch(/EUR|\d\.\d\d/);
    }
    expect((await callTool("find_orders", { ...range(days) }, stranger)).text).toContain("0 orders match");
  });

  it("an API key without a scope gets the name of the scope", async () => {
    const limited = await createTestLocation(product, { scopes: ["catalog:read"] });
    const limitedClient = await connectClient(limited.key);
    expect((await limitedClient.listTools()).tools).toHaveLength(10);
    expect(await callTool("sales_summary", {}, limitedClient)).toMatchObject({
      isError: true,
      text: expect.stringContaining("lacks the scope reports:read"),
    });
    expect((await callTool("find_orders", {}, limitedClient)).text).toContain("lacks the scope orders:read");
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
    const { text } = await callTool("find_orders", { ...range(week), minTotal: 100, limit: 1 }, orderClient);
    expect(text).toMatch(/orders match, sum \d+\.\d\d EUR/);
  });

  it("an operator's API key chooses the location", async () => {
    const operator = await connectClient(product.adminKey);
    expect(await callTool("sales_summary", {}, operator)).toMatchObject({
      isError: true,
      text: expect.stringContaining("locationId is required"),
    });
    const args = { period: "yesterday", locationId: demo.locationId };
    const { text } = await callTool("sales_summary", args, operator);
    expect(text).toContain(`(yesterday, 1 day, ${demoTimeZone})`);
    expect(text).toContain(`Sales incl. tax: ${euros(salesOf(week.slice(-1)))} EUR`);
    expect(text).toContain(`"locationId":"${demo.locationId}"`);
  });

  it("a revoked API key is rejected", async () => {
    const location = await createTestLocation(product);
    const connected = await connectClient(location.key);
    const admin = createTestAdminClient(product);
    const keys = await admin.GET("/v1/auth/keys", { params: { query: { locationId: location.locationId } } });
    const [{ id } = { id: "" }] = keys.data.data;
    await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
    await expect
      .poll(() => callTool("day_status", {}, connected).catch(String), { timeout: 10_000 })
      .toContain("key_revoked");
  });
});

it("named periods are those of the location's time zone", async () => {
  const today = getCurrentDay(demoTimeZone);
  const { text } = await callTool("sales_summary", { period: "last_7_days" });
  expect(text).toContain(`${addDays(today, -7)} to ${addDays(today, -1)} (last_7_days, 7 days, ${demoTimeZone})`);
});
