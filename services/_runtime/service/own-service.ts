import { ApiError } from "@pragma/contracts/errors";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { Database } from "../database/postgres.ts";

/** What the routes that every service has know about their own service. */
export interface OwnServiceContext {
  db: Database;
  serviceName: ServiceName;
}

export const serviceRouteDefaults = { tag: "Services", audience: "operator", scope: "admin" } as const;

/** The gateway sends requests for an unknown service to one of the services, which rejects them. */
export function requireOwnName(name: ServiceName, { serviceName }: Pick<OwnServiceContext, "serviceName">): void {
  if (name !== serviceName) throw new ApiError("route_not_found");
}
