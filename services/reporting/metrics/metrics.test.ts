import {
  canCombineMetricDimensions,
  canMeasureByDimension,
  metricDimensionNames,
  metricMeasureNames,
} from "@pragma/contracts/metric-definitions";
import { type MetricRow, Metrics, MetricsMeta } from "@pragma/contracts/metrics";
import type { Principal } from "@pragma/contracts/principal";
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
  service = await startTestReportingService();
  service.accounts.addLocation({ id: locationId });
  service.accounts.addLocation({ id: otherLocationId });
  service.accounts.addLocation({ id: swissLocationId, currencyCode: "CHF" });
  for (const [location, tills] of tillsByLocation) await service.pushTills(tills, location);
}, 60_000);
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
