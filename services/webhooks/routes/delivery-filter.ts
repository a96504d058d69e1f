import type { DayOrInstant } from "@pragma/contracts/pagination";
import { computeStartOfDay } from "@pragma/contracts/time-zone";
import type { SqlClient, SqlFragment, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { RouteHandlerInput } from "@pragma/runtime/http/define-route";
import type { WebhooksServiceContext } from "../context.ts";

/** The filters of a request: days are in the time zone of the location. */
interface DeliveryQuery {
  event?: string | undefined;
  state?: string | undefined;
  since?: DayOrInstant | undefined;
  until?: DayOrInstant | undefined;
}

/** Which deliveries a request selects, with its days as instants. */
interface DeliveryFilter {
  event: string | undefined;
  state: string | undefined;
  since: Date | string | undefined;
  /** Whether a delivery that was created at `until` does not match, because `until` is the end of a day. */
  isBefore: boolean;
  until: Date | string | undefined;
}

/** Converts the days of a request to instants in the time zone of the location. @throws `ApiError` location_not_found. */
export async function resolveDeliveryFilter(
  { event, state, since, until }: DeliveryQuery,
  {
    locationId,
    principal: { location },
    services,
    context,
  }: Pick<DeliveryRequest, "principal" | "services" | "context"> & { locationId: string },
): Promise<DeliveryFilter> {
  const hasDays = [since, until].some((bound) => bound && "day" in bound);
  const { timeZone } = !hasDays
    ? { timeZone: "UTC" }
    : location?.id === locationId
      ? location
      : await services.locations.getById(locationId, context);
  const toInstant = (bound: DayOrInstant, addedDays = 0) =>
    "day" in bound ? computeStartOfDay(bound.day, timeZone, addedDays) : bound.instant;
  return {
    ...{ event, state },
    since: since && toInstant(since),
    isBefore: until !== undefined && "day" in until,
    until: until && toInstant(until, 1),
  };
}

/** Returns the condition for the rows of `webhook_deliveries` that match. */
export function toDeliveryCondition(
  sql: SqlClient | SqlTransaction,
  { event, state, since, isBefore, until }: DeliveryFilter,
): SqlFragment {
  return sql`(
    ${event === undefined ? sql`true` : sql`event = ${event}`}
    and ${state === undefined ? sql`true` : sql`state = ${state}`}
    and ${since === undefined ? sql`true` : sql`created_at >= ${since}::timestamptz`}
    and ${until === undefined ? sql`true` : sql`created_at ${isBefore ? sql`<` : sql`<=`} ${until}::timestamptz`})`;
}

type DeliveryRequest = RouteHandlerInput<undefined, undefined, undefined, WebhooksServiceContext>;
