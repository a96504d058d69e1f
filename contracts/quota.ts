import { object, type z } from "zod";
import { ServiceNameSchema } from "./dead-letter.ts";
import { boundedArray, field } from "./fields.ts";
import { serviceNames } from "./service-names.ts";

export const QuotaUsage = object({
  locationId: field.uuid(
    "ID of the location; of requests with an operator's key that belongs to no location, the ID of the key",
  ),
  quota: field.text("Name of the quota, as in `limit` of the error `quota_exceeded`, such as `till_bytes`"),
  used: field.count(
    "How much has been used since midnight UTC: bytes if the name ends in `_bytes`, otherwise a number",
  ),
  maximum: field.count("How much may be used per day"),
}).meta({
  id: "QuotaUsage",
  description: "How much of a daily quota a location has used today (UTC)",
  example: {
    locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    quota: "live_order_bytes",
    used: 812_400_312,
    maximum: 1_000_000_000,
  },
});

export type QuotaUsage = z.infer<typeof QuotaUsage>;

/** The most rows of locations, and also of sandboxes, in the list of all services. */
export const maxMostUsedQuotas = 50;

export const ServiceQuotaUsage = QuotaUsage.extend({
  service: ServiceNameSchema,
  locationName: field.nullableText("Name of the location; null if it has none"),
  isSandbox: field.boolean("Whether the location is a sandbox"),
}).meta({
  id: "ServiceQuotaUsage",
  description: "How much of a daily quota at a service a location has used today (UTC)",
  example: {
    ...(QuotaUsage.meta()?.example as object),
    service: "order-live",
    locationName: "Chez Marcel",
    isSandbox: false,
  },
});

export type ServiceQuotaUsage = z.infer<typeof ServiceQuotaUsage>;

export const MostUsedQuotas = object({
  quotas: boundedArray(ServiceQuotaUsage, 2 * maxMostUsedQuotas).describe(
    `The quotas of which most has been used, the largest share of a maximum first: at most ${maxMostUsedQuotas} of locations, and ${maxMostUsedQuotas} of sandboxes`,
  ),
  unreachableServices: boundedArray(ServiceNameSchema, serviceNames.length).describe(
    "The services that did not respond, so that their quotas are missing",
  ),
}).meta({
  id: "MostUsedQuotas",
  description: "The daily quotas of all services of which locations have used most today (UTC)",
  example: { quotas: [ServiceQuotaUsage.meta()?.example], unreachableServices: [] },
});

export type MostUsedQuotas = z.infer<typeof MostUsedQuotas>;
