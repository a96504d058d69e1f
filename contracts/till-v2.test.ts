import { describe, expect, test } from "vitest";
import { modifierRowExample, productRowExample } from "./examples/till-v2.ts";
import { TillV2 } from "./till-v2.ts";

const order = {
  id: "5529b583-5d06-4005-ab83-6b2fe7f1ace0",
  openedAt: "2026-05-29T10:17:19.000Z",
  total: 1100,
  totalTax: 100,
  totalDiscount: 0,
  totalWithoutTax: 1000,
  leftToPay: 0,
  guestsCount: 2,
  preparationActivated: true,
  isMerged: false,
  manuallyClosed: false,
  isPaid: true,
  isCanceled: false,
  isPrepaid: false,
  isTransferred: false,
  paymentRowList: [],
  productRowList: [],
  menuRowList: [],
};

const till = {
  id: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9",
  startedAt: "2026-05-29T08:00:00.000Z",
  finalizedAt: "2026-05-30T00:05:00.000Z",
  reportNumber: 24,
  financialMovementList: [],
  declaredPaymentList: [],
  clerkShiftList: [],
  orderList: [order],
};

/** Where and why a till is refused, one line for each fault. */
function issuesOf(body: unknown): string[] {
  const { error } = TillV2.safeParse(body);
  return (error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`);
}

function omitField(field: string, from: object = till): object {
  return Object.fromEntries(Object.entries(from).filter(([name]) => name !== field));
}

describe("what older clients leave out", () => {
  test("is null, or the default", () => {
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
  ])("may not be %s", (field) => {
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
  ])("may not be an order's %s", (field) => {
    const body = { ...till, orderList: [omitField(field, order)] };
    expect(issuesOf(body)).toEqual([expect.stringMatching(`^orderList.0.${field}: `)]);
  });
});

test("fields that it does not know are ignored", () => {
  expect(TillV2.parse({ ...till, hello: 1, orderList: [{ ...order, hello: 1 }] })).toEqual(TillV2.parse(till));
});

test.each([
  ["an id that is no uuid", { id: "24" }, "id: Must be a uuid, or an s followed by a uuid"],
  ["an id with two s", { id: "ss1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9" }, "id: Must be a uuid"],
  ["a date that does not exist", { startedAt: "2026-02-30T08:00:00Z" }, "startedAt: Must be a date-time that exists"],
  ["a date without an offset", { finalizedAt: "2026-05-30T00:05:00" }, "finalizedAt: Must be a date-time that exists"],
  ["report number 0", { reportNumber: 0 }, "reportNumber: Too small"],
  ["an unknown locale", { locale: "fr" }, "locale: Must be a language and a region, such as fr_FR or en_GB"],
  ["a float below 0", { finalCashBalance: -1 }, "finalCashBalance: Too small"],
  ["an amount that is not whole", { initialCashBalance: 1.5 }, "initialCashBalance: Invalid input: expected int"],
  ["a number as text", { reportNumber: "24" }, "reportNumber: Invalid input: expected number, received string"],
  ["a list that is none", { orderList: null }, "orderList: Invalid input: expected array, received null"],
  ["a text beyond its limit", { deviceName: "x".repeat(1_025) }, "deviceName: Too big"],
  ["a negative guest count", { orderList: [{ ...order, guestsCount: -1 }] }, "orderList.0.guestsCount: Too small"],
  [
    "a wrong enumeration",
    { orderList: [{ ...order, serviceType: "x" }] },
    'orderList.0.serviceType: Invalid option: expected one of "takeout"|"eatin"|"delivery"|"unknown"',
  ],
  [
    "an amount that is beyond any till",
    { orderList: [{ ...order, total: 100_000_000_001 }] },
    "orderList.0.total: Too big",
  ],
  [
    "more units than any order has",
    { orderList: [{ ...order, productRowList: [{ ...productRowExample, quantity: 1_000_001 }] }] },
    "orderList.0.productRowList.0.quantity: Too big",
  ],
  [
    "more units than a modifier can be multiplied with",
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
    "orderList.0.productRowList.0.quantity: Must be so that the amount of a modifier times",
  ],
])("refuses %s", (_, fields, fault) => {
  expect(issuesOf({ ...till, ...fields })).toEqual([expect.stringContaining(fault)]);
});

test("tells every fault at once", () => {
  const orderList = Array.from({ length: 20 }, (_, index) => ({
    ...order,
    id: `5529b583-5d06-4005-ab83-${String(index).padStart(12, "0")}`,
    total: null,
    openedAt: "yesterday",
  }));
  expect(issuesOf({ ...till, orderList })).toHaveLength(40);
});

test("refuses an order that is there twice, however its id is written, and says so beside other faults", () => {
  const again = { ...order, id: `s${order.id.toUpperCase()}`, guestsCount: -1 };
  expect(issuesOf({ ...till, orderList: [order, again, order] })).toEqual([
    "orderList.1.guestsCount: Too small: expected number to be >=0",
    "orderList.1.id: The same order is already at index 0",
    "orderList.2.id: The same order is already at index 0",
  ]);
});

test("ids lose their s and are lower case", () => {
  expect(TillV2.parse({ ...till, id: "s5F67B799-163E-4208-82C1-BE6C4C4006C3" }).id).toBe(
    "5f67b799-163e-4208-82c1-be6c4c4006c3",
  );
});

test("what an ordering platform sends of a customer may be a text or an object of any fields", () => {
  const fields = {
    customerInfo: { name: "Ana", tags: [1, { a: null }] },
    deliveryAddress: "3 rue",
    deliveryCustomerInfo: null,
  };
  expect(TillV2.parse({ ...till, orderList: [{ ...order, ...fields }] }).orderList[0]).toMatchObject(fields);
  expect(issuesOf({ ...till, orderList: [{ ...order, customerInfo: 7 }] })).toHaveLength(1);
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
  expect(issuesOf({ ...till, orderList: [{ ...order, customerInfo: deep }] })).toEqual([
    "orderList.0.customerInfo: Must nest at most 16 levels deep",
  ]);
});
