import { ApiError } from "@pragma/contracts/errors";
import type { FetchedLegacyTills, LegacyTill } from "@pragma/contracts/legacy-till";
import type { LocationRef, Principal } from "@pragma/contracts/principal";
import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import { acceptTill } from "../accept-till.ts";
import type { TillIngestContext } from "../context.ts";
import { findExistingServerIds } from "../queries/tills.ts";
import { resolveLegacyLocation } from "../resolve-till-location.ts";
import { BackofficeError, fetchFromBackoffice, requireBackofficeAddress } from "./backoffice.ts";

/** No till is begun later than this after the call, in milliseconds: its reply is waited for no longer than that allows. */
const maxCallMs = 20_000;
const deadlineMessage = "Not fetched yet: one call does not take that long. Call again for the rest.";

/** Of a till's body, inflated. */
const maxTillBytes = 20 * 1024 * 1024;

interface LegacyTillFetch {
  wanted: LegacyTill[];
  principal: Principal;
  signal: AbortSignal;
  context: RequestContext;
}

/**
 * Fetches tills from legacy backoffices, a few at a time; what became of each, by location. Those that are here already
 * are not fetched again, and one that fails holds up no other.
 *
 * @throws `ApiError` location_forbidden for tills of a location that the key may not act for; legacy_not_configured.
 */
export async function fetchLegacyTills(
  services: TillIngestContext,
  { wanted, principal, signal, context }: LegacyTillFetch,
): Promise<FetchedLegacyTills[]> {
  const deadline = Date.now() + maxCallMs;
  const semaphore = createKeyedSemaphore(services.config.LEGACY_CONCURRENCY);
  const locations = await Promise.all(
    groupByLocation(wanted).map((tills) =>
      semaphore.run(() => findLocationOfTills(services, { tills, principal, context })),
    ),
  );
  for (const { application } of wanted) requireBackofficeAddress(services.config, application);

  async function tryFetchTill(till: LegacyTill, location: LocationRef): Promise<string | undefined> {
    if (Date.now() > deadline) return deadlineMessage;
    try {
      await fetchLegacyTill(services, { wanted: till, location, principal, signal, context });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BackofficeError || error instanceof ApiError) return error.message;
      services.log.error({ err: error, serverId: till.serverId }, "legacy till not accepted");
      return "Something went wrong on our side. Call again.";
    }
  }

  return Promise.all(
    locations.map(async ({ tills, location }) => {
      if (!location) return { locationId: null, success: [], errors: tills.map(unknownLocationError) };
      const heldServerIds = await findExistingServerIds(
        services.db.sql,
        location.id,
        tills.map(({ serverId }) => serverId),
      );
      const result: FetchedLegacyTills = { locationId: location.id, success: [], errors: [] };
      const outcomes = tills.map((till) =>
        heldServerIds.has(till.serverId) ? undefined : semaphore.run(() => tryFetchTill(till, location)),
      );
      for (const [index, message] of (await Promise.all(outcomes)).entries()) {
        const serverId = tills[index]?.serverId ?? 0;
        if (message === undefined) result.success.push(serverId);
        else result.errors.push({ message, serverId });
      }
      return result;
    }),
  );
}

/** The tills of each location, each till once. */
function groupByLocation(wanted: LegacyTill[]): LegacyTill[][] {
  const locations = new Map<string, Map<number, LegacyTill>>();
  for (const till of wanted) {
    const name = `${till.application} ${till.legacyId}`;
    const tills = locations.get(name) ?? new Map<number, LegacyTill>();
    locations.set(name, tills.set(till.serverId, till));
  }
  return [...locations.values()].map((tills) => [...tills.values()]);
}

/** Tills of one location, and the location if it is known here. */
async function findLocationOfTills(
  { locations }: Pick<TillIngestContext, "locations">,
  { tills, principal, context }: { tills: LegacyTill[]; principal: Principal; context: RequestContext },
): Promise<{ tills: LegacyTill[]; location: LocationRef | undefined }> {
  const [first] = tills;
  if (!first) return { tills: [], location: undefined };
  try {
    return { tills, location: await resolveLegacyLocation(principal, first, locations, context) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "location_not_found") throw error;
    return { tills, location: undefined };
  }
}

function unknownLocationError({ application, legacyId, serverId }: LegacyTill): { message: string; serverId: number } {
  return { message: `There is no location of ${application} with the legacyId ${legacyId}.`, serverId };
}

/**
 * Fetches a till from its legacy backoffice and accepts it as if it were pushed.
 *
 * @throws `BackofficeFailure`; `ApiError` as a push does.
 */
async function fetchLegacyTill(
  services: TillIngestContext,
  {
    wanted,
    location,
    principal,
    signal,
    context,
  }: Omit<LegacyTillFetch, "wanted"> & { wanted: LegacyTill; location: LocationRef },
): Promise<void> {
  const { config } = services;
  const address = requireBackofficeAddress(config, wanted.application);
  const bytes = await fetchFromBackoffice(address, `/tills/${wanted.serverId}`, {
    config,
    maxBytes: maxTillBytes,
    signal,
  });
  const till = await services.reader.read(bytes, "V1", location.id);
  if ("issues" in till) {
    const [first] = till.issues;
    throw new BackofficeError(
      `The till is not valid: ${till.count} faults, the first at ${first?.path}: ${first?.message}`,
    );
  }
  const { serverId, legacyLocation } = till.facts;
  const isOther = legacyLocation.application !== wanted.application || legacyLocation.legacyId !== wanted.legacyId;
  if (isOther)
    throw new BackofficeError(
      "The till that the backoffice gave belongs to another location than it was listed under.",
    );
  if (serverId !== null && serverId !== wanted.serverId) {
    throw new BackofficeError(`The backoffice gave another till: ${serverId}.`);
  }
  const facts = { ...till.facts, serverId: wanted.serverId };
  await acceptTill(services, { location, till: { ...till, facts }, principal, context });
}
