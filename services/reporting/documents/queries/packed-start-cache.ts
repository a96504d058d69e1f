import { LRUCache } from "lru-cache";

/** Where packed orders start in the list of all orders of a location, newest first. */
interface PackedStart {
  /** The latest day of an order that was ever packed. */
  day: string;
  /** The number of orders of later days. */
  laterOrders: number;
}

/** What decides whether a list has packed orders. See `DocumentFilter`. */
interface ListFilter {
  locationId: string;
  kind: "report" | "order";
  since: string | null;
  until: string | null;
  reportId: string | null;
}

const maxLocations = 10_000;

/**
 * Where the packed orders of each location started when a page was last read. An old entry only costs time, because the
 * statement that reads packed orders also reads the others.
 */
const packedStarts = new LRUCache<string, PackedStart>({ max: maxLocations });

export function recordPackedStart(locationId: string, start: PackedStart): void {
  packedStarts.set(locationId, start);
}

/** Returns whether a page probably needs packed orders. This includes a page whose next page starts with one. */
export function needsPackedOrders(
  { locationId, kind, since, until, reportId }: ListFilter,
  { after, offset, limit }: { after: { day: string } | null; offset: number; limit: number },
): boolean {
  const start = kind === "order" ? packedStarts.get(locationId) : undefined;
  if (!start || reportId !== null) return false;
  if (after) return after.day <= start.day;
  if (until !== null && until <= start.day) return true;
  return since === null && until === null && offset + limit >= start.laterOrders;
}
