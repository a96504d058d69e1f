import { randomUUID } from "node:crypto";
import type { SentEvent } from "@pragma/contracts/webhook";
import { isPassing } from "@pragma/runtime/passing-cause";
import { batched } from "./delivering/batched.ts";
import { messageBody, type Telling } from "./emit.ts";
import { insertTold, type Told } from "./queries/told.ts";
import { type Happening, type Listener, listenersTo } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

/** Tells webhooks of events, of as many at a time as come at a time: each by itself would cost four queries. */
export interface TellTogether {
  /** The webhooks that are to be told of something. */
  listenersTo(happening: Happening): Promise<Listener[]>;
  /**
   * Writes down a message of an event and a delivery of it for each listener, and that the event was handled; then they
   * are on their way. Those of webhooks that are paused or disabled wait.
   *
   * @returns false when the event was handled before.
   */
  tell<Event extends SentEvent>(listeners: readonly Listener[], telling: Telling<Event>): Promise<boolean>;
}

type Written = { isNew: boolean } | { error: unknown };

export function openTellTogether({ db, clock, wake }: Pick<Webhooks, "db" | "clock" | "wake">): TellTogether {
  const find = batched((happenings: Happening[]) => listenersTo(db.sql, happenings), { size: 50, atATime: 2 });
  const write = batched(writeAll, { size: 50, atATime: 2 });

  /** What cannot be written must keep no other from being written. */
  async function writeAll(items: Item[]): Promise<Written[]> {
    const told = items.map((item) => item.told);
    try {
      const isNew = await insertTold(db.sql, told, clock());
      const due = items.filter(({ told: { messageId } }) => isNew.has(messageId)).flatMap((item) => item.due);
      if (due.length > 0) wake.deliveries(due);
      return told.map(({ messageId }) => ({ isNew: isNew.has(messageId) }));
    } catch (error) {
      if (items.length === 1 || isPassing(error)) return items.map(() => ({ error }));
      return (await Promise.all(items.map((item) => writeAll([item])))).flat();
    }
  }

  return {
    listenersTo: find,
    async tell(listeners, telling) {
      const { messageId, event, traceparent } = telling;
      const deliveries = listeners.map(({ id }) => ({ deliveryId: randomUUID(), webhookId: id }));
      const told = { messageId, event, body: messageBody(telling), traceparent, deliveries };
      const due = listeners.filter(({ isActive }) => isActive).map(({ id }) => id);
      const written = await write({ told, due });
      if ("error" in written) throw written.error;
      return written.isNew;
    },
  };
}

interface Item {
  told: Told;
  /** The webhooks that are active. */
  due: string[];
}
