import { toUuid } from "@pragma/contracts/client-id";
import { withoutPersonalData } from "@pragma/contracts/personal-data";

/**
 * A till's body without the personal data of some of its orders, or of all of it (`orderIds` null). Amounts, dates and
 * numbers stay to the last digit that JSON.parse keeps. The same bytes when there was nothing to erase.
 */
export function eraseOrders(bytes: Uint8Array, orderIds: ReadonlySet<string> | null): Uint8Array {
  const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
  const erased = orderIds === null ? withoutPersonalData(body) : withoutThoseOf(body, orderIds);
  return erased === body ? bytes : new TextEncoder().encode(JSON.stringify(erased));
}

/** An order is what has its id as `id`, or, in the older format's lists of tickets and rows, as `order_id`. */
function withoutThoseOf(value: unknown, orderIds: ReadonlySet<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && isOf(value, orderIds)) return withoutPersonalData(value);
  const entries = Object.entries(value).map(([name, field]) => [name, withoutThoseOf(field, orderIds)] as const);
  if (entries.every(([name, field]) => field === (value as Record<string, unknown>)[name])) return value;
  return Array.isArray(value) ? entries.map(([, field]) => field) : Object.fromEntries(entries);
}

function isOf(object: { id?: unknown; order_id?: unknown }, orderIds: ReadonlySet<string>): boolean {
  return [object.id, object.order_id].some((id) => typeof id === "string" && orderIds.has(toUuid(id)));
}
