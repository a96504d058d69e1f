import { ApiError } from "@pragma/contracts/errors";
import type { OrderV2 } from "@pragma/contracts/order-data";
import { lockInTransaction, type SqlClient, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { toReportableOrders } from "../calculation/reportable-orders.ts";
import type { ReportingContext } from "../context.ts";
import { findDocumentBody } from "../documents/queries/document-body.ts";
import type { DocumentStores } from "../documents/queries/document-pages.ts";
import type { TillKey } from "../documents/queries/tills.ts";
import type { EReportFigures } from "./e-report-figures.ts";
import { deleteExcludedOrder, insertExcludedOrders, listTillsOfOrders } from "./queries/excluded-orders.ts";
import { updateExcludedFigures } from "./queries/figures.ts";
import { addUpEReportFigures, computeEReportFigures, subtractEReportFigures } from "./till-e-figures.ts";

type ExclusionServices = Pick<ReportingContext, "db" | "objects">;

/** The maximum size of an order that is read, in bytes. A till cannot have a larger one. */
const maxOrderBytes = 64 * 1024 * 1024;

const maxExcludedOrders = 100_000;

/** Excludes orders of a location. Returns those that were not excluded before, and those that no till contains yet. */
export async function excludeOrders(
  services: ExclusionServices,
  tx: SqlTransaction,
  { locationId, orderIds }: { locationId: string; orderIds: readonly string[] },
): Promise<{ inserted: string[]; unknown: string[] }> {
  // A till that is stored at the same time either finds the exclusion, or is found here.
  await lockInTransaction(tx, services.db, `location ${locationId}`);
  const inserted = await insertExcludedOrders(tx, { locationId, orderIds });
  const { count } = await tx`
    select from e_excluded_orders where location_id = ${locationId} limit ${maxExcludedOrders + 1}`;
  if (count > maxExcludedOrders)
    throw new ApiError("limit_reached", {
      detail: `A location can have up to ${maxExcludedOrders} excluded orders.`,
      limit: { name: "excluded_orders", maximum: maxExcludedOrders, unit: "orders of a location" },
    });
  const tills = await listTillsOfOrders(tx, { locationId, orderIds });
  for (const till of tills) {
    const added = till.orderIds.filter((id) => !till.excludedOrderIds.includes(id));
    if (added.length > 0) await addExcludedFigures(services, tx, { locationId, ...till }, added);
  }
  const known = new Set(tills.flatMap(({ orderIds: contained }) => contained));
  return { inserted, unknown: [...new Set(orderIds)].filter((id) => !known.has(id)) };
}

/** Ends the exclusion of an order. Returns whether it was excluded. */
export async function includeOrder(
  services: ExclusionServices,
  tx: SqlTransaction,
  { locationId, orderId }: { locationId: string; orderId: string },
): Promise<boolean> {
  await lockInTransaction(tx, services.db, `location ${locationId}`);
  if (!(await deleteExcludedOrder(tx, { locationId, orderId }))) return false;
  for (const till of await listTillsOfOrders(tx, { locationId, orderIds: [orderId] })) {
    const orderIds = till.excludedOrderIds.filter((id) => id !== orderId);
    const key = { locationId, tillId: till.tillId };
    const [excluded, included] = [parseFigures(till.excludedFigures), await readFigures(services, tx, key, [orderId])];
    const figures = excluded && included && subtractEReportFigures(excluded, included);
    if (figures || orderIds.length === 0) await updateExcludedFigures(tx, key, { orderIds, figures });
    else await storeExcludedFigures(services, tx, { ...key, orderIds });
  }
  return true;
}

interface ExcludedOfTill extends TillKey {
  excludedOrderIds: readonly string[];
  excludedFigures: string | null;
}

/** Adds the figures of some orders to those that are excluded, so that the others need not be read. */
async function addExcludedFigures(
  services: ExclusionServices,
  tx: SqlTransaction,
  { locationId, tillId, excludedOrderIds, excludedFigures }: ExcludedOfTill,
  added: readonly string[],
): Promise<void> {
  const key = { locationId, tillId };
  const orderIds = [...excludedOrderIds, ...added];
  const before = parseFigures(excludedFigures);
  // Without figures although orders were excluded, the text of one was lost, and may be there again.
  if (!before && excludedOrderIds.length > 0) return storeExcludedFigures(services, tx, { ...key, orderIds });
  const figures = await readFigures(services, tx, key, added);
  const sums = figures && addUpEReportFigures(before ? [before, figures] : [figures]);
  await updateExcludedFigures(tx, key, { orderIds, figures: sums });
}

/** Stores which orders of a till are excluded, and the sum of their figures. The caller must lock the location first. */
export async function storeExcludedFigures(
  stores: Pick<DocumentStores, "objects">,
  tx: SqlTransaction,
  { orderIds, ...key }: TillKey & { orderIds: readonly string[] },
): Promise<void> {
  await updateExcludedFigures(tx, key, { orderIds, figures: await readFigures(stores, tx, key, orderIds) });
}

/**
 * Returns the sum of the figures of orders, from their V2 texts in this till; null if the text of one is lost. Then the day
 * is `without_figures` until the till is pushed again.
 */
async function readFigures(
  { objects }: Pick<DocumentStores, "objects">,
  tx: SqlTransaction,
  key: TillKey,
  orderIds: readonly string[],
): Promise<EReportFigures | null> {
  let figures = computeEReportFigures([]);
  for (const id of orderIds) {
    const found = await findDocumentBody(
      { sql: tx as unknown as SqlClient, objects },
      { ...key, kind: "order", id, body: "v2", maxBytes: maxOrderBytes },
    );
    if (!found?.body) return null;
    const order: OrderV2 = JSON.parse(Buffer.from(found.body).toString());
    figures = addUpEReportFigures([figures, computeEReportFigures(toReportableOrders([order]))]);
  }
  return figures;
}

const parseFigures = (text: string | null): EReportFigures | null => (text === null ? null : JSON.parse(text));
