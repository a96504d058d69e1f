import { DeadLetter, RetriedDeadLetters, ServiceNameSchema } from "@pragma/contracts/dead-letter";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { z } from "zod";
import { createRouteDefiner, type ServiceRouteDefinition } from "../http/define-route.ts";
import { queryNewestRowsPageResponse } from "../http/page-response.ts";
import { jsonResponse } from "../http/route-response.ts";
import type { AuditSource } from "../messaging/audit-events.ts";
import { buildDeadLetterListSql, type DeadLetterRow } from "../messaging/dead-letters.ts";
import { type OwnServiceContext, requireOwnName, serviceRouteDefaults } from "./own-service.ts";

export interface DeadLetterRoutesContext extends OwnServiceContext {
  /** Retries the dead letters of an event now, and deletes each dead letter whose retry succeeds. */
  retryDeadLetters(eventId: string, audit: AuditSource): Promise<RetriedDeadLetters["retries"]>;
}

const defineDeadLetterRoute = createRouteDefiner<DeadLetterRoutesContext>();

/** Returns the parts of the item `DeadLetter` that a row contains under other names. */
const toDeadLetter = ({ id, createdAt, ...row }: DeadLetterRow) => ({ eventId: id, ...row, deadLetteredAt: createdAt });

const listDeadLettersRoute = defineDeadLetterRoute({
  method: "get",
  path: "/v1/services/{service}/dead-letters",
  operationId: "listDeadLetters",
  ...serviceRouteDefaults,
  summary: "List dead letters",
  description:
    "Returns the events that a service could not process, latest failure first, with the reason. The events after them are processed. Events that fail for a temporary reason, such as a database that is down, are not in this list, because they are retried until they succeed.",
  request: { params: z.object({ service: ServiceNameSchema }), query: z.object(paginationQueryShape) },
  responses: { 200: { description: "A page of dead letters", schema: paginatedSchema(DeadLetter) } },
  errors: ["invalid_page_token"],
  async handle({ params, query, principal, services, url, origin }) {
    requireOwnName(params.service, services);
    const { sql } = services.db;
    const list = { ...buildDeadLetterListSql(sql), toItem: toDeadLetter };
    return queryNewestRowsPageResponse({ query, locationId: null, principal, url, origin }, sql, list);
  },
});

const retryDeadLetterRoute = defineDeadLetterRoute({
  method: "post",
  path: "/v1/services/{service}/dead-letters/{eventId}/retry",
  operationId: "retryDeadLetter",
  ...serviceRouteDefaults,
  summary: "Retry a dead letter",
  description:
    "Processes an event again that a service could not process, and deletes its dead letter if this succeeds. If the service has no dead letter of the event, for example because another operator has retried it, nothing changes. Successful retries are part of the audit log.",
  request: {
    params: z.object({
      service: ServiceNameSchema,
      eventId: z.guid().meta({ description: "ID of the event, as in the list of dead letters" }),
    }),
  },
  responses: { 200: { description: "The results of the retry", schema: RetriedDeadLetters } },
  errors: [],
  isIdempotent: true,
  async handle({ params, services, audit }) {
    requireOwnName(params.service, services);
    return jsonResponse(200, { retries: await services.retryDeadLetters(params.eventId, audit) });
  },
});

/** The routes that every service has, so that operators can list and retry its dead letters. */
export const deadLetterRoutes: ServiceRouteDefinition<DeadLetterRoutesContext>[] = [
  listDeadLettersRoute,
  retryDeadLetterRoute,
];
