import fc from "fast-check";
import { type ApiOperation, apiOperations } from "../contract/api-operations.ts";
import type { OperationRequest } from "../contract/operation-contract.ts";
import { type VictimData, type VictimResourceKind, victimResourceKinds } from "./victim-data.ts";

/** Requests that an operation is known to answer in some way: the stranger's own, and those of the other location. */
export type KnownRequests = Map<string, OperationRequest[]>;

/** A request to be: which operation, which of its known requests, and what of another location is put into it. */
export interface CrossLocationRequest {
  operation: ApiOperation;
  ask: number;
  path: VictimResourceKind | null;
  query: {
    locationId?: VictimResourceKind;
    reportId?: VictimResourceKind;
    tillId?: VictimResourceKind;
    pageToken?: number;
    legacyId?: true;
  };
  headers: { "idempotency-key"?: true; "if-none-match"?: number; "last-event-id"?: number };
}

const resourceKindArbitrary = fc.constantFrom(...victimResourceKinds);
const mostlyLocationArbitrary = fc.oneof(
  { weight: 4, arbitrary: fc.constant("location" as const) },
  resourceKindArbitrary,
);

/** Any operation that needs a key, with ids, filters, page tokens and entity tags of another location. */
export const crossLocationRequestArbitrary: fc.Arbitrary<CrossLocationRequest> = fc.record({
  operation: fc.constantFrom(...apiOperations.filter(({ scope }) => scope !== undefined)),
  ask: fc.nat(100),
  path: fc.option(resourceKindArbitrary, { freq: 3 }),
  query: fc.record(
    {
      locationId: mostlyLocationArbitrary,
      reportId: resourceKindArbitrary,
      tillId: resourceKindArbitrary,
      pageToken: fc.nat(20),
      legacyId: fc.constant(true),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<CrossLocationRequest["query"]>,
  headers: fc.record(
    { "idempotency-key": fc.constant(true), "if-none-match": fc.nat(50), "last-event-id": fc.nat(3) },
    { requiredKeys: [] },
  ) as fc.Arbitrary<CrossLocationRequest["headers"]>,
});

/** The request as it is sent. */
export function buildCrossLocationRequest(
  { operation, ask, path, query, headers }: CrossLocationRequest,
  repertoire: KnownRequests,
  loot: VictimData,
) {
  const { ids, pageTokens, etags } = loot;
  const known = repertoire.get(operation.id) ?? [];
  const ordinary: OperationRequest = known[ask % known.length] ?? {};
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
    query: omitUndefinedFields({
      ...ordinary.query,
      locationId: locationId === undefined ? ordinary.query?.locationId : ids[locationId],
      reportId: reportId && ids[reportId],
      tillId: tillId && ids[tillId],
      pageToken: token,
      legacyId: legacyId ? loot.legacyId : ordinary.query?.legacyId,
    }),
    headers: omitUndefinedFields({
      ...ordinary.headers,
      "idempotency-key": headers["idempotency-key"] && loot.idempotencyKey,
      "if-none-match": etag,
      "last-event-id":
        headers["last-event-id"] === undefined ? undefined : `${ids.location}:${headers["last-event-id"]}`,
    }),
  } satisfies OperationRequest;
}

function omitUndefinedFields(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined),
  );
}
