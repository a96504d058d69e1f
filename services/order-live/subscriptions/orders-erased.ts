import { withoutPersonalData } from "@pragma/contracts/personal-data";
import { entityTagOf } from "@pragma/runtime/entity-tags";
import { on } from "@pragma/runtime/subscription";
import type { OrderLiveService } from "../order-live.ts";
import { type Kept, listKept, putErased } from "../queries/erasures.ts";

/** The personal data of orders is to be erased: of those that are live, and of the log of what changed. */
export const ordersErased = on<OrderLiveService, "orders.erased">(
  "orders.erased",
  async ({ data: { locationId, orderIds }, once }) => {
    await once(async (tx) => {
      const kept = await listKept(tx, { locationId, orderIds });
      await putErased(tx, locationId, kept.map(erased));
    });
  },
);

function erased({ body, ...rest }: Kept): Kept & { etag: string } {
  const without = JSON.stringify(withoutPersonalData(JSON.parse(body)));
  return { ...rest, body: without, etag: entityTagOf(without) };
}
