/** Every service behind the gateway. Each owns the PostgreSQL schema of its name. */
export const serviceNames = [
  "accounts",
  "till-ingest",
  "order-live",
  "reporting",
  "catalog",
  "webhooks",
  "jobs",
] as const;

export type ServiceName = (typeof serviceNames)[number];
