import {
  type Change,
  ChangePage,
  type ChangeType,
  changesQueryShape,
  changeTypeScopes,
  changeTypes,
} from "@pragma/contracts/changes";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import {
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import {
  type ChangeCursor,
  changeFeedStart,
  createInvalidCursorError,
  decodeChangeCursor,
  encodeChangeCursor,
} from "../changes/change-cursor.ts";
import { type ChangeEntriesPage, readChangeEntries } from "../changes/read-changes.ts";
import { defineChangesRoute } from "../context.ts";
import { findLastChangePosition, lockChangeFeedReturningPosition } from "../queries/changes.ts";

export const listChangesRoute = defineChangesRoute({
  method: "get",
  path: "/v1/changes/",
  operationId: "listChanges",
  tag: "Changes",
  audience: "public",
  scope: "reports:read",
  summary: "List changes",
  description: [
    "Returns the changes of a location's reports, orders, catalog and location data, in the order in which they were stored. With it, you can keep a copy of the data in step.",
    "Without `after`, the feed begins with the oldest entry, and contains everything that exists. Store `nextCursor` together with your copy, and continue with `after=<nextCursor>`. With `wait`, a request without changes waits until there is a change, for at most that number of seconds.",
    "The feed contains each thing once: when it changes again, its entry moves to the end. You therefore receive the last change of each thing, but not each change in between, and `created` can be followed or replaced by `replaced`. Treat both in the same way. A cursor never expires.",
    "Type `order` covers the orders of closed shifts, which `/v1/orders/` and `/v2/orders/` return. To follow orders of open shifts, use the stream of live orders or webhooks.",
    "The operation requires the scope `reports:read`. Changes of other types require `orders:read`, `catalog:read` and `locations:read`. By default, the feed contains the types that the API key can read. With another key or other `types`, the feed continues at the same position: earlier changes of additional types are not repeated.",
    "A key with the scope `locations:any` follows one location at a time.",
  ].join("\n\n"),
  request: { query: z.object({ ...changesQueryShape, locationId: locationIdQueryParameter() }) },
  responses: { 200: { description: "A page of changes, which can be empty", schema: ChangePage } },
  errors: ["invalid_cursor", "location_forbidden", "location_not_found", "too_many_waiting_requests"],
  async handle({ query, principal, services, context, signal, origin }) {
    const { db, changeWaiters } = services;
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const types = resolveChangeTypes(principal, query.types);
    let lastPosition = await findLastChangePosition(db.sql, locationId);
    if (lastPosition === undefined) {
      // Makes sure that an operator's location exists.
      await resolveRequestedLocation(principal, locationId, services.locations, context);
      lastPosition = await db.transaction((tx) => lockChangeFeedReturningPosition(tx, locationId));
    }
    const after = resolveCursor(locationId, query.after, lastPosition);
    const read = async (from: ChangeCursor): Promise<ChangeEntriesPage> => {
      const page = await readChangeEntries(db.sql, { locationId, after: from, types, size: query.size });
      // The location was removed in the meantime.
      if (!page) throw new ApiError("location_not_found");
      return page;
    };
    const respond = ({ entries, next, hasMore }: ChangeEntriesPage) => {
      const data = entries.map(({ type, action, id, revision, changedAt, next: cursor }): Change => {
        const href = `${origin}${buildChangePath({ type, id }, principal)}`;
        const at = changedAt.toISOString();
        return { cursor: encodeChangeCursor(locationId, cursor), type, action, id, revision, at, href };
      });
      const page: ChangePage = { data, nextCursor: encodeChangeCursor(locationId, next), hasMore };
      return jsonResponse(200, page, { "cache-control": "no-store" });
    };
    if (query.wait === 0) return respond(await read(after));
    const waiter = changeWaiters.open({
      ...{ locationId, keyId: principal.keyId, timeoutMs: query.wait * 1_000, signal },
    });
    try {
      let page = await read(after);
      while (page.entries.length === 0 && !page.hasMore && (await waiter.waitForPosition(page.next.position)))
        page = await read(page.next);
      return respond(page);
    } finally {
      waiter.close();
    }
  },
});

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

/** @throws `ApiError` invalid_cursor when the cursor is not of this location, or after the end of its feed. */
function resolveCursor(locationId: string, after: string | undefined, lastPosition: number): ChangeCursor {
  if (after === undefined) return changeFeedStart;
  if (after === "now") return { position: lastPosition + 1, offset: 0 };
  const cursor = decodeChangeCursor(locationId, after);
  // The database was restored from a backup that does not contain the end of the feed.
  if (cursor.position > lastPosition + 1) throw createInvalidCursorError();
  return cursor;
}

function buildChangePath({ type, id }: Pick<Change, "type" | "id">, { location }: Principal): string {
  if (type === "report") return `/v2/reports/${id}`;
  if (type === "order") return `/v2/orders/${id}`;
  const isOwnLocation = location?.id === id;
  if (type === "catalog") return isOwnLocation ? "/v1/catalog/" : `/v1/catalog/?locationId=${id}`;
  return isOwnLocation ? "/v1/locations/own" : `/v1/locations/${id}`;
}
