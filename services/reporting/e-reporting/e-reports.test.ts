import { setTimeout as sleep } from "node:timers/promises";
import { EReport, EReportPeriodList } from "@pragma/contracts/e-report";
import { EReportTransmission } from "@pragma/contracts/e-report-transmission";
import { OrderV2 } from "@pragma/contracts/order-data";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import { buildSandboxCompanyNumbers } from "@pragma/contracts/siren";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEventEnvelopes } from "@pragma/runtime/testing/published-events";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { randomTills } from "../testing/random-tills.ts";
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
import { lockBusiness } from "./access.ts";
import { publishEReportEvents } from "./periodic/publish-e-report-events.ts";
import { recordChangedDays } from "./queries/figures.ts";

const operator = { ...buildTestPrincipalWithScopes("admin"), location: null };
let service: TestReportingService;
beforeAll(async () => {
  service = await startTestReportingService();
}, 300_000);
afterAll(() => service?.remove());

const scopes = ["accounting:write", "reports:read", "orders:read"] as const;

function newLocation() {
  const principal = buildTestPrincipalWithScopes(...scopes);
  service.accounts.addLocation({ id: principal.location.id });
  return principal;
}
type TestPrincipal = ReturnType<typeof newLocation>;

let lastSiren = 10_000_000;
/** Returns a SIREN with a valid check digit that no other test uses, and a SIRET of it. */
function newSiren(): { siren: string; siret: string } {
  lastSiren += 1;
  const siren = withCheckDigit(String(lastSiren));
  return { siren, siret: withCheckDigit(`${siren}0001`) };
}

function withCheckDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

const settings = { companyName: "Chez Marcel", vatRegime: "monthly", platform: { number: "0123", name: "Plateforme" } };

const putDeclarant = (siren: string, changes: object = {}) =>
  service.request("PUT", `/v1/e-reporting/declarants/${siren}`, {
    principal: operator,
    body: { ...settings, ...changes },
  });

const getReport = (siren: string, kind: string, period: string) =>
  service.getJson(`/v1/e-reports/${siren}/${kind}/${period}`, EReport, operator);

const take = (siren: string, kind: string, period: string, body: object = {}) =>
  service.request("POST", `/v1/e-reports/${siren}/${kind}/${period}/transmissions`, { principal: operator, body });

/** What the digest requires, computed from the orders of the API: by day, category and rate, and what was received. */
interface Expected {
  sales: Map<string, [taxable: bigint, tax: bigint]>;
  counts: Map<string, Set<string>>;
  receipts: Map<string, bigint>;
}

const rowsOf = (order: OrderV2) => {
  if (order.isCanceled || order.isTransferred) return [];
  const rows = [...order.productRowList, ...order.menuRowList.flatMap(({ productRowList }) => productRowList)];
  return rows.filter((row) => !row.isCanceled && !row.isTransferred && !row.isLoss);
};

const categoryOf = (order: OrderV2, rate: number) => {
  if (rate === 0) return "TNT1";
  return order.serviceType === "eatin" || order.serviceType === "unknown" ? "TPS1" : "TLB1";
};

async function computeExpected(locations: readonly TestPrincipal[]): Promise<Expected> {
  const expected: Expected = { sales: new Map(), counts: new Map(), receipts: new Map() };
  for (const principal of locations) {
    const list = await service.getJson("/v2/reports/?size=100", paginatedSchema(ReportListItem), principal);
    for (const { id } of list.data) {
      const report = await service.getJson(`/v2/reports/${id}`, ReportV2, principal);
      const day = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Paris" }).format(new Date(report.startedAt));
      for (const { id: orderId } of report.orders) {
        const order = await service.getJson(`/v2/orders/${orderId}`, OrderV2, principal);
        addOrder(expected, { day, order, key: `${id} ${orderId}` });
      }
    }
  }
  return expected;
}

function addOrder(
  { sales, counts, receipts }: Expected,
  { day, order, key }: { day: string; order: OrderV2; key: string },
) {
  const totals = new Map<number, bigint>();
  for (const row of rowsOf(order)) {
    const rate = Math.round(row.taxRate * 100);
    const block = `${day} ${categoryOf(order, rate)}`;
    const [taxable, tax] = sales.get(`${block} ${rate}`) ?? [0n, 0n];
    sales.set(`${block} ${rate}`, [taxable + BigInt(row.taxableAmount), tax + BigInt(row.taxAmount)]);
    counts.set(block, (counts.get(block) ?? new Set()).add(key));
    totals.set(rate, (totals.get(rate) ?? 0n) + BigInt(row.totalRow));
  }
  if ([...totals.values()].every((total) => total === 0n) || order.isCanceled || order.isTransferred) return;
  for (const [rate, part] of splitByTotals(
    computeReceived(order),
    [...totals].sort(([one], [other]) => one - other),
  )) {
    if (categoryOf(order, rate) !== "TPS1") continue;
    receipts.set(`${day} ${rate}`, (receipts.get(`${day} ${rate}`) ?? 0n) + part);
  }
}

/** Money that stays with the restaurant: without change, tips, what is on account, and what was paid beyond the total. */
function computeReceived(order: OrderV2): bigint {
  const valid = order.paymentRowList.filter(({ status }) => status === "validated");
  const sumOf = (rows: typeof valid) => rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const money = sumOf(
    valid.filter(({ paymentType, paymentMode }) => paymentType === "payment" && paymentMode !== "debt"),
  );
  const settled = sumOf(valid.filter(({ paymentType }) => ["payment", "customerAccount"].includes(paymentType)));
  const owed = BigInt(Math.max(order.total, 0));
  const beyond = [settled - owed, money - owed, 0n].reduce((one, other) => (one > other ? one : other));
  return money - beyond;
}

/** In proportion to the totals; what is not between 0 and their sum first reduces the totals of the other sign. */
function splitByTotals(amount: bigint, totals: [number, bigint][]): [number, bigint][] {
  const addUp = (parts: [number, bigint][]) => parts.reduce((sum, [, part]) => sum + part, 0n);
  const sum = addUp(totals);
  if (amount === sum) return totals;
  const ofSign = (sign: bigint) =>
    totals.map(([rate, total]): [number, bigint] => [rate, total * sign > 0n ? total : 0n]);
  const isMixed = addUp(ofSign(1n)) !== 0n && addUp(ofSign(-1n)) !== 0n;
  if (!isMixed || (sum >= 0n ? amount >= 0n && amount < sum : amount <= 0n && amount > sum))
    return splitExactly(amount, totals);
  const sign = amount > sum ? 1n : -1n;
  const canceling = ofSign(-sign);
  const rest = amount - sum + addUp(canceling);
  // Not all of the totals of the other sign are reduced.
  if (rest * sign < 0n) {
    const reduced = splitExactly(amount - sum, canceling);
    return totals.map(([rate, total], index) => [rate, total + (reduced[index]?.[1] ?? 0n)]);
  }
  const added = splitExactly(rest, ofSign(sign));
  return ofSign(sign).map(([rate, total], index) => [rate, total + (added[index]?.[1] ?? 0n)]);
}

/**
 * Largest remainder: each part is rounded down, and the largest fractions get the units that are left. A negative amount has
 * the opposite parts of its opposite.
 */
function splitExactly(amount: bigint, weights: [number, bigint][]): [number, bigint][] {
  const sum = weights.reduce((total, [, weight]) => total + weight, 0n);
  if (amount < 0n) return splitExactly(-amount, weights).map(([rate, part]) => [rate, -part]);
  if (sum < 0n)
    return splitExactly(
      amount,
      weights.map(([rate, weight]) => [rate, -weight]),
    );
  const parts = weights.map(([rate, weight], index) => {
    const product = amount * weight;
    const rest = ((product % sum) + sum) % sum;
    return { rate, index, part: (product - rest) / sum, rest };
  });
  let left = amount - parts.reduce((total, { part }) => total + part, 0n);
  for (const item of [...parts].sort((one, other) => Number(other.rest - one.rest) || one.index - other.index)) {
    if (left === 0n) break;
    item.part += 1n;
    left -= 1n;
  }
  return parts.map(({ rate, part }) => [rate, part]);
}

function expectTransactions({ transactions }: EReport, { sales, counts }: Expected, [first, last]: [string, string]) {
  const found = transactions.flatMap(({ day, category, taxSubtotals }) =>
    taxSubtotals.map(({ taxRate, taxableAmount, taxTotal }): [string, [bigint, bigint]] => [
      `${day} ${category} ${taxRate}`,
      [BigInt(taxableAmount), BigInt(taxTotal)],
    ]),
  );
  const isWithin = ([key]: [string, unknown]) => key.slice(0, 10) >= first && key.slice(0, 10) <= last;
  expect(new Map(found)).toEqual(new Map([...sales].filter(isWithin)));
  for (const { day, category, transactionsCount, taxExclusiveAmount, taxTotal, taxSubtotals } of transactions) {
    expect(transactionsCount, `${day} ${category}`).toBe(counts.get(`${day} ${category}`)?.size);
    expect(taxExclusiveAmount).toBe(taxSubtotals.reduce((sum, each) => sum + each.taxableAmount, 0));
    expect(taxTotal).toBe(taxSubtotals.reduce((sum, each) => sum + each.taxTotal, 0));
  }
}

/** The rates of rule G1.24: those of mainland France, Corsica and the overseas departments, and former ones. */
const rates = [0, 0.9, 1.05, 1.75, 2.1, 5.5, 7, 8.5, 9.2, 9.6, 10, 13, 19.6, 20, 20.6];

/** Returns the till with all rates of the list, whose rows have others in each till. */
function withAllRates(till: TillV2, first: number): TillV2 {
  let next = first;
  const replaceRate = (key: string, value: unknown) => {
    if (key !== "taxRate" || value === 0) return value;
    next += 4;
    return rates[next % rates.length];
  };
  return JSON.parse(JSON.stringify(till, replaceRate));
}

it("equals an independent calculation, also over two locations of a business, replaced and withdrawn tills", async () => {
  const { siren, siret } = newSiren();
  const locations = [newLocation(), newLocation()];
  const tills = fc.sample(randomTills, { numRuns: 16, seed: Number(process.env.E_REPORTING_SEED ?? 44) });
  for (const [index, till] of tills.entries()) {
    const location = locations[index % 2]?.location.id ?? "";
    const pushed = withAllRates({ ...till, siretCode: siret }, index);
    await service.pushTills([pushed], location);
    // Some are replaced by other orders, and some are withdrawn.
    const { orderList } = withAllRates(tills[(index + 3) % tills.length] ?? till, index + 1);
    if (index % 4 === 0) await service.pushTills([{ ...pushed, orderList }], location, { revision: 2 });
    if (index % 5 === 1) await service.pushTills([{ ...pushed, isTraining: true }], location, { revision: 2 });
  }
  expect((await putDeclarant(siren)).status).toBe(201);
  const expected = await computeExpected(locations);
  for (const range of [
    ["2026-03-21", "2026-03-31"],
    ["2026-04-01", "2026-04-10"],
  ] satisfies [string, string][])
    expectTransactions(await getReport(siren, "transactions", range[0]), expected, range);
  const received = [
    ...(await getReport(siren, "payments", "2026-03-01")).payments,
    ...(await getReport(siren, "payments", "2026-04-01")).payments,
  ].flatMap(({ day, subtotals }) =>
    subtotals.map(({ taxRate, amount }): [string, bigint] => [`${day} ${taxRate}`, BigInt(amount)]),
  );
  expect(new Map(received)).toEqual(new Map([...expected.receipts].filter(([, amount]) => amount !== 0n)));
}, 120_000);

const day = "2026-05-29";
const buildSale = (total: number, fields: object = {}) => {
  const net = Math.round(total / 1.1);
  const row = buildTestOrderProductRow({ totalRow: total, taxableAmount: net, taxAmount: total - net });
  return buildTestOrder({
    ...{ total, totalWithoutTax: net, totalTax: total - net, serviceType: "eatin", openedAt: `${day}T11:00:00.000Z` },
    productRowList: [row],
    paymentRowList: [buildTestOrderPaymentRow({ amount: total })],
    ...fields,
  });
};

async function startBusiness(orders: Parameters<typeof buildTestTill>[0], changes: object = {}) {
  const { siren, siret } = newSiren();
  const principal = newLocation();
  const till = buildTestTill(orders, { siretCode: siret });
  await service.pushTills([till], principal.location.id);
  await putDeclarant(siren, changes);
  return { siren, siret, principal, till };
}

it("is taken once, and again with everything when a till has changed", async () => {
  const { siren, principal, till } = await startBusiness([buildSale(1_100), buildSale(2_200)]);
  const ready = await getReport(siren, "transactions", "2026-05-21");
  expect(ready).toMatchObject({ state: "ready", until: "2026-05-31", dueOn: "2026-06-10", lastTransmission: null });
  const response = await take(siren, "transactions", "2026-05-21");
  expect(response.status, await response.clone().text()).toBe(201);
  const first = EReportTransmission.parse(await response.json());
  expect(first).toMatchObject({ number: 1, id: `${siren}-T-20260521-1`, type: "IN" });
  expect((await getReport(siren, "transactions", "2026-05-21")).state).toBe("taken");
  expect((await take(siren, "transactions", "2026-05-21")).status).toBe(409);
  const replaced = {
    ...till,
    orderList: [...till.orderList.slice(0, 1), buildTestTill([buildSale(3_300)]).orderList[0]],
  };
  await service.pushTills([replaced as TillV2], principal.location.id, { revision: 2 });
  const changed = await getReport(siren, "transactions", "2026-05-21");
  expect(changed.state).toBe("changed");
  expect(changed.changes).toEqual([{ day, category: "TPS1", taxRate: 1000, taxableAmount: 1_000, taxTotal: 100 }]);
  const second = EReportTransmission.parse(await (await take(siren, "transactions", "2026-05-21")).json());
  expect(second).toMatchObject({ number: 2, type: "RE" });
  const file = await service.request("GET", new URL(first.href).pathname, { principal: operator });
  expect(await file.text()).toContain("<TaxExclusiveAmount>30.00</TaxExclusiveAmount>");
});

it("stores at most 100 files of a period", async () => {
  const { siren } = await startBusiness([buildSale(1_100)]);
  expect((await take(siren, "transactions", "2026-05-21")).status).toBe(201);
  await service.db.sql`
    insert into e_transmissions (
      siren, kind, period, until, due_on, number, id, type, taken_at, key_id, blocks, file, bytes, sha256
    )
    select siren, kind, period, until, due_on, 100, id || '00', 'RE', taken_at, key_id, '{"transactions":[]}', file, bytes,
      sha256
    from e_transmissions where siren = ${siren}`;
  const problem = await take(siren, "transactions", "2026-05-21");
  expect(await problem.json()).toMatchObject({
    code: "limit_reached",
    limit: { name: "e_report_files", maximum: 100 },
  });
});

it("publishes once that a report can be taken, and once that it has changed", async () => {
  const { siren, principal, till } = await startBusiness([buildSale(1_100)]);
  const services = {
    db: service.db,
    locationCurrencies: async (ids: string[]) => ids.map(() => "EUR"),
  } as unknown as Parameters<typeof publishEReportEvents>[0];
  const pushRevision = (revision: number, total: number) => {
    const changed = { ...till, orderList: buildTestTill([buildSale(total)]).orderList };
    return service.pushTills([changed as TillV2], principal.location.id, { revision });
  };
  async function publish() {
    await publishEReportEvents(services, siren);
    await publishEReportEvents(services, siren);
    const { count } = await eventually("the events to be sent", async () => {
      const [row] = await service.db.sql<[{ count: number }]>`select count(*) from outbox`;
      return row.count === 0 && { count: row.count };
    });
    expect(count).toBe(0);
    return (await listPublishedTestEventEnvelopes(service.environment)).flatMap(({ type, data }) => {
      const { siren: of, kind, period } = data as Record<string, unknown>;
      return of === siren ? [[type, kind, period]] : [];
    });
  }
  await pushRevision(2, 2_200);
  const ready = [
    ["e_report.ready", "transactions", "2026-05-21"],
    ["e_report.ready", "payments", "2026-05-01"],
  ];
  expect(await publish()).toEqual(ready);
  expect((await take(siren, "transactions", "2026-05-21")).status).toBe(201);
  await pushRevision(3, 3_300);
  const changed = [...ready, ["e_report.changed", "transactions", "2026-05-21"]];
  expect(await publish()).toEqual(changed);
  // Sales that are put into another category change what was reported, too.
  expect((await take(siren, "transactions", "2026-05-21")).status).toBe(201);
  await putDeclarant(siren, { categories: [{ serviceType: "eatin", category: "TLB1" }] });
  expect(await publish()).toEqual([...changed, ["e_report.changed", "transactions", "2026-05-21"]]);
});

it("leaves out orders that were invoiced to businesses, and has them again when they are included", async () => {
  const [kept, invoiced] = [buildSale(1_100), buildSale(2_200)];
  const { siren, principal } = await startBusiness([kept, invoiced]);
  await take(siren, "transactions", "2026-05-21");
  const body = { orderIds: [invoiced.id] };
  const excluded = await service.request("POST", "/v1/e-reporting/excluded-orders", { principal, body });
  expect(await excluded.json()).toEqual({ newlyExcludedOrderIds: [invoiced.id], unknownOrderIds: [] });
  const report = await getReport(siren, "transactions", "2026-05-21");
  expect(report.state).toBe("changed");
  expect(report.transactions).toMatchObject([{ taxExclusiveAmount: 1_000, taxTotal: 100, transactionsCount: 1 }]);
  expect(report.excludedOrders.map(({ orderId }) => orderId)).toEqual([invoiced.id]);
  expect((await getReport(siren, "payments", "2026-05-01")).payments).toMatchObject([
    { day, subtotals: [{ taxRate: 1000, amount: 1_100 }] },
  ]);
  await service.request("DELETE", `/v1/e-reporting/excluded-orders/${invoiced.id}`, { principal });
  expect((await getReport(siren, "transactions", "2026-05-21")).state).toBe("taken");
});

it("leaves out the copy of an order that each of its tills contains, one order after the other", async () => {
  const { siren, siret, principal } = await startBusiness([]);
  const orders = [1_100, 2_200, 3_300].map((total) => buildSale(total));
  const [first, second] = orders as [OrderV2, OrderV2];
  const other = buildTestTill([buildSale(5_500, { id: first.id }), buildSale(6_600, { id: second.id })], {
    siretCode: siret,
  });
  await service.pushTills([buildTestTill(orders, { siretCode: siret }), other], principal.location.id);
  const exclude = (orderIds: string[]) =>
    service.request("POST", "/v1/e-reporting/excluded-orders", { principal, body: { orderIds } });
  const readSales = async () => (await getReport(siren, "transactions", "2026-05-21")).transactions;
  const sales = (taxExclusiveAmount: number, transactionsCount: number) => [{ taxExclusiveAmount, transactionsCount }];
  expect(await readSales()).toMatchObject(sales(17_000, 5));
  await exclude([first.id]);
  expect(await readSales()).toMatchObject(sales(11_000, 3));
  await exclude([first.id, second.id]);
  expect(await readSales()).toMatchObject(sales(3_000, 1));
  await service.request("DELETE", `/v1/e-reporting/excluded-orders/${first.id}`, { principal });
  expect(await readSales()).toMatchObject(sales(9_000, 3));
  await service.request("DELETE", `/v1/e-reporting/excluded-orders/${second.id}`, { principal });
  expect(await readSales()).toMatchObject(sales(17_000, 5));
});

it("has no payments with VAT on debits, and states it for services", async () => {
  const { siren } = await startBusiness([buildSale(1_100)], { vatOnDebitsSince: day });
  expect(await getReport(siren, "payments", "2026-05-01")).toMatchObject({
    ...{ state: "empty", notReported: { otherSales: 1_100 } },
  });
  const xml = await service.request("GET", `/v1/e-reports/${siren}/transactions/2026-05-21`, {
    principal: operator,
    headers: { accept: "application/xml" },
  });
  expect(await xml.text()).toContain("<TaxDueDateTypeCode>5</TaxDueDateTypeCode>");
});

it("splits what was received over the rates of an order, without change, tips and what is on account", async () => {
  const rows = [
    buildTestOrderProductRow({ totalRow: 1_100, taxableAmount: 1_000, taxAmount: 100, taxRate: 10 }),
    buildTestOrderProductRow({ totalRow: 1_200, taxableAmount: 1_000, taxAmount: 200, taxRate: 20 }),
  ];
  const order = buildTestOrder({
    ...{ total: 2_300, totalWithoutTax: 2_000, totalTax: 300, serviceType: "eatin", openedAt: `${day}T11:00:00.000Z` },
    productRowList: rows,
    paymentRowList: [
      buildTestOrderPaymentRow({ amount: 1_000, changeAmount: 500, paymentMode: "cash" }),
      buildTestOrderPaymentRow({ amount: 300, paymentType: "tip" }),
      buildTestOrderPaymentRow({ amount: 1_300, paymentType: "customerAccount" }),
    ],
  });
  const { siren } = await startBusiness([order]);
  expect((await getReport(siren, "payments", "2026-05-01")).payments[0]?.subtotals).toEqual([
    { taxRate: 1000, amount: 478 },
    { taxRate: 2000, amount: 522 },
  ]);
});

it("lists periods with their due dates, also those without sales", async () => {
  const { siren } = await startBusiness([buildSale(1_100)]);
  const path = `/v1/e-reports/?siren=${siren}&kind=transactions&since=2026-05-01&until=2026-06-05`;
  const { data } = await service.getJson(path, EReportPeriodList, operator);
  expect(data.map(({ period, dueOn, state }) => [period, dueOn, state])).toEqual([
    ["2026-05-01", "2026-05-20", "empty"],
    ["2026-05-11", "2026-05-31", "empty"],
    ["2026-05-21", "2026-06-10", "ready"],
    ["2026-06-01", "2026-06-20", "empty"],
  ]);
});

it("refuses a report that does not comply, and says which rule", async () => {
  const row = buildTestOrderProductRow({ totalRow: 1_110, taxableAmount: 1_000, taxAmount: 110, taxRate: 11 });
  const { siren } = await startBusiness([buildSale(1_110, { productRowList: [row] })]);
  const response = await take(siren, "transactions", "2026-05-21");
  expect(await response.json()).toMatchObject({
    code: "e_report_check_failed",
    detail: expect.stringContaining("G1.24"),
  });
});

it.each([
  ["transactions", "2026-05-21", "G6.23"],
  ["payments", "2026-05-01", "G6.27"],
])("refuses %s in another currency than euros", async (kind, period, rule) => {
  const { siren, siret } = newSiren();
  const principal = buildTestPrincipalWithScopes(...scopes);
  service.accounts.addLocation({ id: principal.location.id, currencyCode: "CHF" });
  await service.pushTills([buildTestTill([buildSale(1_100)], { siretCode: siret })], principal.location.id);
  await putDeclarant(siren);
  const response = await take(siren, kind, period);
  expect(await response.json()).toMatchObject({
    code: "e_report_check_failed",
    detail: expect.stringContaining(rule),
  });
});

it("stays with the location that set up its business, whatever tills of others state", async () => {
  const { siren, siret } = newSiren();
  const [owner, other] = [newLocation(), newLocation()];
  const till = () => [buildTestTill([buildSale(1_100)], { siretCode: siret })];
  await service.pushTills(till(), owner.location.id);
  const path = `/v1/e-reporting/declarants/${siren}`;
  const put = (principal: TestPrincipal | typeof operator, body: object = {}) =>
    service.request("PUT", path, { principal, body: { ...settings, ...body } });
  expect((await put(owner)).status).toBe(201);
  const { taxExclusiveAmount } = (await getReport(siren, "transactions", "2026-05-21")).transactions[0] ?? {};
  await service.pushTills(till(), other.location.id);
  const report = await getReport(siren, "transactions", "2026-05-21");
  expect(report.transactions).toMatchObject([{ taxExclusiveAmount, tills: [{ locationId: owner.location.id }] }]);
  const declarant = {
    ...{ locationIds: [owner.location.id], reportedLocationIds: [owner.location.id], otherLocationCount: 1 },
  };
  expect(await (await service.request("GET", path, { principal: owner })).json()).toMatchObject(declarant);
  const list = { data: [{ siren, ...declarant }] };
  expect(await (await service.request("GET", "/v1/e-reporting/declarants", { principal: owner })).json()).toMatchObject(
    list,
  );
  expect((await service.request("GET", path, { principal: other })).status).toBe(403);
  expect((await put(other, { locationIds: [other.location.id] })).status).toBe(403);
  const both = [owner.location.id, other.location.id];
  expect((await put(owner, { locationIds: both })).status).toBe(403);
  // Only a key for all locations can tell that both belong to the business.
  expect(await (await put(operator, { locationIds: both })).json()).toMatchObject({ otherLocationCount: 0 });
  for (const path of [`/v1/e-reporting/declarants/${siren}`, `/v1/e-reports/${siren}/transactions/2026-05-21`])
    for (const denied of [owner, other])
      expect((await service.request("GET", path, { principal: denied })).status).toBe(403);
});

it("sets up the business of the key's own location although a later till of somebody else states its SIREN", async () => {
  const { siren, siret } = newSiren();
  const [owner, other] = [newLocation(), newLocation()];
  for (const { location } of [owner, other])
    await service.pushTills([buildTestTill([buildSale(1_100)], { siretCode: siret })], location.id);
  const path = `/v1/e-reporting/declarants/${siren}`;
  const problem = await service.requestProblem({ method: "PUT", path, principal: other, body: settings });
  expect(problem.detail).toContain("before those of this API key's location");
  const response = await service.request("PUT", path, { principal: owner, body: settings });
  expect(await response.json()).toMatchObject({ locationIds: [owner.location.id], otherLocationCount: 1 });
});

it("has only its own fictional business as a sandbox, and is in that of nobody else", async () => {
  const { siren, siret } = newSiren();
  const real = newLocation();
  const location = service.accounts.addLocation({ isSandbox: true });
  const sandbox = { ...real, location };
  const own = buildSandboxCompanyNumbers(location.id);
  await service.pushTills([buildTestTill([buildSale(1_100)], { siretCode: siret })], real.location.id);
  for (const siretCode of [siret, own.siretCode])
    await service.pushTills([buildTestTill([buildSale(1_100)], { siretCode })], location.id);
  const put = (of: string, principal: Principal) =>
    service.request("PUT", `/v1/e-reporting/declarants/${of}`, { principal, body: settings });
  expect((await put(siren, sandbox)).status).toBe(403);
  expect((await put(own.siren, sandbox)).status).toBe(201);
  expect(await (await put(siren, operator)).json()).toMatchObject({ locationIds: [real.location.id] });
});

it("rejects locations that do not exist, and businesses that no till states", async () => {
  const { siren } = await startBusiness([buildSale(1_100)]);
  const response = await putDeclarant(siren, { locationIds: ["7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11"] });
  expect(await response.json()).toMatchObject({ code: "location_not_found" });
  expect(await (await putDeclarant(newSiren().siren)).json()).toMatchObject({ code: "declarant_not_found" });
});

it("has at most ten businesses of a location", async () => {
  const principal = newLocation();
  const codes: unknown[] = [];
  for (let index = 0; index < 11; index += 1) {
    const { siren, siret } = newSiren();
    await service.pushTills([buildTestTill([buildSale(1_100)], { siretCode: siret })], principal.location.id);
    const path = `/v1/e-reporting/declarants/${siren}`;
    const response = await service.request("PUT", path, { principal, body: settings });
    codes.push(((await response.json()) as { code?: string }).code);
  }
  expect(codes).toEqual([...Array.from({ length: 10 }, () => undefined), "limit_reached"]);
});

it("refuses categories with an unknown field, which would match all sales", async () => {
  const { siren } = await startBusiness([buildSale(1_100)]);
  const response = await putDeclarant(siren, { categories: [{ servicetype: "delivery", category: "TPS1" }] });
  expect(response.status).toBe(400);
});

it("has no figures of a till with too many VAT rates", async () => {
  const rows = Array.from({ length: 1_000 }, (_, index) =>
    buildTestOrderProductRow({ totalRow: 110, taxableAmount: 100, taxAmount: 10, taxRate: index / 10 }),
  );
  const { siren, principal } = await startBusiness([buildSale(110_000, { productRowList: rows })]);
  const { state, openDays } = await getReport(siren, "transactions", "2026-05-21");
  expect(state).toBe("open");
  expect(openDays).toContainEqual({ locationId: principal.location.id, day, state: "without_figures" });
});

it("has no figures of a day with too many VAT rates in its tills", async () => {
  const buildTill = (till: number) => {
    const rows = Array.from({ length: 20 }, (_, index) =>
      buildTestOrderProductRow({
        totalRow: 110,
        taxableAmount: 100,
        taxAmount: 10,
        taxRate: (20 * till + index) / 100,
      }),
    );
    return buildSale(2_200, { productRowList: rows });
  };
  const { siren, siret, principal } = await startBusiness([buildTill(0)]);
  const tills = Array.from({ length: 5 }, (_, index) => buildTestTill([buildTill(index + 1)], { siretCode: siret }));
  await service.pushTills(tills.slice(0, 4), principal.location.id);
  expect((await getReport(siren, "transactions", "2026-05-21")).state).toBe("ready");
  await service.pushTills(tills.slice(4), principal.location.id);
  const { openDays } = await getReport(siren, "transactions", "2026-05-21");
  expect(openDays).toContainEqual({ locationId: principal.location.id, day, state: "without_figures" });
});

it("writes a name with special characters as well-formed XML", async () => {
  const companyName = `M&M; "Chez" <l'Ardoise> &amp; &#233;`;
  const { siren } = await startBusiness([buildSale(1_100)], { companyName });
  const response = await service.request("GET", `/v1/e-reports/${siren}/transactions/2026-05-21`, {
    principal: operator,
    headers: { accept: "application/xml" },
  });
  expect(await response.text()).toContain(
    "<Name>M&amp;M; &quot;Chez&quot; &lt;l&apos;Ardoise&gt; &amp;amp; &amp;#233;</Name>",
  );
});

it("publishes that the only till of a period was withdrawn", async () => {
  const { siren, principal, till } = await startBusiness([buildSale(1_100)]);
  await take(siren, "transactions", "2026-05-21");
  await service.pushTills([{ ...till, isTraining: true } as TillV2], principal.location.id, { revision: 2 });
  const services = { db: service.db, locationCurrencies: async (ids: string[]) => ids.map(() => "EUR") };
  await publishEReportEvents(services as never, siren);
  const events = await eventually("the event", async () => {
    const found = await listPublishedTestEventEnvelopes(service.environment);
    const changed = found.filter(
      ({ type, data }) => type === "e_report.changed" && (data as { siren: string }).siren === siren,
    );
    return changed.length > 0 && changed;
  });
  expect(events).toMatchObject([{ data: { kind: "transactions", period: "2026-05-21" } }]);
});

it.each(["companyName", "platform.name"])(
  "rejects control characters in %s, which XML cannot contain",
  async (path) => {
    const { siren } = await startBusiness([buildSale(1_100)]);
    const name = "A\u0008B";
    const body = path === "companyName" ? { companyName: name } : { platform: { number: "0123", name } };
    const response = await putDeclarant(siren, body);
    expect(await response.json()).toMatchObject({ errors: [{ in: "body", path, message: expect.any(String) }] });
  },
);

it("lets changes of the settings and transmissions of a business wait for each other, so that no day is reported twice", async () => {
  const { siren } = await startBusiness([buildSale(1_100)]);
  let finished = 0;
  const requests = await service.db.transaction(async (tx) => {
    await lockBusiness(tx, service.db, siren);
    const started = [
      take(siren, "transactions", "2026-05-21"),
      putDeclarant(siren, { vatRegime: "quarterly" }),
      take(siren, "transactions", "2026-05-01"),
    ];
    for (const request of started) request.then(() => (finished += 1));
    await sleep(500);
    expect(finished).toBe(0);
    return started;
  });
  await Promise.all(requests);
  const taken = await service.db.sql`select period from e_transmissions where siren = ${siren}`;
  expect(taken.length).toBeLessThanOrEqual(1);
});

it("does not report the days of a period twice after a change of the VAT regime", async () => {
  const { siren } = await startBusiness([buildSale(1_100)]);
  await take(siren, "transactions", "2026-05-21");
  await putDeclarant(siren, { vatRegime: "quarterly" });
  const path = `/v1/e-reports/?siren=${siren}&kind=transactions&since=2026-04-01&until=2026-06-05`;
  const { data } = await service.getJson(path, EReportPeriodList, operator);
  expect(data.map(({ period, until, state }) => [period, until, state])).toEqual([
    ["2026-04-01", "2026-04-30", "empty"],
    ["2026-05-01", "2026-05-10", "empty"],
    ["2026-05-11", "2026-05-20", "empty"],
    ["2026-05-21", "2026-05-31", "taken"],
    ["2026-06-01", "2026-06-30", "empty"],
  ]);
  // The month of the new regime is due at its end, but this file was due earlier.
  await putDeclarant(siren, { vatRegime: "simplified" });
  expect(await getReport(siren, "transactions", "2026-05-21")).toMatchObject({ state: "taken", dueOn: "2026-06-10" });
});

it("is open while a till of the business states no valid SIRET", async () => {
  const { siren, principal } = await startBusiness([buildSale(1_100)]);
  await service.pushTills([buildTestTill([buildSale(1_100)], { siretCode: "" })], principal.location.id);
  const { state, openDays } = await getReport(siren, "transactions", "2026-05-21");
  expect(state).toBe("open");
  expect(openDays).toContainEqual({ locationId: principal.location.id, day, state: "without_siren" });
});

it.each(["9999-12-21", "1999-12-21"])("rejects the day %s", async (period) => {
  const { siren } = await startBusiness([buildSale(1_100)]);
  const response = await service.request("GET", `/v1/e-reports/${siren}/transactions/${period}`, {
    principal: operator,
  });
  expect(response.status).toBe(400);
});

it("does not lose a change whose till is stored while the changes before it are compared", async () => {
  const { siren, principal, till } = await startBusiness([buildSale(1_100)]);
  const key = { locationId: principal.location.id, tillId: till.id };
  await service.db.sql`
    insert into e_changed_days (location_id, siren, day) values (${key.locationId}, ${siren}, ${day}::text::date)
    on conflict do nothing`;
  const services = { db: service.db, locationCurrencies: async (ids: string[]) => ids.map(() => "EUR") };
  let publishing: Promise<void> | undefined;
  await service.db.transaction(async (tx) => {
    await recordChangedDays(tx, { locationId: key.locationId, days: [day] });
    publishing = publishEReportEvents(services as never, siren);
    const isWaiting = await Promise.race([publishing.then(() => false), sleep(500).then(() => true)]);
    expect(isWaiting).toBe(true);
  });
  await publishing;
});

it.each([
  ["73282932", "A SIREN must have nine digits"],
  ["732829321", "A SIREN has a wrong check digit: one of its digits is wrong"],
])("says what is wrong with the SIREN %s", async (siren, message) => {
  const response = await putDeclarant(siren);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    errors: [{ in: "path", path: "siren", message: expect.stringContaining(message) }],
  });
});

it("lists tills with a wrong SIRET", async () => {
  const principal = newLocation();
  await service.pushTills([buildTestTill([buildSale(1_100)], { siretCode: "73282932000075" })], principal.location.id);
  const response = await service.request("GET", "/v1/e-reporting/wrong-sirets", { principal });
  expect(await response.json()).toEqual({
    data: [
      {
        ...{ locationId: principal.location.id, siret: "73282932000075", lastDay: day },
        fault: "The SIRET has a wrong check digit: one of its digits is wrong",
      },
    ],
  });
});
