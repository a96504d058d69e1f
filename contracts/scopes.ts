/** The scopes that a consumer can have, with their descriptions. */
export const scopeDescriptions = {
  "reports:read": "Read reports",
  "orders:read": "Read finished and live orders",
  "orders:write": "Write live orders",
  "catalog:read": "Read the catalog",
  "catalog:write": "Replace the catalog",
  "locations:read": "Read the API key's location",
  "locations:write": "Create and change locations",
  "locations:any": "Act on behalf of any location",
  "tills:read": "Read tills",
  "tills:write": "Push, replace and reprocess tills",
  "accounting:write": "Configure and create accounting exports and French e-reports",
  "webhooks:write": "Manage recipients, webhooks and deliveries",
  "consumers:write": "Manage consumers",
  "keys:write": "Manage API keys",
  "jobs:write": "Create and read jobs",
  "usage:read": "Read the numbers of requests and the failed requests of API keys",
  "audit:read": "Read the audit log",
  admin: "Full access",
} as const satisfies Record<string, string>;

export type ApiScope = keyof typeof scopeDescriptions;

export const apiScopeNames = Object.keys(scopeDescriptions) as [ApiScope, ...ApiScope[]];

/** The initial scopes of a new consumer. */
export const defaultApiConsumerScopes: readonly ApiScope[] = [
  "reports:read",
  "orders:read",
  "catalog:read",
  "locations:read",
  "usage:read",
];

/** Returns whether the granted scopes include `scope`. The scope `admin` includes every scope. */
export function hasScope(granted: readonly string[], scope: ApiScope): boolean {
  return granted.includes(scope) || granted.includes("admin");
}
