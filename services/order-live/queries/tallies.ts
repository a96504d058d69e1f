import type { Transaction } from "@pragma/runtime/postgres";
import type { Facts } from "../order-state.ts";

/** What an order was listed as, and what it is listed as now; null for not at all. */
export interface ListChange {
  before: Facts | null;
  after: Facts | null;
}

/** Counts what came to lists and what left them. The caller holds the location's lock. */
export async function adjustTallies(tx: Transaction, locationId: string, changes: ListChange[]): Promise<void> {
  const adjustments = adjustmentsOf(changes);
  if (adjustments.length === 0) return;
  const column = <Name extends keyof Adjustment>(name: Name) => adjustments.map((adjustment) => adjustment[name]);
  // As texts: postgres.js takes a list of booleans for one boolean.
  const flags = (name: "isPaid" | "isTransferred" | "isCanceled") => column(name).map(String);
  await Promise.all([
    tx`
      insert into tallies (location_id, till_id, is_paid, is_transferred, is_canceled, count)
      select ${locationId}, given.*, 0 from unnest(
        ${column("tillId")}::uuid[], ${flags("isPaid")}::text[]::boolean[], ${flags("isTransferred")}::text[]::boolean[],
        ${flags("isCanceled")}::text[]::boolean[]
      ) as given
      on conflict do nothing`,
    tx`
      update tallies set count = count + given.difference
      from unnest(
        ${column("tillId")}::uuid[], ${flags("isPaid")}::text[]::boolean[], ${flags("isTransferred")}::text[]::boolean[],
        ${flags("isCanceled")}::text[]::boolean[], ${column("difference")}::int[]
      ) as given (till_id, is_paid, is_transferred, is_canceled, difference)
      where location_id = ${locationId} and tallies.till_id = given.till_id and tallies.is_paid = given.is_paid
        and tallies.is_transferred = given.is_transferred and tallies.is_canceled = given.is_canceled`,
    tx`delete from tallies where location_id = ${locationId} and count = 0`,
  ]);
}

interface Adjustment extends Facts {
  difference: number;
}

function adjustmentsOf(changes: ListChange[]): Adjustment[] {
  const byFacts = new Map<string, Adjustment>();
  const add = (facts: Facts | null, difference: number) => {
    if (!facts) return;
    const key = JSON.stringify(Object.values(facts));
    const known = byFacts.get(key) ?? { ...facts, difference: 0 };
    known.difference += difference;
    byFacts.set(key, known);
  };
  for (const { before, after } of changes) {
    add(before, -1);
    add(after, 1);
  }
  return [...byFacts.values()].filter(({ difference }) => difference !== 0);
}
