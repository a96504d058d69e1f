import { afterCommit } from "@pragma/runtime/postgres";
import { on } from "@pragma/runtime/subscription";
import { finishTill } from "../finish-till.ts";
import type { OrderLiveService } from "../order-live.ts";

/** A till was closed and has its report: its orders are no longer live. */
export const reportFinalized = on<OrderLiveService, "report.finalized">(
  "report.finalized",
  async ({ data, services, once }) => {
    await once(async (tx) => {
      const position = await finishTill(tx, data);
      afterCommit(tx, () => services.hub.tell(data.locationId, position));
    });
  },
);
