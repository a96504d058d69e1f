import { ApiError } from "@pragma/contracts/errors";
import type { FetchedLegacyTills, LegacyTill } from "@pragma/contracts/legacy-till";
import type { LocationFacts, Principal } from "@pragma/contracts/principal";
import type { RequestContext } from "@pragma/runtime/request-context";
import { createSemaphore } from "@pragma/runtime/semaphore";
import { acceptTill } from "../accept-till.ts";
import { findHeldServerIds } from "../queries/tills.ts";
import type { TillIngest } from "../till-ingest.ts";
import { legacyLocation } from "../till-location.ts";
import { addressOf, askBackoffice, BackofficeFailure } from "./backoffice.ts";

/** No till is begun later than this after the call, in milliseconds: its reply is waited for no longer than that allows. */
const callTime = 20_000;
const tooLate = "Not fetched yet: one call does not take that long. Call again for the rest.";

/** Of a till's body, inflated. */
const tillLimit = 20 * 1024 * 1024;

interface FetchTills {
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
  services: TillIngest,
  { wanted, principal, signal, context }: FetchTills,
): Promise<FetchedLegacyTills[]> {
  const deadline = Date.now() + callTime;
  const places = createSemaphore(services.config.LEGACY_CONCURRENCY);
  const locations = await Promise.all(
    byLocation(wanted).map((tills) => places.run(() => locate(services, { tills, principal, context }))),
  );
  for (const { application } of wanted) addressOf(services.config, application);

  async function outcomeOf(till: LegacyTill, location: LocationFacts): Promise<string | undefined> {
    if (Date.now() > deadline) return tooLate;
    try {
      await fetchLegacyTill(services, { wanted: till, location, principal, signal, context });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BackofficeFailure || error instanceof ApiError) return error.message;
      services.log.error({ err: error, serverId: till.serverId }, "legacy till not accepted");
      return "Something went wrong on our side. Call again.";
    }
  }

  return Promise.all(
    locations.map(async ({ tills, location }) => {
      if (!location) return { locationId: null, success: [], errors: tills.map(unknownLocation) };
      const held = await findHeldServerIds(
        services.db.sql,
        location.id,
        tills.map(({ serverId }) => serverId),
      );
      const reply: FetchedLegacyTills = { locationId: location.id, success: [], errors: [] };
      const outcomes = tills.map((till) =>
        held.has(till.serverId) ? undefined : places.run(() => outcomeOf(till, location)),
      );
      for (const [index, message] of (await Promise.all(outcomes)).entries()) {
        const serverId = tills[index]?.serverId ?? 0;
        if (message === undefined) reply.success.push(serverId);
        else reply.errors.push({ message, serverId });
      }
      return reply;
    }),
  );
}

/** The tills of each location, each till once. */
function byLocation(wanted: LegacyTill[]): LegacyTill[][] {
  const locations = new Map<string, Map<number, LegacyTill>>();
  for (const till of wanted) {
    const name = `${till.application} ${till.legacyId}`;
    const tills = locations.get(name) ?? new Map<number, LegacyTill>();
    locations.set(name, tills.set(till.serverId, till));
  }
  return [...locations.values()].map((tills) => [...tills.values()]);
}

/** Tills of one location, and the location if it is known here. */
async function locate(
  { locations }: Pick<TillIngest, "locations">,
  { tills, principal, context }: { tills: LegacyTill[]; principal: Principal; context: RequestContext },
): Promise<{ tills: LegacyTill[]; location: LocationFacts | undefined }> {
  const [first] = tills;
  if (!first) return { tills: [], location: undefined };
  try {
    return { tills, location: await legacyLocation(principal, first, locations, context) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "location_not_found") throw error;
    return { tills, location: undefined };
  }
}

function unknownLocation({ application, legacyId, serverId }: LegacyTill): { message: string; serverId: number } {
  return { message: `There is no location of ${application} with the legacyId ${legacyId}.`, serverId };
}

/**
 * Fetches a till from its legacy backoffice and accepts it as if it were pushed.
 *
 * @throws `BackofficeFailure`; `ApiError` as a push does.
 */
async function fetchLegacyTill(
  services: TillIngest,
  {
    wanted,
    location,
    principal,
    signal,
    context,
  }: Omit<FetchTills, "wanted"> & { wanted: LegacyTill; location: LocationFacts },
): Promise<void> {
  const { config } = services;
  const address = addressOf(config, wanted.application);
  const bytes = await askBackoffice(address, `/tills/${wanted.serverId}`, { config, limit: tillLimit, signal });
  const till = await services.reader.read(bytes, "V1", location.id);
  if ("faults" in till) {
    const [first] = till.faults;
    throw new BackofficeFailure(
      `The till is not valid: ${till.count} faults, the first at ${first?.path}: ${first?.message}`,
    );
  }
  const { serverId, legacyLocation } = till.facts;
  const isOther = legacyLocation.application !== wanted.application || legacyLocation.legacyId !== wanted.legacyId;
  if (isOther)
    throw new BackofficeFailure(
      "The till that the backoffice gave belongs to another location than it was listed under.",
    );
  if (serverId !== null && serverId !== wanted.serverId) {
    throw new BackofficeFailure(`The backoffice gave another till: ${serverId}.`);
  }
  const facts = { ...till.facts, serverId: wanted.serverId };
  await acceptTill(services, { location, till: { ...till, facts }, principal, context });
}
