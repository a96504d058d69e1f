import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import type { ReportingContext } from "../../context.ts";
import { findOrderIdsOfTill } from "../queries/orders.ts";
import { findPackedTillIds } from "../queries/packed-tills.ts";
import type { TillKey } from "../queries/tills.ts";
import { UnreadablePackedTillError } from "./packed-object.ts";
import { giveUpPackedTexts, type UnpackingServices, unpackTill } from "./unpack-till.ts";

/** Thrown to roll back a transaction that would change packed tills. */
class PackedTillsError extends Error {
  override readonly name = "PackedTillsError";
  readonly tillIds: string[];

  constructor(tillIds: string[]) {
    super(`The tills ${tillIds.join(", ")} must be unpacked first.`);
    this.tillIds = tillIds;
  }
}

/**
 * Runs `work`, a transaction that calls `assertTillCanChange` or `assertTillCanBeDeleted`. If tills must be unpacked
 * first, unpacks them in transactions of their own, and runs `work` again. Statements that change reports and orders
 * know no packed tills.
 *
 * `canGiveUpTexts` gives up the texts of tills whose objects are missing or damaged. Only for callers that have just read
 * another object: otherwise, the whole object store may be missing, for example because its configuration is wrong.
 */
export async function withUnpackedTills<T>(
  services: UnpackingServices & Pick<ReportingContext, "log">,
  locationId: string,
  work: () => Promise<T>,
  { canGiveUpTexts = false } = {},
): Promise<T> {
  // A till can contain orders of several packed tills, and of further ones that are found only when it is unpacked.
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PackedTillsError)) throw error;
      for (const tillId of error.tillIds) {
        await unpackTill(services, { locationId, tillId }).catch(async (error: unknown) => {
          if (!canGiveUpTexts || !(error instanceof UnreadablePackedTillError)) throw error;
          await giveUpPackedTexts(services, error.till);
          const fields = { err: error, locationId, tillId, objectKey: error.till.objectKey };
          services.log.error(fields, "packed till lost; reprocess it");
        });
      }
    }
  }
}

/**
 * Checks that a till is not packed, and that no packed till contains any of its orders, because a change of the till
 * decides which copy of these orders is current. The caller must lock the location first.
 *
 * @throws PackedTillsError, which `withUnpackedTills` handles.
 */
export async function assertTillCanChange(
  tx: SqlTransaction,
  { locationId, tillId, newOrderIds = [] }: TillKey & { newOrderIds?: string[] },
): Promise<void> {
  const ownOrderIds = tx`array(select id from orders where location_id = ${locationId} and till_id = ${tillId})`;
  const tillIds = await findPackedTillIds(tx, { locationId, tillId }, tx`${newOrderIds}::uuid[] || ${ownOrderIds}`);
  if (tillIds.length > 0) throw new PackedTillsError(tillIds);
}

/**
 * Checks that no other packed till contains a current order of a till, because its copy becomes current. The till itself
 * may be packed, because its texts are not needed. The caller must lock the location first.
 *
 * @throws PackedTillsError, which `withUnpackedTills` handles.
 */
export async function assertTillCanBeDeleted(tx: SqlTransaction, { locationId, tillId }: TillKey): Promise<void> {
  const orderIds = await findOrderIdsOfTill(tx, { locationId, tillId }, { isCurrent: true });
  const tillIds = await findPackedTillIds(tx, { locationId, tillId }, tx`${orderIds}::uuid[]`);
  const otherTillIds = tillIds.filter((id) => id !== tillId);
  if (otherTillIds.length > 0) throw new PackedTillsError(otherTillIds);
}
