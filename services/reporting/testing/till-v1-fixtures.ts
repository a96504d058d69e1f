import type { TicketItemV1, TicketPaymentV1, TicketV1 } from "@pragma/contracts/ticket-v1";
import { TillV1, type TillV1Input } from "@pragma/contracts/till-v1";
import type { z } from "zod";

/** Fixtures for small V1 tills. Each function takes the fields that matter to a test, and adds defaults. */

let lastId = 0;

function newId(): string {
  lastId += 1;
  return `00000000-0000-4000-8000-${String(lastId).padStart(12, "0")}`;
}

export function buildTestTillV1(
  tickets: TillV1Input["tillJson"]["tickets"],
  fields: Partial<TillV1Input["tillJson"]> = {},
): TillV1 {
  return TillV1.parse({
    application: "POPINA",
    legacyId: 14,
    tillJson: {
      client_id: newId(),
      date_begin: "2026-05-29T08:00:00.000Z",
      date_end: "2026-05-30T00:00:00.000Z",
      fiscal: 1,
      tickets,
      cash_movements: [],
      total_payments: [],
      team: [],
      ...fields,
    },
  });
}

export function buildTestTicketV1(fields: Partial<z.input<typeof TicketV1>> = {}): z.input<typeof TicketV1> {
  return {
    order_id: newId(),
    items: [],
    payments: [],
    menus: [],
    number_guests: 0,
    transferred: false,
    cancelled: false,
    price: 0,
    date_begin: "2026-05-29T12:00:00.000Z",
    ...fields,
  };
}

/** Returns an item of 11.00 including 10% VAT. */
export function buildTestTicketItemV1(
  fields: Partial<z.input<typeof TicketItemV1>> = {},
): z.input<typeof TicketItemV1> {
  return {
    client_id: newId(),
    name: "Pizza",
    quantity: 1,
    cancelled: false,
    transferred: false,
    price: { tax: 10, amount: 1100 },
    options: [],
    discounts: [],
    ...fields,
  };
}

export function buildTestPaymentV1(
  fields: Partial<z.input<typeof TicketPaymentV1>> = {},
): z.input<typeof TicketPaymentV1> {
  return {
    client_id: newId(),
    cancelled: false,
    amount: 1100,
    mode: 1,
    type: 0,
    creation_date: "2026-05-29T13:00:00.000Z",
    ...fields,
  };
}
