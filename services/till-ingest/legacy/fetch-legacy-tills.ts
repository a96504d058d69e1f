import { ApiError } from "@pragma/contracts/errors";
import type { LegacyFetchResults, LegacyTill } from "@pragma/contracts/legacy-till";
import type { LocationRef, Principal } from "@pragma/contracts/principal";
import { Admission } from "@pragma/runtime/admission/admission";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { TillIngestServiceContext } from "../context.ts";
import { ignoreMissingLocation, resolveLegacyLocation } from "../resolve-till-location.ts";
import { storePushedTill } from "../store-pushed-till.ts";
import { fetchFromLegacyBackoffice, LegacyBackofficeError, requireBackofficeUrl } from "./backoffice.ts";

/** Milliseconds after which a call starts no more fetches, so that it responds before its caller's timeout. */
const fetchStartLimitMs = 20_000;
const deadlineMessage =
  "The till was not fetched, because this call reached its time limit. Repeat the call to fetch the remaining tills.";

/** Maximum size of a till body after decompression, in bytes. */
const maxTillBytes = 20 * 1024 * 1024;

interface LegacyTillFetch {
  tills: LegacyTill[];
  principal: Principal;
  signal: AbortSignal;
  context: ObservabilityContext;
}

/**
 * Fetches tills from legacy backoffices, stores them, and returns the result of each till, grouped by location.
 * Existing tills count as successes and are not fetched again. A failed till does not affect the others. @throws
 * `ApiError` location_forbidden if the API key may not act for the location of a till; legacy_not_configured.
 */
export async function fetchAndStoreLegacyTills(
  services: TillIngestServiceContext,
  { tills: requestedTills, ...request }: LegacyTillFetch,
): Promise<LegacyFetchResults[]> {
  const deadline = Date.now() + fetchStartLimitMs;
  const fetches = new Admission({ perProcess: services.config.LEGACY_CONCURRENCY });
  const findLocationOf = (till: LegacyTill) =>
    ignoreMissingLocation(resolveLegacyLocation(request.principal, till, services.locations, request.context));
  const groups = await Promise.all(
    groupByLocation(requestedTills).map((tills) =>
      fetches.run(async () => ({ tills, location: await findLocationOf(tills[0]) })),
    ),
  );
  for (const { application } of requestedTills) requireBackofficeUrl(services.config, application);

  async function tryFetchTill(till: LegacyTill, location: LocationRef): Promise<string | undefined> {
    if (Date.now() > deadline) return deadlineMessage;
    try {
      await fetchLegacyTill(services, till, { location, ...request });
      return undefined;
    } catch (error) {
      request.signal.throwIfAborted();
      if (error instanceof LegacyBackofficeError || error instanceof ApiError) return error.message;
      services.log.error({ err: error, serverId: till.serverId }, "legacy till import failed");
      return "An internal error occurred. Repeat the call to fetch this till.";
    }
  }

  return Promise.all(
    groups.map(async ({ tills, location }) => {
      if (!location) {
        const message = `No ${tills[0].application} location has the legacyId ${tills[0].legacyId}.`;
        return { locationId: null, success: [], errors: tills.map(({ serverId }) => ({ message, serverId })) };
      }
      const serverIds = tills.map(({ serverId }) => serverId);
      const existing = await services.db.sql<{ serverId: number }[]>`
        select server_id from tills
        where location_id = ${location.id} and server_id = any(${serverIds}::bigint[]) and server_id is not null`;
      const existingServerIds = new Set(existing.map(({ serverId }) => serverId));
      const result: LegacyFetchResults = { locationId: location.id, success: [], errors: [] };
      const outcomes = await Promise.all(
        tills.map(async (till) => ({
          serverId: till.serverId,
          message: existingServerIds.has(till.serverId)
            ? undefined
            : await fetches.run(() => tryFetchTill(till, location)),
        })),
      );
      for (const { serverId, message } of outcomes) {
        if (message === undefined) result.success.push(serverId);
        else result.errors.push({ message, serverId });
      }
      return result;
    }),
  );
}

/** Groups tills by location, without duplicates. Each group has at least one till. */
function groupByLocation(legacyTills: LegacyTill[]): [LegacyTill, ...LegacyTill[]][] {
  const locations = new Map<string, Map<number, LegacyTill>>();
  for (const till of legacyTills) {
    const locationKey = `${till.application} ${till.legacyId}`;
    const tills = locations.get(locationKey) ?? new Map<number, LegacyTill>();
    locations.set(locationKey, tills.set(till.serverId, till));
  }
  return [...locations.values()].map((tills) => [...tills.values()] as [LegacyTill, ...LegacyTill[]]);
}

/** Fetches a till and stores it. @throws `LegacyBackofficeError`; the `ApiError`s of a push; the abort reason. */
async function fetchLegacyTill(
  services: TillIngestServiceContext,
  { application, legacyId, serverId }: LegacyTill,
  { location, principal, signal, context }: Omit<LegacyTillFetch, "tills"> & { location: LocationRef },
): Promise<void> {
  const request = { application, path: `/tills/${serverId}`, maxBytes: maxTillBytes, signal };
  const body = await fetchFromLegacyBackoffice(services.config, request);
  const { result: till, bytes } = await services.reader.read(body, "V1", location.id);
  if ("issues" in till) {
    const [first] = till.issues;
    throw new LegacyBackofficeError(
      `The till is invalid. Number of issues: ${till.count}. The first issue is at ${first?.path}: ${first?.message}`,
    );
  }
  const { serverId: statedId, legacyLocation } = till.metadata;
  if (legacyLocation?.application !== application || legacyLocation.legacyId !== legacyId)
    throw new LegacyBackofficeError(
      "The backoffice returned a till of a different location than in its list of tills.",
    );
  if (statedId !== null && statedId !== serverId)
    throw new LegacyBackofficeError(`The backoffice returned the till ${statedId} instead of the requested till.`);
  const metadata = { ...till.metadata, serverId };
  await storePushedTill(services, { location, till: { ...till, bytes, metadata }, principal, context });
}
