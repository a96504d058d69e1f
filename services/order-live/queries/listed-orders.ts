import type { SqlClient } from "@pragma/runtime/database/postgres";
import type { PageRange } from "@pragma/runtime/http/page-response";
import type { LiveOrderFilter } from "../order-filter.ts";

/** The position of an order in the list of its location's orders, which is sorted newest first. */
export interface LiveOrderListCursor {
  /** When the order was opened at the point of sale. */
  at: string;
  id: string;
}

interface ListedLiveOrderRow extends LiveOrderListCursor {
  body: string;
  /** Position of the order's last entry in the location's stream. */
  position: number;
}

/**
 * Returns a page of the list, newest first, with bodies of up to `maxBytes` unless the first one is larger; `last` is null
 * at the end. To save time, does not read bodies before the page.
 */
export async function findLiveOrderPage(
  sql: SqlClient,
  { locationId, filter }: { locationId: string; filter: LiveOrderFilter },
  { after, offset, limit, maxBytes }: PageRange<LiveOrderListCursor> & { maxBytes: number },
): Promise<{ orders: ListedLiveOrderRow[]; last: LiveOrderListCursor | null }> {
  const rows = await sql<(Omit<ListedLiveOrderRow, "at"> & { at: Date; candidateCount: number })[]>`
    with page as (
      select opened_at, id from live_orders
      where location_id = ${locationId} and departed_at is null and not is_training and ${filterCondition(sql, filter)}
        ${after ? sql`and (opened_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql``}
      order by opened_at desc, id desc
      limit ${limit + 1} offset ${offset}
    ), measured as (
      select o.id, o.opened_at as at, o.body, o.position, count(*) over () as candidate_count,
        row_number() over newest_first as number, sum(octet_length(o.body)) over newest_first as bytes
      from page join live_orders o on o.location_id = ${locationId} and o.id = page.id
      window newest_first as (order by page.opened_at desc, page.id desc)
    )
    select id, at, body, position, candidate_count from measured
    where number = 1 or (number <= ${limit} and bytes <= ${maxBytes}) order by number`;
  const orders = rows.map(({ candidateCount: _, ...row }) => ({ ...row, at: row.at.toISOString() }));
  const last = orders.at(-1);
  const hasMore = rows.length < (rows[0]?.candidateCount ?? 0);
  return { orders, last: last && hasMore ? { at: last.at, id: last.id } : null };
}

/** Counts the listed orders of a location that match the filter. The query needs only an index-only scan. */
export async function countListedLiveOrders(
  sql: SqlClient,
  locationId: string,
  filter: LiveOrderFilter,
): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from live_orders
    where location_id = ${locationId} and departed_at is null and not is_training and ${filterCondition(sql, filter)}`;
  return row.count;
}

function filterCondition(sql: SqlClient, { tillId, isPaid, isTransferred, isCanceled }: LiveOrderFilter) {
  return sql`
    (${tillId ?? null}::uuid is null or till_id = ${tillId ?? null})
    and (${isPaid ?? null}::boolean is null or is_paid = ${isPaid ?? null})
    and (${isTransferred ?? null}::boolean is null or is_transferred = ${isTransferred ?? null})
    and (${isCanceled ?? null}::boolean is null or is_canceled = ${isCanceled ?? null})`;
}
