import { object, z } from "zod";
import { UtcDateTimeSchema } from "./date-time.ts";
import { boundedArray, boundedString, field } from "./fields.ts";
import { paginatedSchema } from "./pagination.ts";

export const usageGranularities = ["minute", "hour", "day"] as const;
export type UsageGranularity = (typeof usageGranularities)[number];

/** What numbers of requests can be grouped by. */
export const usageGroupings = [...usageGranularities, "location", "consumer", "key", "route", "statusClass"] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

/** The classes of response statuses, without 1xx, which is never a final status. */
const usageStatusClasses = ["2xx", "3xx", "4xx", "5xx"] as const;

/** The maximum number of failed requests that are stored for each API key. */
export const maxFailedRequestsPerKey = 100;

const keyId = field.uuid("ID of the API key");
const keyPrefix = z.string().meta({
  description: "First characters of the API key, so that you can recognize the key",
  example: "pragma_4fGh2Kq",
});
const consumerId = field.uuid("ID of the key's consumer");
const consumerName = z.string().meta({ description: "Name of the key's consumer", example: "Acme" });
const locationId = field.nullableUuid("ID of the key's location; null for an operator's key");
const locationName = z.string().nullable().meta({
  description: "Name of the key's location; null for an operator's key, and for a location without a name",
  example: "Le Bistrot",
});
const route = z.string().meta({
  description: "Prefix of the requested path, such as `/v2/tills`; `other` for all other paths",
  example: "/v2/tills",
});

/** A field that is null if the numbers are not grouped by what it names. */
const grouped = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullable()
    .meta({ ...schema.meta(), description: `${schema.description}; null if the numbers are not grouped by it` });

const usageTotalsShape = {
  requestCount: z.int().min(0).meta({ description: "Number of requests", example: 42 }),
  failedCount: z
    .int()
    .min(0)
    .meta({ description: "Number of these requests with a status of 400 or more", example: 1 }),
};

export const UsageCount = object({
  periodStart: grouped(
    UtcDateTimeSchema.meta({
      description: "Start of the minute, hour or day. Days begin at midnight UTC",
      example: "2026-05-29T10:17:00.000Z",
    }),
  ),
  locationId: grouped(locationId),
  locationName: grouped(locationName),
  consumerId: grouped(consumerId),
  consumerName: grouped(consumerName),
  keyId: grouped(keyId),
  keyPrefix: grouped(keyPrefix),
  route: grouped(route),
  statusClass: grouped(
    z.enum(usageStatusClasses).meta({ description: "Class of the response statuses", example: "2xx" }),
  ),
  ...usageTotalsShape,
}).meta({
  id: "UsageCount",
  description:
    "Number of requests in one group: by default, of one API key to one route with one class of response statuses, in one period",
  example: {
    periodStart: "2026-05-29T10:17:00.000Z",
    locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    locationName: "Le Bistrot",
    consumerId: "0b0c1a7e-5f5e-4a51-9d6b-0a1f6b1f7c22",
    consumerName: "Acme",
    keyId: "5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
    keyPrefix: "pragma_4fGh2Kq",
    route: "/v2/tills",
    statusClass: "2xx",
    requestCount: 42,
    failedCount: 0,
  },
});

export type UsageCount = z.infer<typeof UsageCount>;

export const UsagePage = paginatedSchema(UsageCount).extend({
  totals: object(usageTotalsShape).describe(
    "Numbers of all requests in the range that match the filters, on all pages",
  ),
});

/** The maximum number of issues of a failed request that are stored. */
export const maxStoredIssues = 5;

export const FailedRequest = object({
  id: field.uuid("ID of this entry"),
  failedAt: field.dateTime("When the request ended"),
  ...{ locationId, locationName, consumerId, consumerName, keyId, keyPrefix, route },
  path: z.string().meta({
    description:
      "Path of the request, without its query. Parts that are neither IDs nor plain words are replaced by `{hidden}`, because they can be personal data or secrets",
    example: "/v2/tills",
  }),
  method: z.string().meta({ description: "Method of the request", example: "POST" }),
  status: z.int().meta({
    description: "Response status; 499 if the client closed the connection before the response",
    example: 409,
  }),
  code: z.string().nullable().meta({
    description: "Error code of the response; null if the response had none, such as a response to HEAD",
    example: "till_conflict",
  }),
  requestId: z.string().meta({
    description: "ID of the request, as in the `x-request-id` header and in the error response",
    example: "0b2f7f3c-8f0e-4c5c-9a33-0d8a3a7c6f11",
  }),
  issues: boundedArray(
    object({
      in: z.enum(["body", "query", "path", "header"]).describe("Part of the request that contains the issue"),
      path: field.text("Path of the invalid value within that part; empty if the issue affects the whole part"),
      code: field.text("Type of the issue, such as `required` or `too_big`"),
      message: field.text("Explanation of the issue, without the received value"),
    }),
    maxStoredIssues,
  ).describe(`The first ${maxStoredIssues} issues of the request; empty unless it was invalid`),
  requestBytes: z.int().min(0).nullable().meta({
    description: "Size of the request's body in bytes; null if the client did not send the size first",
    example: 1_843_200,
  }),
  count: z.int().min(1).meta({
    description:
      "1, or more if many requests failed in the same way within seconds: then this is the latest of them, and the others are counted here instead of being listed",
    example: 1,
  }),
}).meta({
  id: "FailedRequest",
  description: "A request of an API key that was answered with a status of 400 or more",
  example: {
    id: "c3a1c9f2-6a0e-4b53-a1be-6f6b6a2f7e10",
    failedAt: "2026-05-29T10:17:19.000Z",
    locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    locationName: "Le Bistrot",
    consumerId: "0b0c1a7e-5f5e-4a51-9d6b-0a1f6b1f7c22",
    consumerName: "Acme",
    keyId: "5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
    keyPrefix: "pragma_4fGh2Kq",
    route: "/v2/tills",
    path: "/v2/tills",
    method: "POST",
    status: 400,
    code: "invalid_request",
    requestId: "0b2f7f3c-8f0e-4c5c-9a33-0d8a3a7c6f11",
    issues: [{ in: "body", path: "orderList[3].guestsCount", code: "too_small", message: "Must be at least 0" }],
    requestBytes: 1_843_200,
    count: 1,
  },
});

export type FailedRequest = z.infer<typeof FailedRequest>;

/** The topic of the NATS requests with which gateways send usage batches to accounts. */
export const usageBatchTopic = "accounts.usage";

/** The maximum numbers of counts and failures in a batch, so that it always fits into a NATS message of 1 MiB. */
export const usageBatchLimits = { counts: 2_000, failures: 100 } as const;

/** A gateway of an earlier version sends up to this many failures, which are smaller. */
const maxAcceptedFailures = 500;

/** The maximum lengths of the texts of a failed request, in characters. Longer ones are cut. */
export const failedRequestTextLimits = { path: 256, issuePath: 120, issueMessage: 240 } as const;

const batchRouteSchema = boundedString(64, { min: 1 });

/** Requests of several API keys that a gateway has counted. accounts stores each batch once, whatever is repeated. */
export const usageBatchSchema = object({
  id: z.guid(),
  counts: boundedArray(
    object({
      keyId: z.guid(),
      /** Minutes since 1970. */
      minute: z.int().min(0).max(1_000_000_000),
      route: batchRouteSchema,
      /** The first digit of the statuses. */
      statusClass: z.int().min(2).max(5),
      requestCount: z.int().min(1),
    }),
    usageBatchLimits.counts,
  ),
  failures: boundedArray(
    object({
      keyId: z.guid(),
      failedAt: z.iso.datetime(),
      route: batchRouteSchema,
      method: boundedString(16, { min: 1 }),
      status: z.int().min(400).max(599),
      code: boundedString(64).nullable(),
      requestId: boundedString(128, { min: 1 }),
      // A gateway of an earlier version does not send these fields.
      path: boundedString(failedRequestTextLimits.path).default(""),
      issues: boundedArray(
        object({
          in: FailedRequest.shape.issues.element.shape.in,
          path: boundedString(failedRequestTextLimits.issuePath),
          code: boundedString(64),
          message: boundedString(failedRequestTextLimits.issueMessage),
        }),
        maxStoredIssues,
      ).default([]),
      requestBytes: z.int().min(0).nullable().default(null),
      count: z.int().min(1),
    }),
    maxAcceptedFailures,
  ),
});

export type UsageBatch = z.infer<typeof usageBatchSchema>;

/** The reply to a batch. A gateway sends a batch again, with the same id, until it is stored or rejected. */
export const usageBatchReplySchema = z.enum(["stored", "rejected", "failed"]);

export type UsageBatchReply = z.infer<typeof usageBatchReplySchema>;
