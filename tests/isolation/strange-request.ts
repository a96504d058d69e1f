import fc from "fast-check";
import type { Ask } from "../contract/contract.ts";
import { type Operation, operations } from "../contract/operations.ts";
import { type Loot, type StolenThing, stolenThings } from "./victim.ts";

/** Requests that an operation is known to answer in some way: the stranger's own, and those of the other location. */
export type Repertoire = Map<string, Ask[]>;

/** A request to be: which operation, which of its known requests, and what of another location is put into it. */
export interface StrangeRequest {
  operation: Operation;
  ask: number;
  path: StolenThing | null;
  query: {
    locationId?: StolenThing;
    reportId?: StolenThing;
    tillId?: StolenThing;
    pageToken?: number;
    legacyId?: true;
  };
  headers: { "idempotency-key"?: true; "if-none-match"?: number; "last-event-id"?: number };
}

const stolen = fc.constantFrom(...stolenThings);
const mostlyLocation = fc.oneof({ weight: 4, arbitrary: fc.constant("location" as const) }, stolen);

/** Any operation that needs a key, with ids, filters, page tokens and entity tags of another location. */
export const strangeRequests: fc.Arbitrary<StrangeRequest> = fc.record({
  operation: fc.constantFrom(...operations.filter(({ scope }) => scope !== undefined)),
  ask: fc.nat(100),
  path: fc.option(stolen, { freq: 3 }),
  query: fc.record(
    {
      locationId: mostlyLocation,
      reportId: stolen,
      tillId: stolen,
      pageToken: fc.nat(20),
      legacyId: fc.constant(true),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<StrangeRequest["query"]>,
  headers: fc.record(
    { "idempotency-key": fc.constant(true), "if-none-match": fc.nat(50), "last-event-id": fc.nat(3) },
    { requiredKeys: [] },
  ) as fc.Arbitrary<StrangeRequest["headers"]>,
});

/** The request as it is sent. */
export function strangeAsk(
  { operation, ask, path, query, headers }: StrangeRequest,
  repertoire: Repertoire,
  loot: Loot,
) {
  const { ids, pageTokens, etags } = loot;
  const known = repertoire.get(operation.id) ?? [];
  const ordinary: Ask = known[ask % known.length] ?? {};
  const { locationId, reportId, tillId, pageToken, legacyId } = query;
  const token = pageToken === undefined ? undefined : pageTokens[pageToken % pageTokens.length];
  const match = headers["if-none-match"];
  const etag = match === undefined ? undefined : etags[match % etags.length];
  // The other location's very request, under its Idempotency-Key.
  const isRepeated = headers["idempotency-key"] && operation.id === "createApiKey";
  return {
    ...ordinary,
    ...(isRepeated && { body: loot.keyBody }),
    path: { ...ordinary.path, ...(path && { id: ids[path] }) },
    query: given({
      ...ordinary.query,
      locationId: locationId === undefined ? ordinary.query?.locationId : ids[locationId],
      reportId: reportId && ids[reportId],
      tillId: tillId && ids[tillId],
      pageToken: token,
      legacyId: legacyId ? loot.legacyId : ordinary.query?.legacyId,
    }),
    headers: given({
      ...ordinary.headers,
      "idempotency-key": headers["idempotency-key"] && loot.idempotencyKey,
      "if-none-match": etag,
      "last-event-id":
        headers["last-event-id"] === undefined ? undefined : `${ids.location}:${headers["last-event-id"]}`,
    }),
  } satisfies Ask;
}

function given(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined),
  );
}
