import type { PeriodicTask } from "@pragma/runtime/define-service";
import type { Sql } from "@pragma/runtime/postgres";
import {
  removeDeletedWebhooks,
  removeDeliveriesBefore,
  removeDeliveriesOfDeleted,
  removeExpiredSecrets,
  removeHistoryBefore,
  removeMessagesBefore,
} from "../queries/removal.ts";
import type { Webhooks } from "../webhooks.ts";

const portion = 1_000;
const day = 24 * 3_600_000;

/** Removes messages and the log of their deliveries once they are too old, and all that is left of deleted webhooks. */
export const removeOld: PeriodicTask<Pick<Webhooks, "db" | "clock" | "keptDays">> = {
  name: "remove old messages",
  everySeconds: 3_600,
  async run({ db: { sql }, clock, keptDays }) {
    const now = clock();
    const before = new Date(now.getTime() - keptDays * day);
    while ((await removeDeliveriesBefore(sql, before, portion)) === portion);
    while ((await removeMessagesBefore(sql, before, portion)) === portion);
    await removeHistoryBefore(sql, before);
    await removeDeleted(sql);
    await removeExpiredSecrets(sql, now);
  },
};

/** Removes deleted webhooks with their deliveries, up to so many of these. */
export async function removeDeleted(sql: Sql, { most = Number.POSITIVE_INFINITY } = {}): Promise<void> {
  for (let removed = 0; removed < most; removed += portion) {
    if ((await removeDeliveriesOfDeleted(sql, portion)) < portion) break;
  }
  await removeDeletedWebhooks(sql);
}
