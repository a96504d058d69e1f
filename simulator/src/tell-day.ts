import { Temporal } from "temporal-polyfill";
import type { LiveDay } from "./live-day.ts";
import type { LiveOrder } from "./order-revisions.ts";
import type { Playing } from "./playing.ts";

/** Tells how a day goes: that it begins, and now and then how it stands. */
export function tellDay({ clock, say, timeZone }: Playing, { till, revisions, closesAt, isNumberedLast }: LiveDay) {
  const begins = clock.now();
  const minutes = Math.max(0, (closesAt - clock.now()) / 60_000);
  const length = minutes < 2 ? `${Math.round(minutes * 60)} s` : `${Math.round(minutes)} min`;
  say(`Till open: ${till.orderList.length} orders and ${revisions.length} changes to come in ${length}`);
  // Some twenty lines a day, and not one after the other.
  const interval = Math.max(1_000, (closesAt - clock.now()) / 20);
  let last = clock.now();
  return {
    changed(orders: ReadonlyMap<string, LiveOrder>, modifiedAt: string | null) {
      if (modifiedAt === null || clock.now() - last < interval) return;
      last = clock.now();
      const all = [...orders.values()].map(({ data }) => data);
      const open = all.filter(({ closedAt }) => closedAt === null);
      const paid = all.filter(({ isPaid }) => isPaid).reduce((sum, { total }) => sum + total, 0);
      // A day that carries the times at which it is played shows no time of its own.
      const at = isNumberedLast ? shareText((last - begins) / (closesAt - begins)) : timeText(modifiedAt, timeZone);
      say(`${at}  ${open.length} open, ${all.length - open.length} closed, paid ${amountText(paid)}`);
    },
  };
}

/** An amount as people write it. */
export function amountText(minorUnits: number): string {
  return `${(minorUnits / 100).toFixed(2)} EUR`;
}

function shareText(share: number): string {
  return `${Math.round(Math.min(1, share) * 100)}%`.padStart(4);
}

function timeText(instant: string, timeZone: string): string {
  const at = Temporal.Instant.from(instant).toZonedDateTimeISO(timeZone);
  return `${at.toPlainDate()} ${at.toPlainTime().toString({ smallestUnit: "minute" })}`;
}
