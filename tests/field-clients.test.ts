import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { buildRestaurantCatalog } from "@pragma/simulator/restaurant-catalog";
import { beforeAll, describe, expect, it } from "vitest";
import { fetchReportTotalsAsOlderClient } from "./field-clients/accounting-client.ts";
import type { OlderTestClientSettings } from "./field-clients/field-client-api.ts";
import { fetchOrdersAsOlderClient, fetchReportAsOlderClient } from "./field-clients/order-client.ts";
import { fetchSalesAsOlderClient } from "./field-clients/stock-client.ts";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/*
 * These tests check that clients for older versions of the API still compute correct results. The restaurant in the
 * tests has two pages of reports, with two busy days, and three pages of orders.
 */

const seed = "field";
const catalog = buildRestaurantCatalog(generateRestaurant(seed));
const tills = Array.from({ length: 106 }, (_, index) => {
  const day = new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10);
  return generateTill({ seed, day, orders: index % 53 === 50 ? 60 : 1 });
});

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;
let api: OlderTestClientSettings;

beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  const scopes = ["reports:read", "orders:read", "catalog:read", "catalog:write", "tills:write"] as const;
  testLocation = await createTestLocation(product, { scopes: [...scopes] });
  const { locationId, key } = testLocation;
  // The results contain all days although the period is one day, because the API has always ignored `from` and `to`.
  api = { url: product.url, apiKey: key, locationId, from: "2026-01-05", to: "2026-01-05" };
  expect((await testLocation.request("PUT", "/v1/catalog/", { body: catalog })).status).toBe(200);
  for (const till of tills) expect((await testLocation.pushTillWithRetries(till)).status).toBe(201);
  await testLocation.waitForReports(tills.length);
}, 300_000);

/** Returns the expected reports of the tills, in the V0 format that older clients read. */
function expectedReports() {
  return tills.flatMap((till) => computeDocuments(till, { locationId: testLocation.locationId })?.reportV0 ?? []);
}

const sumAmounts = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);

describe("a client that books takings", () => {
  it("finds all reports on two pages, and each payment method in the catalog", async () => {
    const { reportIds, sales, takings } = await fetchReportTotalsAsOlderClient(api);
    const expected = expectedReports();
    expect(reportIds.length).toBeGreaterThan(100);
    expect(reportIds.toSorted()).toEqual(expected.map(({ id }) => id).sort());
    expect(sales).toBe(sumAmounts(expected.map(({ totalSales }) => totalSales)));

    const declared = tills.flatMap(({ declaredPaymentList }) => declaredPaymentList);
    const expectedTakings = catalog.payments.flatMap(({ id, name }) => {
      const amounts = declared.filter(({ paymentId }) => paymentId === id).map(({ paymentAmount }) => paymentAmount);
      return amounts.length > 0 ? [[name, sumAmounts(amounts)] as const] : [];
    });
    expect(takings).toEqual(Object.fromEntries(expectedTakings));
  });
});

describe("a client that keeps stock", () => {
  it("finds every sold product in the array of the catalog", async () => {
    const { sold, unknown, archived } = await fetchSalesAsOlderClient(api);
    expect(unknown).toEqual([]);
    const products = expectedReports().flatMap(({ reportProducts }) => reportProducts);
    const quantityOf = (id: string) =>
      sumAmounts(
        products
          .filter(({ productCatalogId }) => productCatalogId === id)
          .map(({ productQuantity }) => productQuantity),
      );
    const stocked = catalog.products.flatMap(({ id, sku }) => (sku === null ? [] : [[sku, quantityOf(id)] as const]));
    expect(sold).toEqual(Object.fromEntries(stocked));
    expect(Object.values(sold).filter((quantity) => quantity > 0).length).toBeGreaterThan(5);
    expect(archived).toHaveLength(2);
  });
});

describe("a client that copies orders", () => {
  it("gets all orders of the reports, twenty at a time, with totals equal to the sales", async () => {
    const copied = await fetchReportAsOlderClient(api);
    const expected = expectedReports();
    expect(copied.map(({ id }) => id)).toEqual(
      expected.toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1)).flatMap(({ orders }) => orders),
    );
    const countedOrders = copied.filter(({ isCanceled, isTransferred }) => !isCanceled && !isTransferred);
    expect(sumAmounts(countedOrders.map(({ total }) => total))).toBe(
      sumAmounts(expected.map(({ totalSales }) => totalSales)),
    );
  });

  it("finds the same orders on the three pages of the list", async () => {
    const listed = await fetchOrdersAsOlderClient(api);
    expect(listed.length).toBeGreaterThan(200);
    expect(listed.map(({ id }) => id).sort()).toEqual(
      expectedReports()
        .flatMap(({ orders }) => orders)
        .sort(),
    );
  });
});
