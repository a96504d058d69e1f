import { ApiError } from "@pragma/contracts/errors";
import type { OrderV2 } from "@pragma/contracts/order-data";
import { lockInTransaction, type SqlClient, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { toReportableOrders } from "../calculation/reportable-orders.ts";
import type { ReportingContext } from "../context.ts";
import { findDocumentBody } from "../documents/queries/document-body.ts";
import type { DocumentStores } from "../documents/queries/document-pages.ts";
import { deleteExcludedOrder, insertExcludedOrders, listTillsOfOrders } from "./queries/excluded-orders.ts";
import { updateExcludedFigures } from "./queries/figures.ts";
import { computeEReportFigures } from "./till-e-figures.ts";

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
  for (const { tillId, excludedOrderIds, orderIds: contained } of tills) {
    const excluded = [...new Set([...excludedOrderIds, ...contained])];
    if (excluded.length === excludedOrderIds.length) continue;
    await storeExcludedFigures(services, tx, { locationId, tillId, orderIds: excluded });
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
    const excluded = till.excludedOrderIds.filter((id) => id !== orderId);
    await storeExcludedFigures(services, tx, { locationId, tillId: till.tillId, orderIds: excluded });
  }
  return true;
}

/** Stores which orders of a till are excluded, and the sum of their figures. The caller must lock the location first. */
export async function storeExcludedFigures(
  { objects }: Pick<DocumentStores, "objects">,
  tx: SqlTransaction,
  { locationId, tillId, orderIds }: { locationId: string; tillId: string; orderIds: readonly string[] },
): Promise<void> {
  const texts: string[] = [];
  for (const id of orderIds) {
    const found = await findDocumentBody(
      { sql: tx as unknown as SqlClient, objects },
      { kind: "order", id, locationId, body: "v2", maxBytes: maxOrderBytes },
    );
    if (found?.body) texts.push(Buffer.from(found.body).toString());
  }
  // If the text of an order is lost, its day is `without_figures` until the till is pushed again.
  const figures = texts.length === orderIds.length ? computeExcludedFigures(texts) : null;
  await updateExcludedFigures(tx, { locationId, tillId }, { orderIds, figures });
}

/** Returns the sum of the figures of orders, from their V2 texts, as JSON. */
function computeExcludedFigures(texts: readonly string[]): string | null {
  if (texts.length === 0) return null;
  const orders = texts.map((text): OrderV2 => JSON.parse(text));
  return JSON.stringify(computeEReportFigures(toReportableOrders(orders)));
}
