/** What all routes of accounting have in common. */
export const accountingRouteDefaults = { tag: "Accounting", audience: "public", scope: "accounting:write" } as const;
