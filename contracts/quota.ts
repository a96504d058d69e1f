import { object, type z } from "zod";
import { field } from "./fields.ts";

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
