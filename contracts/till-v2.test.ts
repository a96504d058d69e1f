import { describe, expect, test } from "vitest";
import { modifierRowExample, productRowExample } from "./examples/till-v2.ts";
import { minimalTestOrder as order, minimalTestTill as till } from "./testing/minimal-till-v2.ts";
import { TillV2 } from "./till-v2.ts";

/** Returns the path and the message of each issue of a till. */
function issuesOf(body: unknown): string[] {
  const { error } = TillV2.safeParse(body);
  return (error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`);
}

function omitField(field: string, from: object = till): object {
  return Object.fromEntries(Object.entries(from).filter(([name]) => name !== field));
}

describe("a field that older clients omit", () => {
  test("is null or has its default", () => {
    expect(TillV2.parse(till)).toMatchObject({
      note: null,
      address1: null,
      country: "France",
      locale: "fr_FR",
      isTraining: false,
      initialCashBalance: null,
      orderList: [
        {
          closedAt: null,
          tableName: null,
          roomType: null,
          channel: "unknown",
          serviceType: "unknown",
          source: "unknown",
          isTraining: false,
          groupedTableInfo: [],
          customerInfo: null,
        },
      ],
    });
  });

  test.each([
    "id",
    "startedAt",
    "finalizedAt",
    "reportNumber",
    "financialMovementList",
    "declaredPaymentList",
    "clerkShiftList",
    "orderList",
  ])("must not be %s", (field) => {
    expect(issuesOf(omitField(field))).toEqual([expect.stringMatching(`^${field}: `)]);
  });

  test.each([
    "id",
    "openedAt",
    "total",
    "totalTax",
    "totalWithoutTax",
    "guestsCount",
    "isCanceled",
    "isTransferred",
    "paymentRowList",
    "productRowList",
    "menuRowList",
  ])("must not be %s of an order", (field) => {
    const body = { ...till, orderList: [omitField(field, order)] };
    expect(issuesOf(body)).toEqual([expect.stringMatching(`^orderList.0.${field}: `)]);
  });
});

test("ignores unknown fields", () => {
  expect(TillV2.parse({ ...till, hello: 1, orderList: [{ ...order, hello: 1 }] })).toEqual(TillV2.parse(till));
});

test.each([
  ["an id that is not a UUID", { id: "24" }, "id: Must be a UUID, optionally prefixed with s"],
  ["an id with two s", { id: "ss1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9" }, "id: Must be a UUID"],
  ["a date that does not exist", { startedAt: "2026-02-30T08:00:00Z" }, "startedAt: Must be a valid date-time"],
  ["a date without an offset", { finalizedAt: "2026-05-30T00:05:00" }, "finalizedAt: Must be a valid date-time"],
  ["report number 0", { reportNumber: 0 }, "reportNumber: Too small"],
  ["an unknown locale", { locale: "fr" }, "locale: Must be a locale such as fr_FR or en_GB"],
  ["a negative cash float", { finalCashBalance: -1 }, "finalCashBalance: Too small"],
  ["an amount that is not an integer", { initialCashBalance: 1.5 }, "initialCashBalance: Invalid input: expected int"],
  ["a number as text", { reportNumber: "24" }, "reportNumber: Invalid input: expected number, received string"],
  ["null in place of a list", { orderList: null }, "orderList: Invalid input: expected array, received null"],
  ["a text that is too long", { deviceName: "x".repeat(1_025) }, "deviceName: Too big"],
  ["a negative guest count", { orderList: [{ ...order, guestsCount: -1 }] }, "orderList.0.guestsCount: Too small"],
  [
    "an unknown enumeration value",
    { orderList: [{ ...order, serviceType: "x" }] },
    'orderList.0.serviceType: Invalid option: expected one of "takeout"|"eatin"|"delivery"|"unknown"',
  ],
  ["an amount above the maximum", { orderList: [{ ...order, total: 100_000_000_001 }] }, "orderList.0.total: Too big"],
  [
    "a quantity above the maximum",
    { orderList: [{ ...order, productRowList: [{ ...productRowExample, quantity: 1_000_001 }] }] },
    "orderList.0.productRowList.0.quantity: Too big",
  ],
  [
    "a quantity whose modifier total exceeds the maximum amount",
    {
      orderList: [
        {
          ...order,
          productRowList: [
            {
              ...productRowExample,
              quantity: -1_000_000,
              modifierRowList: [{ ...modifierRowExample, amount: 1_000_000 }],
            },
          ],
        },
      ],
    },
    "orderList.0.productRowList.0.quantity: Must not exceed 100,000,000,000 when multiplied",
  ],
])("rejects %s", (_, fields, message) => {
  expect(issuesOf({ ...till, ...fields })).toEqual([expect.stringContaining(message)]);
});

test("reports all issues at once", () => {
  const orderList = Array.from({ length: 20 }, (_, index) => ({
    ...order,
    id: `5529b583-5d06-4005-ab83-${String(index).padStart(12, "0")}`,
    total: null,
    openedAt: "yesterday",
  }));
  expect(issuesOf({ ...till, orderList })).toHaveLength(40);
});

test("rejects a duplicate order in any notation of its id, and reports other issues too", () => {
  const duplicate = { ...order, id: `s${order.id.toUpperCase()}`, guestsCount: -1 };
  expect(issuesOf({ ...till, orderList: [order, duplicate, order] })).toEqual([
    "orderList.1.guestsCount: Too small: expected number to be >=0",
    "orderList.1.id: Duplicates the order at index 0",
    "orderList.2.id: Duplicates the order at index 0",
  ]);
});

test("converts ids to lower case without the prefix s", () => {
  expect(TillV2.parse({ ...till, id: "s5F67B799-163E-4208-82C1-BE6C4C4006C3" }).id).toBe(
    "5f67b799-163e-4208-82c1-be6c4c4006c3",
  );
});

test("accepts customer data from ordering platforms as a text or an object", () => {
  const fields = {
    customerInfo: { name: "Ana", tags: [1, { a: null }] },
    deliveryAddress: "3 rue",
    deliveryCustomerInfo: null,
  };
  expect(TillV2.parse({ ...till, orderList: [{ ...order, ...fields }] }).orderList[0]).toMatchObject(fields);
  expect(issuesOf({ ...till, orderList: [{ ...order, customerInfo: 7 }] })).toHaveLength(1);
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
  expect(issuesOf({ ...till, orderList: [{ ...order, customerInfo: deep }] })).toEqual([
    "orderList.0.customerInfo: Must have at most 16 levels of nesting",
  ]);
});
