import { ServiceNameSchema } from "@pragma/contracts/dead-letter";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { QuotaUsage } from "@pragma/contracts/quota";
import { z } from "zod";
import { listQuotaUsage, quotaUsageCursorSchema } from "../admission/quota-usage.ts";
import { createRouteDefiner, type ServiceRouteDefinition } from "../http/define-route.ts";
import { createPageResponse } from "../http/page-response.ts";
import { type OwnServiceContext, requireOwnName, serviceRouteDefaults } from "./own-service.ts";

const defineQuotaRoute = createRouteDefiner<OwnServiceContext>();

const listQuotaUsageRoute = defineQuotaRoute({
  method: "get",
  path: "/v1/services/{service}/quotas",
  operationId: "listQuotaUsage",
  ...serviceRouteDefaults,
  summary: "List the use of daily quotas",
  description:
    "Returns how much of their daily quotas at a service locations have used today (UTC), sandboxes included. The largest share of a maximum comes first. Each service counts its own quotas. Requests with an operator's key that belongs to no location count only toward the quotas of `Idempotency-Key`.",
  request: {
    params: z.object({ service: ServiceNameSchema }),
    query: z.object({
      locationId: z.guid().optional().meta({ description: "Returns only the quotas of this location." }),
      ...paginationQueryShape,
    }),
  },
  responses: { 200: { description: "A page of used quotas", schema: paginatedSchema(QuotaUsage) } },
  errors: ["invalid_page_token"],
  async handle({ params, query, principal, services, url, origin }) {
    requireOwnName(params.service, services);
    const locationId = query.locationId?.toLowerCase() ?? null;
    return createPageResponse({ query, locationId, principal, url, origin }, quotaUsageCursorSchema, (range) =>
      listQuotaUsage(services.db.sql, locationId, range),
    );
  },
});

/** The route that every service has, so that operators see which locations will soon exceed a daily quota. */
export const quotaRoutes: ServiceRouteDefinition<OwnServiceContext>[] = [listQuotaUsageRoute];
