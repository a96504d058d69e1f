import { ApiError } from "@pragma/contracts/errors";
import type { LocationFacts, Principal } from "@pragma/contracts/principal";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import type { RequestContext } from "@pragma/runtime/request-context";
import { isBodyOf, newTill } from "./accept-till.ts";
import { announceTill } from "./announce-till.ts";
import { intend, settleIntent } from "./queries/object-intents.ts";
import { insertVersion } from "./queries/till-versions.ts";
import { findTill, lockTill, nextRevision, type TillRow } from "./queries/tills.ts";
import type { ReceivedTill } from "./till-body.ts";
import type { TillIngest } from "./till-ingest.ts";
import { consumeTillQuotas } from "./till-quotas.ts";

interface ReplaceTill {
  location: LocationFacts;
  till: ReceivedTill;
  principal: Principal;
  context: RequestContext;
}

/**
 * Puts another body in the place of a till's, as its next revision: its report keeps its id, and everything else follows
 * from the new body. Earlier bodies are kept. The body that it has already changes nothing, nor does the one that it had
 * until personal data was erased from it: a request that is repeated brings none of that back.
 *
 * @throws `ApiError` till_not_found when the location has no such till; quota_exceeded when it has made too many
 * revisions today.
 */
export async function replaceTill(
  {
    db,
    objects,
    sweepAfter,
    quotas,
    revisionQuota,
  }: Pick<TillIngest, "db" | "objects" | "sweepAfter" | "quotas" | "revisionQuota">,
  { location, till, principal, context }: ReplaceTill,
): Promise<TillRow> {
  const body = newTill(location, till);
  const before = await findTill(db.sql, body.id);
  if (before?.locationId === location.id && isBodyOf(before, body)) return before;

  await consumeTillQuotas(db.sql, quotas, body);
  body.objectKey = await intend(db.sql, body.objectKey);
  await objects.put(body.objectKey, till.bytes);
  return db.transaction(async (tx) => {
    const known = await lockTill(tx, body.id);
    if (known?.locationId !== location.id) {
      throw new ApiError("till_not_found", { detail: `This location has no till ${body.id} to replace: push it.` });
    }
    // Erased since: what was written above is nobody's then, and goes as an orphan.
    if (known.pushedHash === body.hash) return known;
    if (known.hash === body.hash) {
      await settleIntent(tx, body.objectKey);
      return known;
    }
    await consumeDailyQuota(tx, { locationId: location.id, quota: revisionQuota, amount: 1 });
    const replaced = await nextRevision(tx, known, { body, sweepAfter });
    await insertVersion(tx, replaced, { reason: "replace", keyId: principal.keyId, consumer: principal.consumer });
    await announceTill(tx, replaced, { reason: "replace", traceparent: context.traceparent });
    await settleIntent(tx, body.objectKey);
    return replaced;
  });
}
