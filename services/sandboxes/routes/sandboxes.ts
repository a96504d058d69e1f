import { createAdminApiClient } from "@pragma/client/api-client";
import { nullOnProblem } from "@pragma/client/api-problem";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import {
  CreatedSandbox,
  CreateSandboxEventRequest,
  maxSandboxMessages,
  Sandbox,
  SandboxEvent,
  SandboxMessage,
} from "@pragma/contracts/sandbox";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { z } from "zod";
import { defineSandboxesRoute, requireSandboxesOn, type SandboxesContext, type SandboxServices } from "../context.ts";
import { createSandbox } from "../create-sandbox.ts";
import { countFilledDays, listFillingSteps } from "../fill-sandbox.ts";
import { buildMessageListSql } from "../queries/messages.ts";
import { expireSandbox, type SandboxWithLocation, useSandboxOfLocation } from "../queries/sandboxes.ts";
import { listDayProblems, listSandboxDays } from "../sandbox-days.ts";
import { runSandboxEvent } from "../sandbox-events.ts";

const sandboxRouteDefaults = { tag: "Sandboxes", audience: "public" } as const;
const currentSandboxRoute = { ...sandboxRouteDefaults, scope: "any" } as const;

const toLinks = (origin: string, paths: Record<string, string>) =>
  Object.entries(paths).map(([title, path]) => ({ title, url: `${origin}${path}` }));

/** Returns the sandbox of the API key. @throws `ApiError` sandboxes_off, sandbox_not_found. */
async function requireOwnSandbox(services: SandboxesContext, { location }: Principal) {
  const sandboxes = requireSandboxesOn(services);
  const sandbox = location && (await useSandboxOfLocation(sandboxes.db, location.id));
  if (sandbox) return { sandboxes, sandbox };
  throw new ApiError("sandbox_not_found", {
    detail: "Only the API key of a sandbox can use this operation. Create a sandbox with POST /v1/sandboxes.",
  });
}

export const createSandboxRoute = defineSandboxesRoute({
  method: "post",
  path: "/v1/sandboxes/",
  operationId: "createSandbox",
  ...sandboxRouteDefaults,
  scope: null,
  summary: "Create a sandbox",
  description:
    "Creates a location of your own with generated data, and returns an API key for it. Most of its thirty days are correct, and some have a known problem. The days are added in the background, the newest first, so that the first report is available within seconds. The sandbox is removed with all its data after some days. Each client address can create only a few sandboxes a day.",
  responses: { 201: { description: "The API key and the location of the sandbox", schema: CreatedSandbox } },
  errors: ["sandboxes_off", "origin_forbidden", "too_many_sandboxes", "rate_limited"],
  async handle({ services, audit, origin }) {
    const sandboxes = requireSandboxesOn(services);
    const { apiKey, location, expiresAt } = await createSandbox(sandboxes, audit.actor.clientAddress ?? "unknown");
    const links = toLinks(origin, {
      "The sandbox and its days": "/v1/sandboxes/current",
      "Its reports": "/v2/reports",
      "Its live orders": "/v1/orders-live",
    });
    return jsonResponse(201, { apiKey, location, expiresAt, links }, { "cache-control": "no-store" });
  },
});

export const getCurrentSandboxRoute = defineSandboxesRoute({
  method: "get",
  path: "/v1/sandboxes/current",
  operationId: "getCurrentSandbox",
  ...currentSandboxRoute,
  summary: "Get the sandbox of the API key",
  description:
    "Returns the state of the sandbox, its days with what is wrong with them on purpose, and when it is removed. Events change this: `day.broken` breaks the newest day.",
  responses: { 200: { description: "The sandbox", schema: Sandbox } },
  errors: ["sandboxes_off", "sandbox_not_found"],
  async handle({ services, principal }) {
    const { sandboxes, sandbox } = await requireOwnSandbox(services, principal);
    const webhookId = (await hasInboxWebhook(sandboxes, sandbox)) ? sandbox.id : null;
    return jsonResponse(200, toSandboxResponse(sandbox, webhookId), { "cache-control": "no-store" });
  },
});

/**
 * Returns whether the webhook of the inbox exists. The client may have deleted it. Asks with the operator's key, because a
 * request with a key of the sandbox could wait for the request that is being answered.
 */
async function hasInboxWebhook(services: SandboxServices, sandbox: SandboxWithLocation): Promise<boolean> {
  if (!sandbox.hasInbox) return false;
  const api = createAdminApiClient({ ...services.operatorAccess, retries: 0 });
  const params = { path: { id: sandbox.id } };
  const found = await nullOnProblem(api.GET("/v1/webhooks/{id}", { params }), "webhook_not_found").catch((error) => {
    // The rest of the response does not depend on it.
    services.log.warn({ err: error, sandboxId: sandbox.id }, "cannot read the webhook of an inbox");
    return undefined;
  });
  return found !== null;
}

function toSandboxResponse(sandbox: SandboxWithLocation, webhookId: string | null) {
  const { locationId, locationName, timeZone, currencyCode, createdAt, expiresAt, filledSteps } = sandbox;
  const days = listSandboxDays(sandbox);
  const problems = listDayProblems(days, sandbox);
  const filledDays = countFilledDays(filledSteps, days.length);
  return {
    location: { id: locationId, name: locationName, timezone: timeZone, currencyCode },
    ...{ createdAt, expiresAt, state: sandbox.state },
    progress: { done: filledSteps, total: listFillingSteps(sandbox).length },
    days: days.map((day, index) => ({ ...day, isPushed: index < filledDays, problem: problems[index] })),
    webhookId,
    failingDeliveries: sandbox.failingDeliveries,
  };
}

export const createSandboxEventRoute = defineSandboxesRoute({
  method: "post",
  path: "/v1/sandboxes/current/events",
  operationId: "createSandboxEvent",
  ...currentSandboxRoute,
  summary: "Make something happen in a sandbox",
  description:
    "Pushes a till, opens or closes an order, breaks a day, or lets the next webhook messages fail. The response contains the IDs of what changed. The webhook messages about the change arrive in the inbox of the sandbox.",
  request: { body: createValidatingJsonBodyParser(CreateSandboxEventRequest) },
  responses: { 201: { description: "What happened", schema: SandboxEvent } },
  isIdempotent: true,
  errors: ["sandboxes_off", "sandbox_not_found", "order_not_found", "quota_exceeded"],
  async handle({ services, principal, body, origin }) {
    const { sandboxes, sandbox } = await requireOwnSandbox(services, principal);
    const { links, ...result } = await runSandboxEvent(sandboxes, sandbox, body);
    const nothing = { tillId: null, orderId: null, day: null, failingDeliveries: null };
    return jsonResponse(201, { type: body.type, ...nothing, ...result, links: toLinks(origin, links) });
  },
});

export const listSandboxMessagesRoute = defineSandboxesRoute({
  method: "get",
  path: "/v1/sandboxes/current/messages",
  operationId: "listSandboxMessages",
  ...currentSandboxRoute,
  summary: "List the webhook messages of a sandbox",
  description: `Returns the last ${maxSandboxMessages} webhook messages that the inbox of the sandbox received, newest first, each with its headers, its body and the result of the verification of its signature. The inbox is the endpoint of a webhook of the sandbox, which sends all events.`,
  request: { query: z.object(paginationQueryShape) },
  responses: { 200: { description: "A page of messages, newest first", schema: paginatedSchema(SandboxMessage) } },
  errors: ["sandboxes_off", "sandbox_not_found", "invalid_page_token"],
  async handle({ services, principal, query, url, origin }) {
    const { sandbox } = await requireOwnSandbox(services, principal);
    const { locationId } = sandbox;
    const { sql } = services.db;
    const list = { ...buildMessageListSql(sql, locationId), maxBytes: maxPageBytes };
    return queryNewestRowsPageResponse({ query, locationId, principal, url, origin }, sql, list);
  },
});

const maxPageBytes = 4 * 1024 * 1024;

export const deleteCurrentSandboxRoute = defineSandboxesRoute({
  method: "delete",
  path: "/v1/sandboxes/current",
  operationId: "deleteCurrentSandbox",
  ...currentSandboxRoute,
  summary: "Delete the sandbox of the API key",
  description:
    "Ends the sandbox now. Its API key stops working within seconds, and the sandbox is removed with all its data in the background.",
  responses: { 204: { description: "The sandbox is being removed" } },
  errors: ["sandboxes_off", "sandbox_not_found"],
  async handle({ services, principal }) {
    const { sandboxes, sandbox } = await requireOwnSandbox(services, principal);
    await expireSandbox(sandboxes.db, sandbox.id);
    sandboxes.poll();
    return { status: 204, body: null, headers: {} };
  },
});
