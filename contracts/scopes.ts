/** What a consumer may be allowed to do, and what that means. */
export const scopeDescriptions = {
  "reports:read": "Read reports",
  "orders:read": "Read orders, finished and live",
  "orders:write": "Write live orders",
  "catalog:read": "Read the catalogue",
  "catalog:write": "Replace the catalogue",
  "locations:read": "Read the key's own location",
  "locations:write": "Create and change locations",
  "locations:any": "Act for any location, not only the key's own",
  "tills:read": "Read tills",
  "tills:write": "Push, replace and reprocess tills",
  "accounting:write": "Configure and make accounting exports",
  "webhooks:write": "Manage webhook recipients, subscriptions and deliveries",
  "consumers:write": "Manage consumers",
  "keys:write": "Manage API keys",
  "jobs:write": "Create and read jobs",
  admin: "Everything",
} as const satisfies Record<string, string>;

export type Scope = keyof typeof scopeDescriptions;

export const scopeNames = Object.keys(scopeDescriptions) as [Scope, ...Scope[]];

/** What a new consumer may do until its scopes are changed. */
export const defaultConsumerScopes: readonly Scope[] = [
  "reports:read",
  "orders:read",
  "catalog:read",
  "locations:read",
];

/** Whether these scopes allow what needs `scope`; `admin` implies every scope. */
export function hasScope(granted: readonly string[], scope: Scope): boolean {
  return granted.includes(scope) || granted.includes("admin");
}
