import {
  type Change,
  ChangePage,
  type ChangeType,
  changesQueryShape,
  changeTypeScopes,
  changeTypes,
} from "@pragma/contracts/changes";
import { parseEReportId } from "@pragma/contracts/e-report-id";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import { getSenderId } from "@pragma/runtime/http/request-identity";
import { createInvalidRequestError } from "@pragma/runtime/http/request-issues";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import {
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import {
  type ChangeCursor,
  createInvalidCursorError,
  decodeChangeCursor,
  encodeChangeCursor,
} from "../changes/change-cursor.ts";
import { type ChangeEntriesPage, type ChangeFeed, readChangeEntries } from "../changes/change-feeds.ts";
import { allLocations } from "../changes/change-waiters.ts";
import type { WebhooksServiceContext } from "../context.ts";
import { findAllChangesFeed, findRowsOfAllLocations, sequenceChanges } from "../queries/all-changes.ts";
import { findLastChangePosition, findRowsOfLocation, lockChangeFeed } from "../queries/changes.ts";

export const listChangesRoute = createRouteDefiner<WebhooksServiceContext>()({
  method: "get",
  path: "/v1/changes/",
  operationId: "listChanges",
  tag: "Changes",
  audience: "public",
  scope: "reports:read",
  summary: "List changes",
  description: [
    "Returns the changes of the reports, orders, catalog, location data and French e-reports of a location, in the order in which they were stored. With it, you can keep a copy of the data in step.",
    "Without `after`, the feed begins with the oldest entry, and contains everything that exists. Store `nextCursor` together with your copy, and continue with `after=<nextCursor>`. With `wait`, a request without changes waits until there is a change, for at most that number of seconds.",
    "The feed contains each report, order, catalog, location and e-report once: when one changes again, its entry moves to the end. You therefore receive the last change of each, but not each change in between, and `created` can be followed or replaced by `replaced`. Treat both in the same way. A cursor never expires.",
    "Type `order` covers the orders of closed shifts, which `/v1/orders/` and `/v2/orders/` return. To follow orders of open shifts, use the stream of live orders or webhooks.",
    "The operation requires the scope `reports:read`. Changes of other types require `orders:read`, `catalog:read`, `locations:read` and `accounting:write` (`e_report`). By default, the feed contains the types that the API key can read. With another key or other `types`, the feed continues at the same position: earlier changes of additional types are not repeated.",
    "With `allLocations=true`, a key with the scope `locations:any` follows all locations in one feed, in the order in which their changes were committed. Otherwise, the feed is that of the location `locationId`, or of the location of the key.",
  ].join("\n\n"),
  request: { query: z.object({ ...changesQueryShape, locationId: locationIdQueryParameter() }) },
  responses: { 200: { description: "A page of changes, which can be empty", schema: ChangePage } },
  errors: ["invalid_cursor", "location_forbidden", "location_not_found", "too_many_waiting_requests"],
  async handle({ query, principal, services, context, signal, origin, runOutsideAdmission }) {
    const types = resolveChangeTypes(principal, query.types);
    const feed = query.allLocations
      ? await openFeedOfAllLocations(services, principal, query.locationId)
      : await openFeedOfLocation(services, principal, query.locationId, context);
    const after = resolveCursor(feed, query.after);
    const read = (from: ChangeCursor) => readChangeEntries(feed, { after: from, types, size: query.size });
    const respond = ({ entries, next, hasMore }: ChangeEntriesPage) => {
      const data = entries.map(({ changedAt, next: cursor, ...entry }): Change => {
        const href = `${origin}${buildChangePath(entry, principal)}`;
        const { type, action, locationId, id, revision } = entry;
        const at = changedAt.toISOString();
        return { cursor: encodeChangeCursor(feed.id, cursor), type, action, locationId, id, revision, at, href };
      });
      const page: ChangePage = { data, nextCursor: encodeChangeCursor(feed.id, next), hasMore };
      return jsonResponse(200, page, { "cache-control": "no-store" });
    };
    if (query.wait === 0) return respond(await read(after));
    const waiter = services.changeWaiters.open({
      ...{ waitKey: feed.waitKey, keyId: principal.keyId, senderId: getSenderId(principal) },
      ...{ timeoutMs: query.wait * 1_000, signal },
    });
    try {
      let page = await read(after);
      const waitForPosition = (position: number) => runOutsideAdmission(() => waiter.waitForPosition(position));
      while (page.entries.length === 0 && !page.hasMore && (await waitForPosition(page.next.position)))
        page = await read(page.next);
      return respond(page);
    } finally {
      waiter.close();
    }
  },
});

/** @throws `ApiError` location_forbidden; location_not_found; invalid_request; service_unavailable. */
async function openFeedOfLocation(
  { db, locations }: WebhooksServiceContext,
  principal: Principal,
  requestedId: string | undefined,
  context: ObservabilityContext,
): Promise<ChangeFeed> {
  const locationId = resolveAuthorizedLocationId(principal, requestedId);
  let lastPosition = await findLastChangePosition(db.sql, locationId);
  if (lastPosition === undefined) {
    // Makes sure that an operator's location exists.
    await resolveRequestedLocation(principal, locationId, locations, context);
    ({ position: lastPosition } = await db.transaction((tx) => lockChangeFeed(tx, locationId)));
  }
  return {
    ...{ id: locationId, lastPosition, waitKey: locationId },
    async findLastPosition() {
      const position = await findLastChangePosition(db.sql, locationId);
      // The location was removed in the meantime.
      if (position === undefined) throw new ApiError("location_not_found");
      return position;
    },
    findRows: (range) => findRowsOfLocation(db.sql, locationId, range),
  };
}

/** Bounds the time of a request after many changes that nobody has read. The next request continues. */
const maxSequencedBatches = 5;

/** @throws `ApiError` location_forbidden without the scope `locations:any`; invalid_request with `locationId`. */
async function openFeedOfAllLocations(
  { db }: WebhooksServiceContext,
  principal: Principal,
  locationId: string | undefined,
): Promise<ChangeFeed> {
  if (!hasScope(principal.scopes, "locations:any"))
    throw new ApiError("location_forbidden", {
      detail: "Only an API key with the scope `locations:any` can follow the changes of all locations.",
    });
  if (locationId !== undefined) {
    const message = "Cannot be combined with allLocations";
    throw createInvalidRequestError([{ in: "query", path: "locationId", code: "conflict", message }]);
  }
  const { feedId, position } = await sequenceChanges(db, { maxBatches: maxSequencedBatches });
  return {
    ...{ id: feedId, lastPosition: position, waitKey: allLocations },
    findLastPosition: async () => (await findAllChangesFeed(db.sql)).position,
    findRows: (range) => findRowsOfAllLocations(db.sql, range),
  };
}

/** @throws `ApiError` scope_missing that names the scopes that the key needs for the requested types. */
function resolveChangeTypes(principal: Principal, requested: ChangeType[] | undefined): ChangeType[] {
  const canRead = (type: ChangeType) => hasScope(principal.scopes, changeTypeScopes[type]);
  if (!requested) return changeTypes.filter(canRead);
  const forbidden = requested.filter((type) => !canRead(type));
  if (forbidden.length > 0) {
    const reasons = forbidden.map((type) => `${type} requires the scope ${changeTypeScopes[type]}`);
    throw new ApiError("scope_missing", {
      detail: `The API key cannot read all of these types: ${reasons.join(", ")}.`,
    });
  }
  return requested;
}

/** @throws `ApiError` invalid_cursor when the cursor is not of this feed, or after its end. */
function resolveCursor({ id, lastPosition }: ChangeFeed, after: string | undefined): ChangeCursor {
  if (after === undefined) return { position: 1, offset: 0 };
  if (after === "now") return { position: lastPosition + 1, offset: 0 };
  const cursor = decodeChangeCursor(id, after);
  // The database was restored from a backup that does not contain the end of the feed.
  if (cursor.position > lastPosition + 1) throw createInvalidCursorError();
  return cursor;
}

function buildChangePath({ type, id }: Pick<Change, "type" | "id">, { location }: Principal): string {
  if (type === "report") return `/v2/reports/${id}`;
  if (type === "order") return `/v2/orders/${id}`;
  if (type === "e_report") {
    const { siren, kind, period } = parseEReportId(id);
    return `/v1/e-reports/${siren}/${kind}/${period}`;
  }
  const isOwnLocation = location?.id === id;
  if (type === "catalog") return isOwnLocation ? "/v1/catalog/" : `/v1/catalog/?locationId=${id}`;
  return isOwnLocation ? "/v1/locations/own" : `/v1/locations/${id}`;
}
