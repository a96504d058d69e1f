import { randomUUID } from "node:crypto";
import { brotliCompressSync } from "node:zlib";
import { Day } from "@pragma/contracts/day";
import type { BusEventData } from "@pragma/contracts/events";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { TillDryRun, type TillDryRunRequest } from "@pragma/contracts/till-dry-run";
import type { TillV2, TillV2Input } from "@pragma/contracts/till-v2";
import { DayStateEventData } from "@pragma/contracts/webhook-message";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { createLogger } from "@pragma/runtime/observability/logger";
import { PermanentEventError } from "@pragma/runtime/retries/transient-error";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packTill } from "../documents/packing/pack-till.ts";
import { tillDryRunHandler } from "../dry-run/dry-run-handler.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../testing/start-test-reporting.ts";
import {
  buildTestOrder,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
  buildTestTill,
} from "../testing/till-fixtures.ts";
import { compressDayText, decompressDayText } from "./day-texts.ts";
import { deleteEndedShifts } from "./queries/shifts.ts";

let service: TestReportingService;
beforeAll(async () => {
  service = await startTestReportingService();
});
afterAll(() => service?.remove());

const newReader = () => buildTestPrincipalWithScopes("reports:read");
type Reader = ReturnType<typeof newReader>;

const page = paginatedSchema(Day);
async function getDay(principal: Reader, day: string) {
  const response = await service.request("GET", `/v1/days/${day}`, { principal });
  return response.status === 200 ? Day.parse(await response.json()) : response.status;
}
async function readDay(principal: Reader, day: string): Promise<Day> {
  const found = await getDay(principal, day);
  if (typeof found === "number") throw new Error(`The status is ${found}.`);
  return found;
}
async function listDays(principal: Reader, query = "") {
  const response = await service.request("GET", `/v1/days/${query}`, { principal });
  expect(response.status).toBe(200);
  return page.parse(await response.json());
}
const findCheck = ({ reconciliation }: Day, code: string) =>
  reconciliation.find((check) => check.code === code) ?? expect.unreachable(code);

/** Returns a consistent till of a shift from 8:00 to 20:00 with a sale of 11.00, paid in cash. */
function buildTill(day: string, reportNumber: number, fields: Partial<TillV2Input> = {}) {
  return buildTestTill([buildSale({ openedAt: `${day}T10:00:00.000Z` })], {
    startedAt: `${day}T06:00:00.000Z`,
    finalizedAt: `${day}T18:00:00.000Z`,
    ...{ reportNumber, deviceIdentifier: "counter", deviceName: "Counter" },
    ...{ initialCashBalance: 5_000, finalCashBalance: 6_100 },
    declaredPaymentList: [{ paymentMode: "cash", paymentAmount: 1_100, paymentName: "Espèces" }],
    ...fields,
  });
}
function buildSale(fields: Parameters<typeof buildTestOrder>[0] = {}) {
  return buildTestOrder({
    ...{ total: 1_100, totalTax: 100, totalWithoutTax: 1_000, leftToPay: 0, guestsCount: 2 },
    productRowList: [buildTestOrderProductRow()],
    paymentRowList: [buildTestOrderPaymentRow({ paymentMode: "cash", name: "Espèces" })],
    ...fields,
  });
}

type ShiftChange = BusEventData<"shift.changed">;

/** Returns an event of order-live about a shift. */
const shiftOf = (principal: Reader, fields: Partial<ShiftChange> = {}): ShiftChange => ({
  ...{
    locationId: principal.location.id,
    tillId: randomUUID(),
    position: 1,
    isOpen: true,
    ordersWithoutTill: [],
    continuedOrderIds: [],
  },
  ...{ day: "2026-05-29", startedAt: "2026-05-29T08:00:00.000Z" },
  ...fields,
});
async function changeShift(shift: ShiftChange) {
  const id = randomUUID();
  await service.db.transaction((tx) =>
    writeEventToOutbox(tx, "shift.changed", { id, subject: shift.tillId, data: shift, traceparent: undefined }),
  );
  await eventually("the change to be handled", async () => {
    const [row] = await service.db.sql`select from inbox where event_id = ${id}`;
    return row !== undefined;
  });
}

describe("a business day", () => {
  it("has the tills, totals and passed checks of consistent tills, and is closed", async () => {
    const principal = newReader();
    const tills = [buildTill("2026-05-29", 1), buildTill("2026-05-29", 1, { deviceIdentifier: "bar" })];
    await service.pushTills(tills, principal.location.id);
    const day = await readDay(principal, "2026-05-29");
    expect(day).toMatchObject({ state: "closed", reasons: [], tillCount: 2, locationId: principal.location.id });
    expect(day.tills.map(({ tillId }) => tillId).sort()).toEqual(tills.map(({ id }) => id).sort());
    expect(day.totals).toEqual({
      ...{ totalSales: 2_200, orderCount: 2, guestsNumber: 4, discounts: 0 },
      taxes: [{ taxRate: 1_000, taxableAmount: 2_000, taxAmount: 200 }],
      payments: [{ paymentMode: "cash", recordedAmount: 2_200, tipsAmount: 0, changeAmount: 0, declaredAmount: 2_200 }],
    });
    expect(day.reconciliation.map(({ code, status }) => `${code} ${status}`)).toEqual([
      ...["recorded_payments passed", "sales passed", "cash passed", "movement_signs passed"],
      ...["order_totals passed", "taxes passed"],
      ...["order_taxes passed", "order_net_totals passed", "order_discounts passed"],
      ...["cancellations_after_bill passed", "refunds_without_sale passed"],
      ...["report_number_gaps passed", "report_number_repeats passed", "shift_overlaps passed"],
      "orders_without_till passed",
    ]);
  });

  it("states each difference, and corrects nothing", async () => {
    const principal = newReader();
    const till = buildTill("2026-05-29", 7, {
      finalCashBalance: 6_000,
      declaredPaymentList: [
        { paymentMode: "cash", paymentAmount: 1_000 },
        { paymentMode: "card", paymentAmount: 50 },
      ],
      orderList: [
        buildSale({ total: 1_200, totalTax: 90, totalWithoutTax: 1_110, totalDiscount: 10 }),
        buildSale({
          ...{ total: -1_100, totalTax: -100, totalWithoutTax: -1_000, paymentRowList: [] },
          productRowList: [
            buildTestOrderProductRow({
              ...{ productId: "wine", quantity: -1, totalRow: -1_100, taxAmount: -100, taxableAmount: -1_001 },
            }),
          ],
        }),
        buildSale({
          ...{ firstBillPrintDate: "2026-05-29T10:00:00.000Z", paymentRowList: [] },
          ...{ isCanceled: true, canceledAt: "2026-05-29T11:00:00.000Z" },
        }),
      ],
    });
    await service.pushTills([till], principal.location.id);
    const day = await readDay(principal, "2026-05-29");
    expect(day).toMatchObject({ state: "closed", totals: { totalSales: 100 } });
    const found = Object.fromEntries(
      day.reconciliation.map(({ code, status, difference, findings }) => [
        code,
        [status, difference, ...findings.map(({ paymentMode, taxRate }) => paymentMode ?? taxRate)],
      ]),
    );
    expect(found).toEqual({
      recorded_payments: ["failed", 50, "cash", "card"],
      sales: ["failed", 100, null],
      cash: ["failed", -100, null],
      movement_signs: ["passed", null],
      order_totals: ["failed", 100, null],
      taxes: ["failed", -1, 1_000],
      order_taxes: ["failed", -10, null],
      order_net_totals: ["failed", 111, null],
      order_discounts: ["failed", 10, null],
      cancellations_after_bill: ["failed", null, null],
      refunds_without_sale: ["failed", null, null],
      report_number_gaps: ["passed", null],
      report_number_repeats: ["passed", null],
      shift_overlaps: ["passed", null],
      orders_without_till: ["passed", null],
    });
    expect(findCheck(day, "refunds_without_sale").amounts).toEqual([{ name: "refunded", amount: -1_100 }]);
    expect(findCheck(day, "cancellations_after_bill").amounts).toEqual([{ name: "canceled", amount: 1_100 }]);
  });

  it("fails the check of movements whose sign contradicts their type, in a dry run too", async () => {
    const principal = newReader();
    const movement = (type: "cash-in" | "cash-out" | "deposit", amount: number) => ({ type, amount, name: "Motif" });
    const financialMovementList = [movement("deposit", -500), movement("cash-out", 2_000), movement("cash-in", -300)];
    const till = buildTill("2026-05-29", 1, { financialMovementList, finalCashBalance: 7_300 });
    await service.pushTills([till], principal.location.id);
    const check = findCheck(await readDay(principal, "2026-05-29"), "movement_signs");
    expect(check).toMatchObject({ status: "failed", difference: null, findingCount: 2 });
    expect(check.amounts).toEqual([
      { name: "negativeCashIn", amount: -300 },
      { name: "positiveCashOut", amount: 2_000 },
    ]);
    expect(check.findings.map(({ tillId, movementType, difference }) => [tillId, movementType, difference])).toEqual([
      [till.id, "cash-in", -300],
      [till.id, "cash-out", 2_000],
    ]);
    const correct = buildTill("2026-05-30", 2, {
      financialMovementList: [movement("cash-out", -2_000), movement("cash-in", 300), movement("cash-in", 0)],
    });
    await service.pushTills([correct], principal.location.id);
    expect(findCheck(await readDay(principal, "2026-05-30"), "movement_signs").status).toBe("passed");
  });

  it("tells tips, change, deposits and customer accounts apart", async () => {
    const principal = newReader();
    const payments = [
      { amount: 300, paymentMode: "cash", changeAmount: 200, tipAmount: 50 },
      { amount: 250, paymentMode: "deposit" },
      { amount: 350, paymentMode: "debt" },
      { amount: 200, paymentMode: "custom", paymentType: "customerAccount" },
      { amount: 70, paymentMode: "card", paymentType: "tip" },
    ] as const;
    const paymentRowList = payments.map((fields) => buildTestOrderPaymentRow(fields));
    const till = buildTill("2026-05-29", 7, { orderList: [buildSale({ paymentRowList })], finalCashBalance: null });
    await service.pushTills([till], principal.location.id);
    const day = await readDay(principal, "2026-05-29");
    const check = findCheck(day, "sales");
    expect(check).toMatchObject({ status: "passed", difference: 0 });
    expect(Object.fromEntries(check.amounts.map(({ name, amount }) => [name, amount]))).toEqual({
      ...{ sales: 1_100, payments: 300, deposits: 250, customerAccounts: 550, paidForUnsold: 0, unpaid: 0, owed: 0 },
      ...{ tips: 120, change: 200 },
    });
    expect(findCheck(day, "cash")).toMatchObject({ status: "unavailable", uncheckedTillIds: [till.id] });
  });

  it("is incomplete while a report number of a device is missing, also on another day", async () => {
    const principal = newReader();
    const { id } = principal.location;
    const late = buildTill("2026-05-28", 2);
    await service.pushTills([buildTill("2026-05-27", 1)], id);
    await service.pushTills([buildTill("2026-05-29", 3)], id);
    const incomplete = await readDay(principal, "2026-05-29");
    expect(incomplete).toMatchObject({ state: "incomplete", reasons: [{ code: "report_number_gap" }] });
    expect(findCheck(incomplete, "report_number_gaps").findings).toMatchObject([
      { deviceIdentifier: "counter", firstReportNumber: 2, lastReportNumber: 2 },
    ]);
    await service.pushTills([late], id);
    expect(await readDay(principal, "2026-05-29")).toMatchObject({ state: "closed", reasons: [], dayRevision: 2 });
    // Pushing the same revision again changes nothing.
    await service.pushTills([late], id);
    // A till in training mode has no report.
    await service.pushTills([{ ...late, isTraining: true }], id, { revision: 2 });
    expect(await getDay(principal, "2026-05-28")).toBe(404);
    expect(await readDay(principal, "2026-05-29")).toMatchObject({ state: "incomplete" });

    const listEvents = async (type: "day.closed" | "day.incomplete") =>
      (await listPublishedTestEvents(service.environment, type, id)).map((data) => DayStateEventData.parse(data));
    const published = await eventually("an event for each change of state", async () => {
      const [closed, missing] = await Promise.all([listEvents("day.closed"), listEvents("day.incomplete")]);
      return closed.length + missing.length >= 5 && { closed, missing };
    });
    const toKey = ({ day, dayRevision }: { day: string; dayRevision: number }) => `${day} ${dayRevision}`;
    expect(published.closed.map(toKey).sort()).toEqual(["2026-05-27 1", "2026-05-28 1", "2026-05-29 2"]);
    expect(published.missing.map(toKey).sort()).toEqual(["2026-05-29 1", "2026-05-29 3"]);
  });

  it("states repeated report numbers and overlapping shifts of a device", async () => {
    const principal = newReader();
    const evening = { startedAt: "2026-05-29T17:00:00.000Z", finalizedAt: "2026-05-29T21:00:00.000Z" };
    const tills = [buildTill("2026-05-29", 4), buildTill("2026-05-29", 4, evening)];
    await service.pushTills(tills, principal.location.id);
    const day = await readDay(principal, "2026-05-29");
    const ids = { tillId: tills[1]?.id, otherTillId: tills[0]?.id };
    expect(findCheck(day, "report_number_repeats").findings).toMatchObject([{ ...ids, firstReportNumber: 4 }]);
    expect(findCheck(day, "shift_overlaps").findings).toMatchObject([ids]);
  });

  it("is returned as it is stored, with an entity tag that changes with it", async () => {
    const principal = newReader();
    const { id } = principal.location;
    await service.pushTills([buildTill("2026-05-29", 1)], id);
    const request = (etag?: string) =>
      service.request("GET", "/v1/days/2026-05-29", { principal, headers: etag ? { "if-none-match": etag } : {} });
    const etag = (await request()).headers.get("etag") ?? "";
    expect((await request(etag)).status).toBe(304);
    await service.pushTills([buildTill("2026-05-29", 2, { startedAt: "2026-05-29T18:00:00.000Z" })], id);
    const changed = await request(etag);
    expect(changed.status).toBe(200);
    expect(Day.parse(await changed.json())).toMatchObject({ dayRevision: 2, tillCount: 2 });
  });

  it("is not found in another location, or without reports", async () => {
    const principal = newReader();
    await service.pushTills([buildTill("2026-05-29", 1)], principal.location.id);
    expect(await getDay(newReader(), "2026-05-29")).toBe(404);
    expect(await getDay(principal, "2026-05-30")).toBe(404);
    const path = `/v1/days/2026-05-29?locationId=${principal.location.id}`;
    expect((await service.request("GET", path, { principal: newReader() })).status).toBe(403);
    expect((await service.request("GET", "/v1/days/2026-13-29", { principal })).status).toBe(400);
  });

  it("keeps its figures when its tills are packed", async () => {
    const principal = newReader();
    const { id: locationId } = principal.location;
    const [packed, other] = [buildTill("2026-05-29", 1), buildTill("2026-05-29", 2, { deviceIdentifier: "bar" })];
    await service.pushTills([packed], locationId);
    expect(await packTill(service, { locationId, tillId: packed.id })).toBe(true);
    await service.pushTills([other], locationId);
    const day = await readDay(principal, "2026-05-29");
    expect(day).toMatchObject({ totals: { totalSales: 2_200, guestsNumber: 4 } });
    expect(day.reconciliation.flatMap(({ uncheckedTillIds }) => uncheckedTillIds)).toEqual([]);
  });

  it("has neither totals nor checks if its amounts are too large", async () => {
    const principal = newReader();
    const { id: locationId } = principal.location;
    const [counter, bar] = ["counter", "bar"].map((deviceIdentifier) =>
      buildTill("2026-05-29", 1, { deviceIdentifier }),
    ) as [TillV2, TillV2];
    await service.pushTills([counter], locationId);
    const [{ figures }] = await service.db.sql<[{ figures: Uint8Array }]>`
      select till_figures as figures from reports where location_id = ${locationId}`;
    const tooLarge = { ...JSON.parse(decompressDayText(figures)), totalSales: Number.MAX_SAFE_INTEGER };
    await service.db.sql`
      update reports set till_figures = ${compressDayText(JSON.stringify(tooLarge))} where location_id = ${locationId}`;
    await service.pushTills([bar], locationId);
    expect(await readDay(principal, "2026-05-29")).toMatchObject({
      ...{ state: "incomplete", reasons: [{ code: "amounts_too_large" }], tillCount: 2 },
      ...{ totals: null, reconciliation: [] },
    });
  });

  it("has no totals if it has too many tills", async () => {
    const principal = newReader();
    const { id: locationId } = principal.location;
    await service.db.transaction(async (tx) => {
      await tx`
        insert into tills (till_id, location_id, revision, hash, pushed_at)
        select gen_random_uuid(), ${locationId}, 1, '', now() from generate_series(1, 200)`;
      await tx`
        insert into reports (id, till_id, location_id, day, started_at, created_at, updated_at, etag, finalized, list_item,
          has_metrics)
        select till_id, till_id, ${locationId}, '2026-05-29', now(), now(), now(), 'etag', '{}', '{}', false from tills
        where location_id = ${locationId}`;
      await tx`insert into day_counts (location_id, kind, day, count) values (${locationId}, 'report', '2026-05-29', 200)`;
    });
    await service.pushTills([buildTill("2026-05-29", 1)], locationId);
    expect(await readDay(principal, "2026-05-29")).toMatchObject({
      ...{ state: "incomplete", reasons: [{ code: "too_many_tills" }], tillCount: 201 },
      ...{ tills: [], totals: null, reconciliation: [] },
    });
  });
});

describe("a business day with live orders", () => {
  it("is open until its shifts end, and is listed without reports", async () => {
    const principal = newReader();
    const till = buildTill("2026-05-29", 1);
    const shift = shiftOf(principal, { tillId: till.id });
    await changeShift(shift);
    const openShifts = [{ tillId: till.id, startedAt: shift.startedAt }];
    const totals = { totalSales: 0, orderCount: 0 };
    expect(await readDay(principal, "2026-05-29")).toMatchObject({ state: "open", tills: [], openShifts, totals });
    expect((await listDays(principal)).meta.totalCount).toBe(1);
    // The till is known before order-live has removed its orders.
    await service.pushTills([till], principal.location.id);
    expect(await readDay(principal, "2026-05-29")).toMatchObject({ state: "open", tillCount: 1, openShifts });
    await changeShift({ ...shift, position: 2, isOpen: false });
    const closed = { state: "closed", openShifts: [], dayRevision: 3 };
    expect(await readDay(principal, "2026-05-29")).toMatchObject(closed);
    // An event that arrives late does not open the shift again.
    await changeShift(shift);
    expect(await readDay(principal, "2026-05-29")).toMatchObject(closed);
    expect((await listDays(principal)).meta.totalCount).toBe(1);
    const published = await listPublishedTestEvents(service.environment, "day.closed", principal.location.id);
    expect(published).toHaveLength(1);
  });

  it("moves to an earlier day with its first order, and is not found once its shift has ended without orders", async () => {
    const principal = newReader();
    const shift = shiftOf(principal);
    await changeShift(shift);
    await changeShift({ ...shift, position: 2, day: "2026-05-28", startedAt: "2026-05-28T20:00:00.000Z" });
    expect((await listDays(principal)).data.map(({ day, state }) => `${day} ${state}`)).toEqual(["2026-05-28 open"]);
    await changeShift({ ...shift, position: 3, day: "2026-05-28", isOpen: false });
    expect(await getDay(principal, "2026-05-28")).toBe(404);
    expect((await listDays(principal)).meta.totalCount).toBe(0);
  });

  it("is incomplete while orders that were live are in no till", async () => {
    const principal = newReader();
    const { id: locationId } = principal.location;
    const [till, other] = [buildTill("2026-05-29", 1), buildTill("2026-05-30", 2)];
    const [inTill, inOther, canceled] = [till, other, buildTill("2026-05-29", 3)].map(
      ({ orderList }) => orderList[0]?.id ?? "",
    ) as [string, string, string];
    await service.pushTills([till], locationId);
    const ordersWithoutTill = [
      { orderId: inTill, total: 1_100, isCanceled: false },
      { orderId: inOther, total: 1_100, isCanceled: false },
      { orderId: canceled, total: 300, isCanceled: true },
    ];
    await changeShift(shiftOf(principal, { tillId: till.id, isOpen: false, ordersWithoutTill }));
    const incomplete = await readDay(principal, "2026-05-29");
    expect(incomplete).toMatchObject({ state: "incomplete", reasons: [{ code: "orders_without_till" }] });
    const check = findCheck(incomplete, "orders_without_till");
    expect(check).toMatchObject({ status: "failed", amounts: [{ name: "withoutTill", amount: 1_400 }] });
    expect(check.findings.map(({ tillId, orderId }) => [tillId, orderId])).toEqual(
      [inOther, canceled].sort().map((orderId) => [till.id, orderId]),
    );
    // Another till contains the order, until it is replaced.
    await service.pushTills([other], locationId);
    expect(await readDay(principal, "2026-05-29")).toMatchObject({ state: "closed", reasons: [] });
    await service.pushTills([{ ...other, orderList: [] }], locationId, { revision: 2 });
    expect(await readDay(principal, "2026-05-29")).toMatchObject({ state: "incomplete" });
    await service.pushTills([{ ...other, isTraining: true }], locationId, { revision: 3 });
    expect(await readDay(principal, "2026-05-29")).toMatchObject({ state: "incomplete" });
  });
});

describe("after the time zone of the location was corrected and the tills were reprocessed", () => {
  it("two evenings that were one day are two days, with their orders without a till", async () => {
    const principal = newReader();
    const { id: locationId } = principal.location;
    // 18:00 in Cayenne on two days, of which the second till begins before midnight in Paris, and the first one after.
    const evenings = ["2026-05-28T23:00:00.000Z", "2026-05-29T21:00:00.000Z"].map((startedAt, index) =>
      buildTestTill([buildSale({ openedAt: startedAt })], {
        ...{ startedAt, finalizedAt: "2026-05-30T03:00:00.000Z", reportNumber: index + 1, deviceIdentifier: "counter" },
      }),
    );
    await service.pushTills(evenings, locationId);
    const [first] = evenings;
    const ordersWithoutTill = [{ orderId: randomUUID(), total: 500, isCanceled: false }];
    await changeShift(shiftOf(principal, { tillId: first?.id ?? "", isOpen: false, ordersWithoutTill }));
    expect(await readDay(principal, "2026-05-29")).toMatchObject({ tillCount: 2, state: "incomplete" });

    await service.pushTills(evenings, locationId, { revision: 2, timeZone: "America/Cayenne" });
    const moved = await readDay(principal, "2026-05-28");
    expect(moved).toMatchObject({ tillCount: 1, state: "incomplete" });
    expect(findCheck(moved, "orders_without_till")).toMatchObject({ amounts: [{ name: "withoutTill", amount: 500 }] });
    const kept = await readDay(principal, "2026-05-29");
    expect(kept).toMatchObject({ tillCount: 1 });
    expect(findCheck(kept, "orders_without_till").status).toBe("passed");
    const { sql } = service.db;
    const daysIn = async (table: string) =>
      (
        await sql<{ day: string }[]>`
          select distinct day::text as day from ${sql(table)} where location_id = ${locationId} order by day`
      ).map(({ day }) => day);
    const both = ["2026-05-28", "2026-05-29"];
    expect([await daysIn("reports"), await daysIn("orders"), await daysIn("days")]).toEqual([both, both, both]);
  });
});

describe("the removal of ended shifts", () => {
  it("removes those that ended long ago and orders that were found, but no open shift and no missing order", async () => {
    const principal = newReader();
    const { id: locationId } = principal.location;
    const { sql } = service.db;
    const till = buildTill("2026-05-29", 1);
    const found = till.orderList[0]?.id ?? expect.unreachable();
    const missing = randomUUID();
    const [open, ended, recent] = [1, 2, 3].map(() => shiftOf(principal)) as [ShiftChange, ShiftChange, ShiftChange];
    const ordersWithoutTill = [found, missing].map((orderId) => ({ orderId, total: 500, isCanceled: false }));
    for (const shift of [open, ended, recent]) await changeShift(shift);
    await changeShift({ ...ended, position: 2, isOpen: false, ordersWithoutTill });
    await changeShift({ ...recent, position: 2, isOpen: false });
    await service.pushTills([till], locationId);
    await sql`
      update shifts set changed_at = now() - interval '61 days'
      where location_id = ${locationId} and till_id <> ${recent.tillId}`;
    await sql`update orders_without_till set changed_at = now() - interval '61 days' where location_id = ${locationId}`;
    await deleteEndedShifts(service.db, 60);
    const shifts = await sql<{ tillId: string }[]>`select till_id from shifts where location_id = ${locationId}`;
    expect(shifts.map(({ tillId }) => tillId).sort()).toEqual([open.tillId, recent.tillId].sort());
    expect(await sql`select order_id from orders_without_till where location_id = ${locationId}`).toEqual([
      { orderId: missing },
    ]);
    expect(await readDay(principal, "2026-05-29")).toMatchObject({
      state: "open",
      openShifts: [{ tillId: open.tillId }],
    });
  });
});

describe("an order that continues in the next shift", () => {
  it.each(["before", "after"])("is not without a till, if its event arrives %s the end of its shift", async (when) => {
    const principal = newReader();
    const till = buildTill("2026-05-29", 1);
    await service.pushTills([till], principal.location.id);
    const orderId = randomUUID();
    const ordersWithoutTill = [{ orderId, total: 500, isCanceled: false }];
    const ended = shiftOf(principal, { tillId: till.id, isOpen: false, position: 5, ordersWithoutTill });
    const next = shiftOf(principal, { day: "2026-05-30", position: 6, continuedOrderIds: [orderId] });
    for (const change of when === "before" ? [next, ended] : [ended, next]) await changeShift(change);
    expect(await readDay(principal, "2026-05-29")).toMatchObject({ state: "closed" });
    expect(await readDay(principal, "2026-05-30")).toMatchObject({ state: "open" });
    await changeShift({ ...next, isOpen: false, position: 9, continuedOrderIds: [], ordersWithoutTill });
    expect(await readDay(principal, "2026-05-30")).toMatchObject({ state: "incomplete" });
  });
});

describe("the list of business days", () => {
  it("returns pages of days with reports, latest first, filtered by day", async () => {
    const principal = newReader();
    const days = ["2026-05-25", "2026-05-26", "2026-05-28", "2026-05-29"];
    await service.pushTills(
      days.map((day, index) => buildTill(day, index + 1)),
      principal.location.id,
    );
    const all = await listDays(principal);
    expect(all.data.map(({ day }) => day)).toEqual(days.toReversed());
    expect(all.meta).toMatchObject({ totalCount: 4, totalPage: 1 });
    const first = await listDays(principal, "?size=2&since=2026-05-26");
    expect(first.data.map(({ day }) => day)).toEqual(["2026-05-29", "2026-05-28"]);
    expect(first.meta.totalCount).toBe(3);
    const rest = await listDays(principal, `?size=2&since=2026-05-26&pageToken=${first.nextPageToken}`);
    expect(rest.data.map(({ day }) => day)).toEqual(["2026-05-26"]);
    expect(rest.nextPageToken).toBeNull();
    expect((await listDays(principal, "?size=1&index=2")).data.map(({ day }) => day)).toEqual(["2026-05-26"]);
    expect((await listDays(principal, "?until=2026-05-24")).data).toEqual([]);
    const other = await service.request("GET", `/v1/days/?locationId=${randomUUID()}`, { principal });
    expect(other.status).toBe(403);
  });
});

describe("the stored text of a day", () => {
  it("is decompressed as it was, also if it was stored with the dictionary, which must never change", () => {
    const text = '{"day":"2026-05-29","state":"closed","note":"é"}';
    expect(decompressDayText(compressDayText(text))).toBe(text);
    expect(decompressDayText(Buffer.from("eLtmEhVfwzqajTE4mpcP5h9eqVQLAE0TDoY=", "base64"))).toBe(text);
  });
});

describe("the check of a till that is not stored", () => {
  it("states why the report cannot be computed", async () => {
    const bytes = Buffer.from(JSON.stringify(buildTill("2026-05-29", 1)));
    const request: TillDryRunRequest = {
      ...{ locationId: randomUUID(), tillId: randomUUID(), timeZone: "Europe/Paris", version: "V2", hash: "hash" },
      ...{ body: brotliCompressSync(bytes).toString("base64"), bodyBytes: bytes.byteLength },
    };
    const failWith = async (error: Error) => {
      const calculator = { run: () => Promise.reject(error), close: async () => {} };
      const log = createLogger({ name: "test", level: "silent" });
      return TillDryRun.parse(
        JSON.parse(await tillDryRunHandler.handle({ db: service.db, log, calculator }, JSON.stringify(request))),
      );
    };
    const tooLarge = new PermanentEventError("too large", { publicReason: "too_large" });
    expect(await failWith(tooLarge)).toMatchObject({
      reportState: "parked",
      reportParkedReason: "too_large",
      day: null,
    });
    expect(await failWith(new Error("other"))).toMatchObject({ reportParkedReason: "calculation_failed" });
  });

  it("of another location waits for a till that is as large, and not for a larger one", async () => {
    const started: number[] = [];
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const calculator = {
      async run({ bytes }: { bytes: Uint8Array }) {
        started.push(bytes.byteLength);
        if (bytes.byteLength > 4 * 1024 * 1024) await finished;
        return null;
      },
      close: async () => {},
    };
    const log = createLogger({ name: "test", level: "silent" });
    const check = (bodyBytes: number) => {
      const request: TillDryRunRequest = {
        ...{ locationId: randomUUID(), tillId: randomUUID(), timeZone: "Europe/Paris", version: "V2", hash: "hash" },
        ...{ body: brotliCompressSync(Buffer.alloc(bodyBytes, " ")).toString("base64"), bodyBytes },
      };
      return tillDryRunHandler.handle({ db: service.db, log, calculator }, JSON.stringify(request));
    };
    const largeBytes = 5 * 1024 * 1024;
    const large = [check(largeBytes), check(largeBytes + 1)];
    await eventually("the calculation of the large till", () => started.length === 1);
    await check(10);
    expect(started).toEqual([largeBytes, 10]);
    finish();
    await Promise.all(large);
    expect(started).toEqual([largeBytes, 10, largeBytes + 1]);
  });
});
