import fc from "fast-check";
import { apiOperations, type DocumentedApiOperation } from "../contract/api-operations.ts";
import type { ContractTestRequest } from "../contract/operation-contract.ts";
import {
  type IsolationVictimData,
  type IsolationVictimResourceKind,
  isolationVictimResourceKinds,
} from "./victim-data.ts";

/** Requests with a known outcome, by operation id. They include requests of both locations. */
export type ContractTestRequestsByOperationId = Map<string, ContractTestRequest[]>;

/** A generated request of the other location. It consists of a known request and inserted data of the victim. */
export interface CrossLocationTestRequest {
  operation: DocumentedApiOperation;
  /** Selects a known request of the operation: the request at this index modulo the number of known requests. */
  requestIndex: number;
  path: IsolationVictimResourceKind | null;
  query: {
    locationId?: IsolationVictimResourceKind;
    reportId?: IsolationVictimResourceKind;
    tillId?: IsolationVictimResourceKind;
    pageToken?: number;
    legacyId?: true;
    allLocations?: true;
  };
  headers: { "idempotency-key"?: true; "if-none-match"?: number; "last-event-id"?: number };
}

const resourceKindArbitrary = fc.constantFrom(...isolationVictimResourceKinds);
const mostlyLocationArbitrary = fc.oneof(
  { weight: 4, arbitrary: fc.constant("location" as const) },
  resourceKindArbitrary,
);

/** Generates requests to operations that require an API key, with ids, filters, page tokens and ETags of the victim. */
export const crossLocationRequest: fc.Arbitrary<CrossLocationTestRequest> = fc.record({
  operation: fc.constantFrom(...apiOperations.filter(({ scope }) => scope !== undefined)),
  requestIndex: fc.nat(100),
  path: fc.option(resourceKindArbitrary, { freq: 3 }),
  query: fc.record(
    {
      locationId: mostlyLocationArbitrary,
      reportId: resourceKindArbitrary,
      tillId: resourceKindArbitrary,
      pageToken: fc.nat(20),
      legacyId: fc.constant(true),
      allLocations: fc.constant(true),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<CrossLocationTestRequest["query"]>,
  headers: fc.record(
    { "idempotency-key": fc.constant(true), "if-none-match": fc.nat(50), "last-event-id": fc.nat(3) },
    { requiredKeys: [] },
  ) as fc.Arbitrary<CrossLocationTestRequest["headers"]>,
});

/** Returns the request in a form that can be sent, with the data of the victim inserted. */
export function buildCrossLocationTestRequest(
  { operation, requestIndex, path, query, headers }: CrossLocationTestRequest,
  knownRequests: ContractTestRequestsByOperationId,
  victimData: IsolationVictimData,
) {
  const { ids, pageTokens, etags } = victimData;
  const known = knownRequests.get(operation.id) ?? [];
  const baseRequest: ContractTestRequest = known[requestIndex % known.length] ?? {};
  const { locationId, reportId, tillId, pageToken, legacyId, allLocations } = query;
  const token = pageToken === undefined ? undefined : pageTokens[pageToken % pageTokens.length];
  const etagIndex = headers["if-none-match"];
  const etag = etagIndex === undefined ? undefined : etags[etagIndex % etags.length];
  // Sends the victim's Idempotency-Key with the victim's body. The API must not return the victim's stored response.
  const isRepeated = headers["idempotency-key"] && operation.id === "createApiKey";
  return {
    ...baseRequest,
    ...(isRepeated && { body: victimData.keyBody }),
    path: { ...baseRequest.path, ...(path && { id: ids[path] }) },
    query: omitUndefinedFields({
      ...baseRequest.query,
      locationId: locationId === undefined ? baseRequest.query?.locationId : ids[locationId],
      reportId: reportId && ids[reportId],
      tillId: tillId && ids[tillId],
      pageToken: token,
      allLocations: allLocations && "true",
      legacyId: legacyId ? victimData.legacyId : baseRequest.query?.legacyId,
    }),
    headers: omitUndefinedFields({
      ...baseRequest.headers,
      "idempotency-key": headers["idempotency-key"] && victimData.idempotencyKey,
      "if-none-match": etag,
      "last-event-id":
        headers["last-event-id"] === undefined ? undefined : `${ids.location}:${headers["last-event-id"]}`,
    }),
  } satisfies ContractTestRequest;
}

function omitUndefinedFields(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined),
  );
}
