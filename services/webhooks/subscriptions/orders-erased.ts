import { withoutPersonalData } from "@pragma/contracts/personal-data";
import { on } from "@pragma/runtime/subscription";
import { listParkedAbout, listToldOf, putErasedMessage, putErasedParked } from "../queries/erasures.ts";
import type { Webhooks } from "../webhooks.ts";

const erased = (body: string) => JSON.stringify(withoutPersonalData(JSON.parse(body)));

/** The personal data of orders is to be erased: from what was sent or waits to be, and from what receivers answered. */
export const ordersErased = on<Webhooks, "orders.erased">("orders.erased", async ({ data, once }) => {
  await once(async (tx) => {
    for (const { id, body } of await listToldOf(tx, data)) await putErasedMessage(tx, { id, body: erased(body) });
    for (const { id, body } of await listParkedAbout(tx, data)) await putErasedParked(tx, { id, body: erased(body) });
  });
});
