import { redactPersonalData } from "@pragma/contracts/personal-data";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { onEvent } from "@pragma/runtime/messaging/subscription";
import type { OrderLiveContext } from "../context.ts";

/** The personal data of orders is to be erased: of those that are live, and of the log of what changed. */
export const eraseLiveOrderData = onEvent<OrderLiveContext, "orders.erased">(
  "orders.erased",
  async ({ data: { locationId, orderIds }, once }) => {
    await once(async (tx) => {
      const live = await tx<{ id: string; body: string }[]>`
        select id, body from orders
        where location_id = ${locationId} and id = any(${orderIds}::uuid[]) and body is not null for update`;
      for (const { id, body } of live) {
        const without = eraseBody(body);
        await tx`
          update orders set body = ${without}, etag = ${computeEntityTag(without)}
          where location_id = ${locationId} and id = ${id}`;
      }
      const logged = await tx<{ position: number; body: string }[]>`
        select position, body from revisions
        where location_id = ${locationId} and order_id = any(${orderIds}::uuid[]) for update`;
      for (const { position, body } of logged) {
        await tx`
          update revisions set body = ${eraseBody(body)} where location_id = ${locationId} and position = ${position}`;
      }
    });
  },
);

function eraseBody(body: string): string {
  return JSON.stringify(redactPersonalData(JSON.parse(body)));
}
