import type { SandboxProblem } from "@pragma/contracts/sandbox";
import type { Database, SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

export interface SandboxRow {
  id: string;
  state: "creating" | "filling" | "ready" | "removing" | "removed";
  createdAt: Date;
  expiresAt: Date;
  locationId: string | null;
  locationName: string | null;
  timeZone: string | null;
  currencyCode: string | null;
  encryptedKey: string | null;
  inboxToken: string;
  encryptedInboxSecret: string;
  filledSteps: number;
  hasInbox: boolean;
  usedAt: Date;
  shiftStartedAt: Date | null;
  shiftSentUntil: Date | null;
  shiftCount: number;
  pushedTillCount: number;
  failingDeliveries: number;
  newestDayProblem: SandboxProblem | null;
}

/** A sandbox whose location exists. */
export type SandboxWithLocation = SandboxRow & { locationId: string };

const sandboxColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, state, created_at, expires_at, location_id, location_name, time_zone, currency_code, encrypted_key, inbox_token,
  encrypted_inbox_secret, filled_steps, has_inbox, used_at, shift_started_at, shift_sent_until, shift_count, pushed_till_count,
  failing_deliveries, newest_day_problem`;

/** How long an instance holds a sandbox, in seconds. Longer than each step of its work, after which the lease is renewed. */
const leaseSeconds = 120;

const isUsable = (sql: SqlClient) => sql`state in ('filling', 'ready') and expires_at > now()`;

/** Wakes a sandbox without due work. A sandbox whose live orders move has its next work within this time. */
const wakeIfIdle = (sql: SqlClient) => sql`
  used_at = now(),
  due_at = case when state = 'ready' and due_at > now() + interval '3 minutes' then now() else due_at end`;

/** Records that the sandbox of a location is used. Returns it, or undefined if the location has none. */
export async function useSandboxOfLocation(
  { sql }: Database,
  locationId: string,
): Promise<SandboxWithLocation | undefined> {
  const [row] = await sql<SandboxWithLocation[]>`
    update sandboxes set ${wakeIfIdle(sql)}
    where location_id = ${locationId} and ${isUsable(sql)} returning ${sandboxColumns(sql)}`;
  return row;
}

/** Records that the sandboxes of these locations are used. */
export async function recordUseOfSandboxes({ sql }: Database, locationIds: readonly string[]): Promise<void> {
  await sql`
    update sandboxes set ${wakeIfIdle(sql)}
    where location_id = any(${locationIds}::uuid[]) and ${isUsable(sql)}`;
}

export async function findSandboxOfInbox({ sql }: Database, token: string): Promise<SandboxWithLocation | undefined> {
  const [row] = await sql<SandboxWithLocation[]>`
    select ${sandboxColumns(sql)} from sandboxes where inbox_token = ${token} and ${isUsable(sql)}`;
  return row;
}

/** Leases sandboxes whose work is due. */
export async function claimDueSandboxes({ sql }: Database, limit: number): Promise<SandboxRow[]> {
  return sql<SandboxRow[]>`
    update sandboxes set leased_until = now() + make_interval(secs => ${leaseSeconds})
    where id in (
      select id from sandboxes where due_at <= now() and (leased_until is null or leased_until < now())
      order by due_at limit ${limit} for update skip locked
    )
    returning ${sandboxColumns(sql)}`;
}

/** Stores the changes of a sandbox, and renews its lease. Returns whether the sandbox has ended meanwhile. */
export async function updateLeasedSandbox(
  { sql }: Database,
  id: string,
  changes: Partial<SandboxRow>,
): Promise<boolean> {
  const [row] = await sql<{ hasEnded: boolean }[]>`
    update sandboxes set ${sql(changes as Record<string, never>)}, leased_until = now() + make_interval(secs => ${leaseSeconds})
    where id = ${id} returning expires_at <= now() as has_ended`;
  return row?.hasEnded ?? true;
}

/** Ends the lease of a sandbox. Its next work is due at `dueAt`, unless the sandbox was used or deleted meanwhile. */
export async function releaseSandbox(
  { sql }: Database,
  { id, usedAt, expiresAt }: Pick<SandboxRow, "id" | "usedAt" | "expiresAt">,
  dueAt: Date,
): Promise<void> {
  await sql`
    update sandboxes set leased_until = null, due_at = case
      when expires_at < ${expiresAt} and state <> 'removed' then now()
      when used_at > ${usedAt} and state = 'ready' then least(${dueAt}::timestamptz, now() + interval '5 seconds')
      else ${dueAt} end
    where id = ${id}`;
}

/** Counts one more till of events, and returns how many there were before: a different number for each caller. */
export async function takeEventTillNumber({ sql }: Database, id: string): Promise<number> {
  const [row] = await sql<[{ previous: number }]>`
    update sandboxes set pushed_till_count = pushed_till_count + 1 where id = ${id}
    returning pushed_till_count - 1 as previous`;
  return row.previous;
}

/** Undoes `takeEventTillNumber` after a failed push, unless another till was counted since. */
export async function returnEventTillNumber({ sql }: Database, id: string, previous: number): Promise<void> {
  await sql`
    update sandboxes set pushed_till_count = ${previous} where id = ${id} and pushed_till_count = ${previous + 1}`;
}

/** How many of the last orders that events closed are known. Orders that were closed before are no longer open. */
const maxClosedOrders = 100;

/** Records that an event closes an order. Returns false if another event has closed it. */
export async function recordClosedOrder({ sql }: Database, id: string, orderId: string): Promise<boolean> {
  const { count } = await sql`
    update sandboxes set closed_order_ids = (array_prepend(${orderId}::uuid, closed_order_ids))[1:${maxClosedOrders}]
    where id = ${id} and ${orderId}::uuid <> all(closed_order_ids)`;
  return count > 0;
}

/** Undoes `recordClosedOrder` after the order could not be closed. */
export async function removeClosedOrder({ sql }: Database, id: string, orderId: string): Promise<void> {
  await sql`update sandboxes set closed_order_ids = array_remove(closed_order_ids, ${orderId}::uuid) where id = ${id}`;
}

/** Ends the life of a sandbox, which is removed soon after. */
export async function expireSandbox({ sql }: Database, id: string): Promise<void> {
  await sql`update sandboxes set expires_at = now(), due_at = now() where id = ${id}`;
}

export async function hasSandboxes({ sql }: Database): Promise<boolean> {
  const [row] = await sql`select from sandboxes limit 1`;
  return row !== undefined;
}
