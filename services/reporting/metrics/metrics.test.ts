import {
  canCombineMetricDimensions,
  canMeasureByDimension,
  metricDimensionNames,
  metricMeasureNames,
} from "@pragma/contracts/metric-definitions";
import { type MetricRow, Metrics } from "@pragma/contracts/metrics";
import { MetricsMeta } from "@pragma/contracts/metrics-meta";
import type { Principal } from "@pragma/contracts/principal";
import type { Problem } from "@pragma/contracts/problem";
import { assertStatementsUseOnePartition } from "@pragma/runtime/testing/statement-recorder";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../testing/start-test-reporting.ts";
import {
  buildTestOrder,
  buildTestOrderDiscountRow,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
  buildTestTill,
} from "../testing/till-fixtures.ts";

const principal = buildTestPrincipalWithScopes("reports:read");
const otherPrincipal = buildTestPrincipalWithScopes("reports:read");
const swissPrincipal = buildTestPrincipalWithScopes("reports:read");
const locationId = principal.location.id;
const otherLocationId = otherPrincipal.location.id;
const swissLocationId = swissPrincipal.location.id;
const operator: Principal = { ...principal, location: null, scopes: ["reports:read", "locations:any"] };
let service: TestReportingService;

beforeAll(async () => {
  service = await startTestReportingService({ METRICS_QUERY_TIMEOUT_SECONDS: "3" });
  service.accounts.addLocation({ id: locationId });
  service.accounts.addLocation({ id: otherLocationId });
  service.accounts.addLocation({ id: swissLocationId, currencyCode: "CHF" });
  for (const [location, tills] of tillsByLocation) await service.pushTills(tills, location);
}, 300_000);
afterAll(() => service?.remove());

interface SaleOptions {
  /** The local day of the shift, in Europe/Paris. */
  day: string;
  time?: string;
  amount?: number;
  order?: Parameters<typeof buildTestOrder>[0];
  row?: Parameters<typeof buildTestOrderProductRow>[0];
  payments?: Parameters<typeof buildTestOrderPaymentRow>[0][];
  otherRows?: ReturnType<typeof buildTestOrderProductRow>[];
}

/** Returns a till with one order of one product at 10% VAT. */
function buildSaleTill({
  day,
  time = "12:30:00Z",
  amount = 1_100,
  order,
  row,
  payments = [{}],
  otherRows,
}: SaleOptions) {
  const withoutTax = Math.round(amount / 1.1);
  const amounts = { totalRow: amount, taxableAmount: withoutTax, taxAmount: amount - withoutTax };
  return buildTestTill(
    [
      buildTestOrder({
        ...{ openedAt: `${day}T${time}`, total: amount, totalWithoutTax: withoutTax, totalTax: amount - withoutTax },
        ...{ roomName: "Salle", roomType: "room", serviceType: "eatin", channel: "pos", guestsCount: 2 },
        ...{ operatorId: "alice", operatorName: "Alice" },
        productRowList: [buildTestOrderProductRow({ ...amounts, ...row }), ...(otherRows ?? [])],
        paymentRowList: payments.map((payment) => buildTestOrderPaymentRow({ amount, ...payment })),
        ...order,
      }),
    ],
    {
      startedAt: `${day}T08:00:00.000Z`,
      finalizedAt: `${day}T20:00:00.000Z`,
      ...{ deviceIdentifier: "ipad", deviceName: "iPad" },
    },
  );
}

const bar = { roomName: "Bar", roomType: "bar", serviceType: "takeout", channel: "web", guestsCount: 0 } as const;
const tillsByLocation = new Map([
  [
    locationId,
    [
      buildSaleTill({ day: "2026-05-28", amount: 2_200 }),
      buildSaleTill({
        day: "2026-05-29",
        payments: [
          { amount: 600, name: "Espèces", paymentMode: "cash" },
          { amount: 500, tipAmount: 100 },
        ],
        row: {
          discountRowList: [buildTestOrderDiscountRow()],
          totalDiscount: 110,
        },
      }),
      buildSaleTill({
        ...{ day: "2026-05-29", time: "20:59:00Z", amount: 550 },
        order: { ...bar, operatorId: "bob", operatorName: "Bob" },
        row: { productId: "beer", name: "=Bière", categoryName: "Bar", subCategoryName: null, taxRate: 20 },
        otherRows: [
          buildTestOrderProductRow({ isCanceled: true, canceledReason: "Erreur", totalRow: 700, quantity: 2 }),
          buildTestOrderProductRow({ productId: "glass", name: "Verre", isLoss: true, totalRow: 300 }),
        ],
      }),
    ],
  ],
  [otherLocationId, [buildSaleTill({ day: "2026-05-29", amount: 9_900 })]],
  [swissLocationId, [buildSaleTill({ day: "2026-05-29", amount: 3_300 })]],
]);

type Query = Record<string, string>;

const toPath = (query: Query) => `/v1/metrics/?${new URLSearchParams(query)}`;
const day = { since: "2026-05-29", until: "2026-05-29" };
const query = (fields: Query, caller: Principal = principal) =>
  service.getJson(toPath({ measures: "sales", ...day, ...fields }), Metrics, caller);
const requestProblem = (fields: Query, caller: Principal = principal) =>
  service.requestProblem({
    ...{ method: "GET", path: toPath({ measures: "sales", ...day, ...fields }), principal: caller },
  });
const listRows = ({ data }: Metrics) => data.map(({ dimensions, values }) => [dimensions, values]);
const getOnlyRow = ({ data }: Metrics): MetricRow => {
  expect(data).toHaveLength(1);
  return data[0] as MetricRow;
};

describe("GET /v1/metrics/meta", () => {
  it("describes the measures and dimensions, with an entity tag", async () => {
    const response = await service.request("GET", "/v1/metrics/meta", { principal });
    expect(MetricsMeta.parse(await response.json()).measures).toHaveLength(metricMeasureNames.length);
    const headers = { "if-none-match": response.headers.get("etag") ?? "" };
    expect((await service.request("GET", "/v1/metrics/meta", { principal, headers })).status).toBe(304);
  });
});

describe("the measures", () => {
  it("are the sums of the reports", async () => {
    const metrics = await query({ measures: metricMeasureNames.join() });
    expect(getOnlyRow(metrics)).toEqual({
      currency: "EUR",
      dimensions: {},
      values: {
        ...{ sales: 1_650, salesWithoutTax: 1_500, tax: 150, orders: 2, guests: 2, averageOrder: 825 },
        ...{ averageGuest: 550, quantity: 2, discounts: 110, discountCount: 1, cancellations: 700 },
        ...{ canceledQuantity: 2, losses: 300, payments: 1_650, paymentCount: 3, tips: 100, refunds: 0 },
      },
      comparison: null,
    });
    expect(metrics.totals).toEqual([
      { currency: "EUR", values: metrics.data[0]?.values, comparison: null, unattributed: null },
    ]);
    expect(metrics).toMatchObject({ rowCount: 1, omittedRowCount: 0, missingReportCount: 0, compareSince: null });
  });

  it("are 0 or null for days without reports", async () => {
    const measures = "sales,averageOrder,averageGuest";
    const values = { sales: 0, averageOrder: null, averageGuest: null };
    const metrics = await query({ measures, since: "2026-01-01", until: "2026-01-31" });
    expect(metrics.data).toEqual([{ currency: "EUR", dimensions: {}, values, comparison: null }]);
    expect((await query({ measures, dimensions: "day", since: "2026-01-01", until: "2026-01-31" })).data).toEqual([]);
  });
});

describe("the dimensions", () => {
  it.each<[string, string, [unknown, unknown][]]>([
    ["sales", "day", [[{ day: "2026-05-29" }, { sales: 1_650 }]]],
    ["sales", "week", [[{ week: "2026-W22" }, { sales: 1_650 }]]],
    ["sales", "month", [[{ month: "2026-05" }, { sales: 1_650 }]]],
    ["sales", "weekday", [[{ weekday: "friday" }, { sales: 1_650 }]]],
    ["sales", "location", [[{ location: { id: locationId } }, { sales: 1_650 }]]],
    [
      "sales",
      "hour",
      [
        [{ hour: 14 }, { sales: 1_100 }],
        [{ hour: 22 }, { sales: 550 }],
      ],
    ],
    [
      "sales,guests",
      "room",
      [
        [{ room: { name: "Salle", type: "room" } }, { sales: 1_100, guests: 2 }],
        [{ room: { name: "Bar", type: "bar" } }, { sales: 550, guests: 0 }],
      ],
    ],
    [
      "sales",
      "serviceType,channel",
      [
        [{ serviceType: "eatin", channel: "pos" }, { sales: 1_100 }],
        [{ serviceType: "takeout", channel: "web" }, { sales: 550 }],
      ],
    ],
    [
      "orders,averageOrder",
      "clerk",
      [
        [{ clerk: { id: "alice", name: "Alice" } }, { orders: 1, averageOrder: 1_100 }],
        [{ clerk: { id: "bob", name: "Bob" } }, { orders: 1, averageOrder: 550 }],
      ],
    ],
    ["orders", "device", [[{ device: { id: "ipad", name: "iPad" } }, { orders: 2 }]]],
    [
      "sales,quantity,cancellations,losses",
      "product",
      [
        [{ product: { id: "pizza", name: "Pizza" } }, { sales: 1_100, quantity: 1, cancellations: 700, losses: 0 }],
        [{ product: { id: "beer", name: "=Bière" } }, { sales: 550, quantity: 1, cancellations: 0, losses: 0 }],
        [{ product: { id: "glass", name: "Verre" } }, { sales: 0, quantity: 0, cancellations: 0, losses: 300 }],
      ],
    ],
    [
      "sales",
      "category,subcategory,taxRate",
      [
        [{ category: "Cuisine", subcategory: "Pizze", taxRate: 1000 }, { sales: 1_100 }],
        [{ category: "Bar", subcategory: null, taxRate: 2000 }, { sales: 550 }],
      ],
    ],
    [
      "payments,paymentCount,tips",
      "paymentMethod",
      [
        [{ paymentMethod: { name: "Carte bancaire", mode: "card" } }, { payments: 1_050, paymentCount: 2, tips: 100 }],
        [{ paymentMethod: { name: "Espèces", mode: "cash" } }, { payments: 600, paymentCount: 1, tips: 0 }],
      ],
    ],
    [
      "payments",
      "room,paymentMethod",
      [
        [
          { room: { name: "Salle", type: "room" }, paymentMethod: { name: "Espèces", mode: "cash" } },
          { payments: 600 },
        ],
        [
          { room: { name: "Bar", type: "bar" }, paymentMethod: { name: "Carte bancaire", mode: "card" } },
          { payments: 550 },
        ],
        [
          { room: { name: "Salle", type: "room" }, paymentMethod: { name: "Carte bancaire", mode: "card" } },
          { payments: 500 },
        ],
      ],
    ],
    [
      "discounts,discountCount",
      "discount,clerk",
      [
        [
          { discount: { id: "staff", name: "Personnel", gifted: false }, clerk: { id: "alice", name: "Alice" } },
          { discounts: 110, discountCount: 1 },
        ],
      ],
    ],
    [
      "cancellations,canceledQuantity",
      "cancellationReason,hour",
      [
        [
          { cancellationReason: { name: "Erreur", afterFinalization: false }, hour: 22 },
          { cancellations: 700, canceledQuantity: 2 },
        ],
      ],
    ],
  ])("%s by %s", async (measures, dimensions, rows) => {
    expect(listRows(await query({ measures, dimensions }))).toEqual(rows);
  });

  it("can all be combined as the rules say", async () => {
    for (const one of metricDimensionNames)
      for (const other of metricDimensionNames.filter((name) => canCombineMetricDimensions(one, name))) {
        const dimensions = one === other ? [one] : [one, other];
        const measures = metricMeasureNames.filter((measure) =>
          dimensions.every((dimension) => canMeasureByDimension(measure, dimension)),
        );
        const metrics = await query({ measures: measures.join(), dimensions: dimensions.join() });
        const [totals] = metrics.totals;
        const all = getOnlyRow(await query({ measures: measures.join() })).values;
        expect(totals?.values, dimensions.join()).toEqual(all);
      }
  });
});

describe("filters", () => {
  it.each<[string, Query, number]>([
    ["a name", { filters: '{"room": ["Bar"]}' }, 550],
    ["a type", { filters: '{"room": ["room"]}' }, 1_100],
    ["an id", { filters: '{"clerk": ["alice"]}' }, 1_100],
    ["several values", { filters: '{"clerk": ["Alice", "bob"]}' }, 1_650],
    ["several dimensions", { filters: '{"room": ["Bar"], "clerk": ["alice"]}' }, 0],
    ["a number", { filters: '{"hour": [22]}' }, 550],
    ["a rate of products", { filters: '{"taxRate": ["2000"]}' }, 550],
    ["a missing text", { filters: '{"subcategory": [""]}' }, 550],
    ["only a part of a name", { filters: '{"room": ["Ba"]}' }, 0],
    ["a weekday", { filters: '{"weekday": ["thursday"]}', since: "2026-05-01", until: "2026-05-31" }, 2_200],
    ["a week", { filters: '{"week": ["2026-W22"]}', since: "2026-05-01", until: "2026-05-31" }, 3_850],
    ["days", { filters: '{"day": ["2026-05-28", "2026-02-30"]}', since: "2026-05-01", until: "2026-05-31" }, 2_200],
    ["a month", { filters: '{"month": ["2026-04"]}', since: "2026-04-01", until: "2026-05-31" }, 0],
    ["its own location", { filters: JSON.stringify({ location: [locationId.toUpperCase()] }) }, 1_650],
    ["a location of others", { filters: JSON.stringify({ location: [otherLocationId] }) }, 0],
    ["SQL", { filters: JSON.stringify({ room: ["') or true --", "{}", 'a"b', "\\"] }) }, 0],
  ])("by %s accept only the rows with these values", async (_, fields, sales) => {
    expect((await query(fields)).totals[0]?.values).toEqual({ sales });
  });

  it("by a payment method can be combined with order dimensions", async () => {
    const filters = '{"paymentMethod": ["cash"]}';
    expect(listRows(await query({ measures: "payments", dimensions: "room", filters }))).toEqual([
      [{ room: { name: "Salle", type: "room" } }, { payments: 600 }],
    ]);
  });
});

describe("the part of sales that no product row explains", () => {
  it("is the difference to the totals without product dimensions", async () => {
    const order = { total: 1_000, totalWithoutTax: 910 };
    await service.pushTills([buildSaleTill({ day: "2026-03-10", amount: 1_100, order })], locationId);
    const of = { measures: "sales,salesWithoutTax,tax", since: "2026-03-01", until: "2026-03-31" };
    const byProduct = await query({ ...of, dimensions: "product" });
    expect(byProduct.totals[0]).toMatchObject({
      values: { sales: 1_100, salesWithoutTax: 1_000, tax: 100 },
      unattributed: { sales: -100, salesWithoutTax: -90 },
    });
    const byRoom = await query({ ...of, dimensions: "room" });
    expect(byRoom.totals[0]).toMatchObject({ values: { sales: 1_000, salesWithoutTax: 910 }, unattributed: null });
    const filtered = await query({ ...of, dimensions: "product", filters: '{"product": ["pizza"]}' });
    expect(filtered.totals[0]?.unattributed).toBeNull();
    const taxByProduct = await query({ ...of, measures: "tax", dimensions: "product" });
    expect(taxByProduct.totals[0]).toMatchObject({ values: { tax: 100 }, unattributed: null });
  });
});

describe("a comparison", () => {
  it("has the values, differences and percents of the earlier period", async () => {
    const metrics = await query({ measures: "sales,orders,averageOrder", compare: "previous_period" });
    expect(metrics).toMatchObject({ compareSince: "2026-05-28", compareUntil: "2026-05-28" });
    const comparison = {
      values: { sales: 2_200, orders: 1, averageOrder: 2_200 },
      differences: { sales: -550, orders: 1, averageOrder: -1_375 },
      percents: { sales: -25, orders: 100, averageOrder: -62.5 },
    };
    expect(getOnlyRow(metrics).comparison).toEqual({ dimensions: {}, ...comparison });
    expect(metrics.totals[0]?.comparison).toEqual(comparison);
  });

  it("is null where the earlier value is 0 or null", async () => {
    const { comparison } = getOnlyRow(await query({ measures: "sales,averageOrder", compare: "previous_year" }));
    expect(comparison).toEqual({
      ...{ dimensions: {}, values: { sales: 0, averageOrder: null } },
      ...{ differences: { sales: 1_650, averageOrder: null }, percents: { sales: null, averageOrder: null } },
    });
  });

  it("is that of the same weekdays with `previous_week`", async () => {
    const range = { since: "2026-06-04", until: "2026-06-05", dimensions: "day,weekday" };
    const { data, compareSince, compareUntil } = await query({ ...range, compare: "previous_week" });
    expect([compareSince, compareUntil]).toEqual(["2026-05-28", "2026-05-29"]);
    expect(data.map(({ dimensions, comparison }) => [dimensions, comparison?.dimensions])).toEqual([
      [
        { day: "2026-06-04", weekday: "thursday" },
        { day: "2026-05-28", weekday: "thursday" },
      ],
      [
        { day: "2026-06-05", weekday: "friday" },
        { day: "2026-05-29", weekday: "friday" },
      ],
    ]);
  });

  it("contains rows that only one of the periods has", async () => {
    const range = { since: "2026-05-29", until: "2026-05-29", compare: "previous_period" };
    const { data, totals } = await query({ ...range, dimensions: "clerk", sort: "sales" });
    expect(
      data.map(({ dimensions, values, comparison }) => [dimensions.clerk?.id, values, comparison?.values]),
    ).toEqual([
      ["bob", { sales: 550 }, { sales: 0 }],
      ["alice", { sales: 1_100 }, { sales: 2_200 }],
    ]);
    const next = await query({ ...range, since: "2026-05-30", until: "2026-05-30", dimensions: "clerk" });
    expect(next.data.map(({ values, comparison }) => [values, comparison?.values, comparison?.percents])).toEqual([
      [{ sales: 0 }, { sales: 1_100 }, { sales: -100 }],
      [{ sales: 0 }, { sales: 550 }, { sales: -100 }],
    ]);
    expect(totals[0]?.comparison?.values).toEqual({ sales: 2_200 });
  });

  it("compares days, weeks and months by their position, and weekdays by their value", async () => {
    const days = await query({
      dimensions: "day,weekday",
      since: "2026-05-29",
      until: "2026-05-30",
      compare: "previous_period",
    });
    expect(
      days.data.map(({ dimensions, comparison }) => [dimensions, comparison?.dimensions, comparison?.values]),
    ).toEqual([
      [{ day: "2026-05-29", weekday: "friday" }, { day: "2026-05-27", weekday: "wednesday" }, { sales: 0 }],
      [{ day: "2026-05-30", weekday: "saturday" }, { day: "2026-05-28", weekday: "thursday" }, { sales: 2_200 }],
    ]);
    const weeks = await query({
      dimensions: "week",
      since: "2026-06-01",
      until: "2026-06-07",
      compare: "previous_period",
    });
    expect(getOnlyRow(weeks)).toMatchObject({
      dimensions: { week: "2026-W23" },
      comparison: { dimensions: { week: "2026-W22" }, values: { sales: 3_850 } },
    });
    const months = await query({
      dimensions: "month",
      since: "2026-06-01",
      until: "2026-06-30",
      compare: "previous_period",
    });
    expect(getOnlyRow(months)).toMatchObject({
      dimensions: { month: "2026-06" },
      comparison: { dimensions: { month: "2026-05" }, values: { sales: 3_850 } },
    });
    const range = { since: "2026-05-25", until: "2026-05-31", compare: "previous_period" };
    const weekdays = await query({ dimensions: "weekday", ...range });
    expect(listRows(weekdays)).toEqual([
      [{ weekday: "thursday" }, { sales: 2_200 }],
      [{ weekday: "friday" }, { sales: 1_650 }],
    ]);
  });

  it("has rows without a day where one of the periods is shorter", async () => {
    const range = { since: "2026-06-01", until: "2026-06-30", compare: "previous_period" };
    await service.pushTills([buildSaleTill({ day: "2026-05-31", amount: 700 })], swissLocationId);
    const { data } = await query({ ...range, dimensions: "day" }, swissPrincipal);
    expect(data.map(({ dimensions, comparison }) => [dimensions, comparison?.dimensions])).toEqual([
      [{ day: "2026-06-29" }, { day: "2026-05-29" }],
      [{ day: null }, { day: "2026-05-31" }],
    ]);
    const later = await query(
      { dimensions: "day", since: "2026-05-01", until: "2026-05-31", compare: "previous_period" },
      swissPrincipal,
    );
    expect(later.data.at(-1)).toMatchObject({
      dimensions: { day: "2026-05-31" },
      comparison: { dimensions: { day: null } },
    });
  });
});

describe("the sequence of rows", () => {
  const range = { measures: "sales,orders", since: "2026-05-28", until: "2026-05-29" };

  it.each([
    ["", ["2026-05-28 Salle", "2026-05-29 Salle", "2026-05-29 Bar"]],
    ["-day,room", ["2026-05-29 Bar", "2026-05-29 Salle", "2026-05-28 Salle"]],
    ["sales", ["2026-05-29 Bar", "2026-05-29 Salle", "2026-05-28 Salle"]],
    ["orders,-sales", ["2026-05-28 Salle", "2026-05-29 Salle", "2026-05-29 Bar"]],
  ])("with the sort %j", async (sort, rows) => {
    const { data } = await query({ ...range, dimensions: "day,room", sort });
    expect(data.map(({ dimensions }) => `${dimensions.day} ${dimensions.room?.name}`)).toEqual(rows);
  });

  it("is cut off after the limit, and the totals contain all rows", async () => {
    const metrics = await query({ ...range, dimensions: "day,room", limit: "1" });
    expect(metrics).toMatchObject({
      rowCount: 1,
      omittedRowCount: 2,
      totals: [{ values: { sales: 3_850, orders: 3 } }],
    });
  });
});

describe("several locations", () => {
  const locationIds = [locationId, otherLocationId, swissLocationId].join();

  it("have rows and totals for each currency", async () => {
    const metrics = await query({ locationIds }, operator);
    expect(metrics.data.map(({ currency, values }) => [currency, values.sales])).toEqual([
      ["CHF", 3_300],
      ["EUR", 11_550],
    ]);
    expect(metrics.totals.map(({ currency, values }) => [currency, values.sales])).toEqual([
      ["CHF", 3_300],
      ["EUR", 11_550],
    ]);
    const byLocation = await query({ locationIds, dimensions: "location" }, operator);
    expect(byLocation.data.map(({ dimensions, values }) => [dimensions.location?.id, values.sales])).toEqual([
      [swissLocationId, 3_300],
      [otherLocationId, 9_900],
      [locationId, 1_650],
    ]);
    const filtered = await query({ locationIds, filters: JSON.stringify({ location: [otherLocationId] }) }, operator);
    expect(filtered.totals.map(({ values }) => values.sales)).toEqual([0, 9_900]);
  });

  it("have null as the currency if it is unknown", async () => {
    const { id } = service.accounts.addLocation({ currencyCode: null });
    const { totals } = await query({ locationIds: `${id},${locationId}` }, operator);
    expect(totals.map(({ currency, values }) => [currency, values.sales])).toEqual([
      ["EUR", 1_650],
      [null, 0],
    ]);
  });

  it("can only be read with the scope locations:any", async () => {
    const forbidden: Query[] = [{ locationIds }, { locationIds: otherLocationId }, { locationId: otherLocationId }];
    for (const fields of forbidden) expect((await requestProblem(fields)).code).toBe("location_forbidden");
    expect((await query({ locationIds: locationId.toUpperCase() })).totals[0]?.values.sales).toBe(1_650);
    expect((await requestProblem({}, operator)).errors).toMatchObject([{ path: "locationId", code: "required" }]);
    expect((await requestProblem({ locationId: "00000000-0000-4000-8000-000000000000" }, operator)).code).toBe(
      "location_not_found",
    );
  });

  it("need the scope reports:read", async () => {
    const { code } = await requestProblem({}, { ...principal, scopes: ["orders:read"] });
    expect(code).toBe("scope_missing");
  });
});

describe("a response", () => {
  const fields = { measures: "sales,averageOrder", dimensions: "day,product" };

  it("is CSV if the client accepts it", async () => {
    const path = toPath({
      ...day,
      measures: "sales,quantity",
      dimensions: "product,category",
      compare: "previous_period",
    });
    const response = await service.request("GET", path, { principal, headers: { accept: "text/csv" } });
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(response.headers.get("vary")).toBe("origin, accept");
    expect(await response.text()).toBe(
      [
        "currency,productId,productName,category,sales,quantity,comparedProductId,comparedProductName,comparedCategory,comparedSales,salesDifference,salesPercent,comparedQuantity,quantityDifference,quantityPercent",
        "EUR,pizza,Pizza,Cuisine,1100,1,pizza,Pizza,Cuisine,2200,-1100,-50,1,0,0",
        "EUR,beer,'=Bière,Bar,550,1,beer,'=Bière,Bar,0,550,,0,1,",
        "",
      ].join("\r\n"),
    );
    const headers = { accept: "text/csv", "if-none-match": response.headers.get("etag") ?? "" };
    const unchanged = await service.request("GET", path, { principal, headers });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get("vary")).toBe("origin, accept");
  });

  it("has an entity tag that changes with its content", async () => {
    const path = toPath({ measures: "sales", since: "2026-02-01", until: "2026-02-28" });
    const read = async (ifNoneMatch?: string) =>
      service.request("GET", path, { principal, headers: ifNoneMatch ? { "if-none-match": ifNoneMatch } : {} });
    const etag = (await read()).headers.get("etag") ?? "";
    expect((await read(etag)).status).toBe(304);
    await service.pushTills([buildSaleTill({ day: "2026-02-14" })], locationId);
    expect((await read(etag)).status).toBe(200);
  });

  it("names what cannot be combined", async () => {
    const { code, errors } = await requestProblem(fields);
    expect(code).toBe("invalid_request");
    expect(errors?.[0]).toMatchObject({ in: "query", path: "dimensions", code: "conflict" });
    expect(errors?.[0]?.message).toContain("averageOrder cannot be combined with product");
  });

  it("states how many reports are not part of it", async () => {
    await service.pushTills([buildSaleTill({ day: "2026-01-10" })], otherLocationId);
    const range = { since: "2026-01-01", until: "2026-01-31" };
    expect(await query(range, otherPrincipal)).toMatchObject({ missingReportCount: 0 });
    await service.db.sql`
      update reports set has_metrics = false where location_id = ${otherLocationId} and day = '2026-01-10'`;
    expect(await query(range, otherPrincipal)).toMatchObject({ missingReportCount: 1 });
    expect(await query({ ...range, until: "2026-01-09" }, otherPrincipal)).toMatchObject({ missingReportCount: 0 });
    const next = { since: "2026-02-01", until: "2026-02-28", compare: "previous_period" };
    expect(await query(next, otherPrincipal)).toMatchObject({ missingReportCount: 1 });
  });
});

describe("a query that is too expensive", () => {
  /** Inserts a copy of the figures of a till with other cells. */
  const insertCells = (insertedDay: string, cells: string) =>
    service.db.sql.unsafe(`
    insert into metric_cells select inserted.*
    from metric_cells cells, jsonb_populate_record(cells, ${cells} || jsonb_build_object(
      'day', '${insertedDay}', 'till_id', gen_random_uuid())) inserted
    where cells.location_id = '${otherLocationId}' and cells.day = '2026-05-29'`);

  it("returns amounts_too_large", async () => {
    await insertCells("2020-01-01", `'{"order_sales": [9007199254740991]}'::jsonb`);
    const of = { dimensions: "room", since: "2020-01-01", until: "2020-01-31" };
    expect((await query(of, otherPrincipal)).totals[0]?.values.sales).toBe(Number.MAX_SAFE_INTEGER);
    await insertCells("2020-01-02", `'{"order_sales": [1]}'::jsonb`);
    expect(await requestProblem(of, otherPrincipal)).toMatchObject({ status: 422, code: "amounts_too_large" });
    // The groups are exact, but not their total.
    expect((await requestProblem({ ...of, dimensions: "day,room" }, otherPrincipal)).code).toBe("amounts_too_large");
    // Nor is a difference.
    await insertCells("2020-02-01", `'{"order_sales": [-1]}'::jsonb`);
    const compared = { since: "2020-02-01", until: "2020-02-01", compare: "previous_period", dimensions: "room" };
    await insertCells("2020-01-31", `'{"order_sales": [9007199254740991]}'::jsonb`);
    expect((await requestProblem(compared, otherPrincipal)).code).toBe("amounts_too_large");
  });

  it("returns too_many_rows", async () => {
    const products = (count: number) => `(select jsonb_object_agg(name, cells) from (
      select name, jsonb_agg(case when name = 'product_sales' then '1' when name like '%id' or name like '%name' then to_jsonb(n::text) else 'null' end) as cells
      from generate_series(1, ${count}) n, unnest(array['product_id', 'product_name', 'product_category', 'product_subcategory', 'product_tax_rate', 'product_sales', 'product_sales_without_tax']) name group by name) t)`;
    await insertCells("2019-01-01", products(10_000));
    const of = { dimensions: "product", since: "2019-01-01", until: "2019-01-31", limit: "1" };
    expect(await query(of, otherPrincipal)).toMatchObject({ rowCount: 1, omittedRowCount: 9_999 });
    await insertCells("2019-01-02", products(10_001));
    expect(await requestProblem(of, otherPrincipal)).toMatchObject({
      ...{ status: 422, code: "too_many_rows", limit: { name: "metric_rows", maximum: 10_000 } },
    });
    expect((await query({ ...of, dimensions: "day" }, otherPrincipal)).data).toEqual([]);
  });

  it("returns query_too_slow", async () => {
    await service.db.sql.begin(async (tx) => {
      await tx`lock table metric_totals in access exclusive mode`;
      const started = performance.now();
      expect(await requestProblem({})).toMatchObject({ status: 422, code: "query_too_slow" });
      expect(performance.now() - started).toBeLessThan(4_000);
    });
    expect((await query({})).totals[0]?.values.sales).toBe(1_650);
  });
});

describe("concurrent queries", () => {
  it("run in turns of locations, and a location cannot delay another", async () => {
    await service.db.sql.begin(async (tx) => {
      await tx`lock table metric_cells in access exclusive mode`;
      const slow = Array.from({ length: 20 }, () =>
        service.request("GET", toPath({ ...day, measures: "sales", dimensions: "room" }), { principal }),
      );
      const started = performance.now();
      expect((await query({}, otherPrincipal)).totals[0]?.values.sales).toBe(9_900);
      expect(performance.now() - started).toBeLessThan(1_000);
      const problems = await Promise.all(slow.map(async (response) => (await response).json() as Promise<Problem>));
      const codes = problems.map(({ code }) => code);
      // Two run until their timeout; of the others, two are rejected at once, and 16 after two seconds.
      expect(codes.filter((code) => code === "query_too_slow")).toHaveLength(2);
      expect(codes.filter((code) => code === "rate_limited")).toHaveLength(18);
    });
  }, 20_000);
});

it("reads one partition of each table for one location", async () => {
  await query({ dimensions: "room,paymentMethod", measures: "payments", since: "2026-01-01", until: "2026-05-31" });
  await query({ dimensions: "month,product", since: "2026-01-01", until: "2026-05-31", compare: "previous_year" });
  await assertStatementsUseOnePartition(service.db, service.statements);
  const plans = await service.statements.explainStatements(service.db);
  const ofMonths = plans.filter(
    ({ text, partitions }) => text.includes("location_id = $") && partitions.has("metric_months"),
  );
  expect(ofMonths.length).toBeGreaterThanOrEqual(2);
  for (const { partitions } of ofMonths) expect(partitions.get("metric_months")?.size).toBe(1);
});
