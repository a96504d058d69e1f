import { array, object, z } from "zod";
import { boundedString, field } from "./fields.ts";
import { markAsListParameter } from "./list-parameter.ts";
import { integerQueryParameter } from "./pagination.ts";
import type { ApiScope } from "./scopes.ts";

/** The types of entries in the change feed, with the scope that a key needs for them. */
export const changeTypeScopes = {
  report: "reports:read",
  order: "orders:read",
  catalog: "catalog:read",
  location: "locations:read",
  e_report: "accounting:write",
} as const satisfies Record<string, ApiScope>;

export type ChangeType = keyof typeof changeTypeScopes;

export const changeTypes = Object.keys(changeTypeScopes) as [ChangeType, ...ChangeType[]];

/** The maximum number of seconds for which a request waits. Shorter than the usual timeouts of clients and proxies. */
const maxChangeWaitSeconds = 25;

const changeExample = {
  cursor: "AQAAAAAAAAAqAAAAAbVqk0yDzQ",
  type: "report" as const,
  action: "replaced" as const,
  locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
  id: "dc0c0667-eb87-584d-8e25-b0b7f75fed3a",
  revision: 2,
  at: "2026-05-29T21:58:03.871Z",
  href: "http://127.0.0.1:4000/v2/reports/dc0c0667-eb87-584d-8e25-b0b7f75fed3a",
};

export const Change = object({
  cursor: field.text("Cursor of the entry. Send it as `after` to get the entries that follow."),
  type: z.enum(changeTypes).describe("What has changed"),
  action: z.enum(["created", "replaced", "erased", "removed"]).meta({
    description:
      "What has happened. `created` or `replaced`: get the resource from `href`. `erased`: personal data of the till was erased, in this change or in an earlier one; get the resource from `href`, and delete all earlier versions of it. `removed`: delete your copy; `href` responds with status 404. If a location was removed, delete your copies of everything that belonged to it. Only the feed of all locations has this entry.",
  }),
  locationId: field.uuid("ID of the location to which the resource belongs"),
  id: field.uuid(
    "ID of the report or order. For a catalog and a location, the ID of the location. For an e-report, an ID that its SIREN, kind and period determine.",
  ),
  revision: field.positiveInteger(
    "For a report and an order, the revision of the till: 1 for the first push, incremented by each replacement, reprocessing and erasure. For a catalog, a location and an e-report, a number that each change increments.",
  ),
  at: field.dateTime("When the change happened. Entries are not sorted by this time."),
  href: field.url("URL of the current state"),
}).meta({
  id: "Change",
  description: "The last change of a report, order, catalog, location or e-report",
  example: changeExample,
});

export type Change = z.infer<typeof Change>;
export type ChangeAction = Change["action"];

export const ChangePage = object({
  data: array(Change).describe("Changes in the order in which they were stored"),
  nextCursor: field.text(
    "Cursor of the end of this page, also if the page is empty. Store it together with your copy, and send it as `after` in the next request.",
  ),
  hasMore: field.boolean("Whether there are more changes now. If false, send `wait` with the next request."),
}).meta({
  id: "ChangePage",
  description: "A page of the change feed",
  example: { data: [changeExample], nextCursor: changeExample.cursor, hasMore: false },
});

export type ChangePage = z.infer<typeof ChangePage>;

const changeTypesQueryParameter = boundedString(100).transform((text, context) => {
  const types = [...new Set(text.split(",").map((type) => type.trim()))];
  if (types.every((type) => Object.hasOwn(changeTypeScopes, type))) return types as ChangeType[];
  context.addIssue({ code: "custom", message: `Must be a comma-separated list of: ${changeTypes.join(", ")}` });
  return z.NEVER;
});

/** The query parameters of the change feed, without the location. */
export const changesQueryShape = {
  after: boundedString(100).optional().meta({
    description:
      "Cursor after which the feed continues. If omitted, the feed begins with the oldest entry. `now` begins at the end of the feed. Cursors never expire.",
  }),
  allLocations: z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .optional()
    .meta({
      description:
        "Returns the changes of all locations in one feed (`true`). Requires the scope `locations:any`, and cannot be combined with `locationId`. The cursors of this feed and of the feeds of locations are different.",
      type: "boolean",
    }),
  types: markAsListParameter(
    changeTypesQueryParameter.optional().meta({
      description: `Types of the changes to return, separated by commas: ${changeTypes.join(", ")}. Default: the types that the API key can read.`,
      type: "string",
      example: "report,order",
    }),
  ),
  wait: integerQueryParameter(z.int().min(0).max(maxChangeWaitSeconds)).default(0).meta({
    description: "Seconds to wait for a change if there is none",
    type: "integer",
    minimum: 0,
    maximum: maxChangeWaitSeconds,
    default: 0,
    example: maxChangeWaitSeconds,
  }),
  size: integerQueryParameter(z.int().min(1).max(1_000)).default(100).meta({
    description: "Maximum number of changes to return. A page can have fewer, also if `hasMore` is true.",
    type: "integer",
    minimum: 1,
    maximum: 1_000,
    default: 100,
    example: 100,
  }),
};
