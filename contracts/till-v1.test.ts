import { describe, expect, test } from "vitest";
import { TillV1 } from "./till-v1.ts";

const item = {
  client_id: "row",
  quantity: 1,
  cancelled: false,
  transferred: false,
  price: { tax: 10, amount: 1100 },
  options: [],
  discounts: [],
};
const payment = {
  client_id: "p",
  cancelled: false,
  amount: 1100,
  mode: 1,
  type: 0,
  creation_date: "2026-05-29T13:00:00",
};
const ticket = {
  order_id: "5529b583-5d06-4005-ab83-6b2fe7f1ace0",
  items: [item],
  payments: [payment],
  menus: [],
  number_guests: 0,
  transferred: false,
  cancelled: false,
  price: 1100,
  date_begin: "2026-05-29T12:00:00",
};
const tillJson = {
  client_id: "s5F67B799-163E-4208-82C1-BE6C4C4006C3",
  date_begin: "2026-05-29T08:00:00",
  date_end: "2026-05-30T00:00:00+02:00",
  fiscal: 1,
  tickets: [ticket],
  cash_movements: [],
  total_payments: [],
  team: [],
};

function parseTillV1(json: object = {}, body: object = {}) {
  return TillV1.safeParse({ application: "popina", legacyId: 14, tillJson: { ...tillJson, ...json }, ...body });
}

function issuesOf(json?: object, body?: object): string[] {
  return (parseTillV1(json, body).error?.issues ?? []).map((issue) => `${issue.path.join(".")}: ${issue.message}`);
}

test("accepts a till with only the required fields, with the application in either case", () => {
  const { data } = parseTillV1();
  expect(data).toMatchObject({
    application: "POPINA",
    tillJson: {
      client_id: "5f67b799-163e-4208-82c1-be6c4c4006c3",
      locale: "fr_FR",
      ticket_country: "France",
      date_begin: "2026-05-29T08:00:00",
      date_end: "2026-05-29T22:00:00.000Z",
      tickets: [{ waiter_id: null, items: [{ weight: null, is_loss: false }] }],
    },
  });
  expect(issuesOf({}, { application: "JALIA" })).toEqual([]);
});

describe("rejects", () => {
  test.each([
    ["an unknown application", {}, { application: "pos" }, "application: "],
    ["legacy id 0", {}, { legacyId: 0 }, "legacyId: Too small"],
    ["server id 0", { server_id: 0 }, {}, "tillJson.server_id: Too small"],
    ["a client id that is not a UUID", { client_id: "14" }, {}, "tillJson.client_id: Must be a UUID"],
    ["report number 0", { fiscal: 0 }, {}, "tillJson.fiscal: Too small"],
    ["a negative number of guests", { number_guests: -1 }, {}, "tillJson.number_guests: Too small"],
    ["a negative cash float", { cash_float_initial: -1 }, {}, "tillJson.cash_float_initial: Too small"],
    [
      "a date that does not exist",
      { date_end: "2026-02-30T00:00:00" },
      {},
      "tillJson.date_end: Must be a valid date-time",
    ],
    [
      "a movement in mode -2",
      { cash_movements: [{ amount: 1, payment_mode: -2 }] },
      {},
      "tillJson.cash_movements.0.payment_mode: Too small",
    ],
    [
      "a total in mode -1",
      { total_payments: [{ amount: 1, mode: -1 }] },
      {},
      "tillJson.total_payments.0.mode: Too small",
    ],
    [
      "a negative number of guests of a ticket",
      { tickets: [{ ...ticket, number_guests: -1 }] },
      {},
      "tillJson.tickets.0.number_guests: Too small",
    ],
    [
      "a negative number of prints",
      { tickets: [{ ...ticket, prints_count: -1 }] },
      {},
      "tillJson.tickets.0.prints_count: Too small",
    ],
    [
      "an item's quantity below 1",
      { tickets: [{ ...ticket, items: [{ ...item, quantity: 0 }] }] },
      {},
      "tillJson.tickets.0.items.0.quantity: Too small",
    ],
    [
      "a quantity whose price exceeds the maximum amount",
      { tickets: [{ ...ticket, items: [{ ...item, quantity: 1_000_000, price: { tax: 10, amount: 1_000_000 } }] }] },
      {},
      "tillJson.tickets.0.items.0.quantity: Must not exceed 100,000,000,000 when multiplied",
    ],
    [
      "discounts that exceed the maximum amount",
      { tickets: [{ ...ticket, items: [{ ...item, discounts: [{ amount: 6e10 }, { amount: 6e10 }] }] }] },
      {},
      "tillJson.tickets.0.items.0.discounts: Must add up to at most",
    ],
    [
      "a negative weight",
      { tickets: [{ ...ticket, items: [{ ...item, weight: -0.1 }] }] },
      {},
      "tillJson.tickets.0.items.0.weight: Too small",
    ],
    [
      "a negative payment mode",
      { tickets: [{ ...ticket, payments: [{ ...payment, mode: -1 }] }] },
      {},
      "tillJson.tickets.0.payments.0.mode: Too small",
    ],
    [
      "a negative payment type",
      { tickets: [{ ...ticket, payments: [{ ...payment, type: -1 }] }] },
      {},
      "tillJson.tickets.0.payments.0.type: Too small",
    ],
    [
      "a duplicate order",
      { tickets: [ticket, ticket] },
      {},
      "tillJson.tickets.1.order_id: Duplicates the order at index 0",
    ],
  ])("%s", (_, json, body, message) => {
    expect(issuesOf(json, body)).toEqual([expect.stringContaining(message)]);
  });
});
