import { array, object, z } from "zod";
import { dayMs, RequestDateTime } from "./date-time.ts";
import { boundedString, field } from "./fields.ts";

const pageMetaSchema = object({
  totalPage: field.count("Total number of pages with this page size"),
  totalCount: field.count("Total number of items on all pages"),
  currentPageIndex: field.count("Zero-based index of this page"),
  pageSize: z.int().min(1).max(100).meta({
    description:
      "Requested number of items per page. A page has fewer items if the list ends or if more items would exceed 4 MB.",
  }),
}).meta({
  id: "PageMeta",
  description: "Index and size of this page, and total numbers of pages and items",
  example: { totalPage: 3, totalCount: 30, currentPageIndex: 1, pageSize: 10 },
});

const pageLinksSchema = object({
  self: field.url("URL of this page"),
  first: field.url("URL of the first page"),
  last: field.url("URL of the last page"),
  next: field.nullableUrl(
    "URL of the next page, or of the rest of this page if its items exceed 4 MB; null on the last page",
  ),
  prev: field.nullableUrl("URL of the previous page; null on the first page"),
}).meta({
  id: "PageLinks",
  description: "Absolute URLs of this page and of other pages, with the same filters as this request",
  example: {
    self: "http://127.0.0.1:4000/v2/reports?index=1&size=10",
    first: "http://127.0.0.1:4000/v2/reports?index=0&size=10",
    last: "http://127.0.0.1:4000/v2/reports?index=2&size=10",
    next: "http://127.0.0.1:4000/v2/reports?index=2&size=10",
    prev: "http://127.0.0.1:4000/v2/reports?index=0&size=10",
  },
});

/** Returns the schema of a page of a list: `{data, meta, links, nextPageToken}`. */
export function paginatedSchema<Item extends z.ZodType>(item: Item) {
  return object({
    data: array(item).describe("Items of this page"),
    meta: pageMetaSchema,
    links: pageLinksSchema,
    nextPageToken: field.nullableText(
      "Token of the next page, or of the rest of this page if its items exceed 4 MB; null on the last page. Send it as `pageToken` in the next request. Pagination by token is the fastest way to read a whole list.",
    ),
  });
}

export type PageMeta = z.infer<typeof pageMetaSchema>;
export type PageLinks = z.infer<typeof pageLinksSchema>;

/**
 * An integer in a query. Accepts only digits and a sign, because `Number` would accept an empty text and `1e3`. An integer
 * with too many digits exceeds the range, and is not infinite, because infinity is not an integer.
 */
export const integerQueryParameter = (range: z.ZodInt) =>
  z
    .string()
    .regex(/^-?\d+$/, "Must be an integer")
    .transform((text) => Math.max(-Number.MAX_VALUE, Math.min(Number(text), Number.MAX_VALUE)))
    .pipe(range);

/** The query parameters of a list: zero-based `index`, `size` from 1 to 100 (10 by default), and `pageToken`. */
export const paginationQueryShape = {
  index: integerQueryParameter(z.int().min(0))
    .default(0)
    .meta({ description: "Zero-based index of the page", example: 0, type: "integer", minimum: 0, default: 0 }),
  size: integerQueryParameter(z.int().min(1).max(100)).default(10).meta({
    description: "Number of items per page",
    example: 10,
    type: "integer",
    minimum: 1,
    maximum: 100,
    default: 10,
  }),
  pageToken: boundedString(1000).optional().meta({
    description:
      "`nextPageToken` of the previous page, with the same filters as in the request for that page. Overrides `index`. Pagination by token is the fastest way to read a whole list.",
  }),
};

/**
 * A day in a filter, YYYY-MM-DD, in the location's time zone. Rejects days that do not exist, except February 29. In
 * every year, February 29 means the last day of February.
 */
export const dayQueryParameter = z
  .string()
  .regex(
    /^(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-9]))$/,
    // Aborts, because a text that is not a day can be neither before nor after another day.
    { error: "Must be a valid date in the format YYYY-MM-DD", abort: true },
  )
  .transform((day) => (day.endsWith("-02-29") && !isLeapYear(Number(day.slice(0, 4))) ? `${day.slice(0, 8)}28` : day))
  .meta({
    description: "First day (`since`) or last day (`until`) to include, as YYYY-MM-DD in the location's time zone",
    example: "2026-05-29",
    format: "date",
  });

export type DayOrInstant = { day: string } | { instant: string };

/** Returns the schema of a query parameter that is a day in the location's time zone, or an instant. */
export const dayOrInstantQueryParameter = (description: string) =>
  z
    .union(
      [dayQueryParameter.transform((day) => ({ day })), RequestDateTime.transform((instant) => ({ instant }))],
      "Must be a day (YYYY-MM-DD) or a date-time with an offset or Z",
    )
    .optional()
    .meta({ description, type: "string", example: "2026-05-29" });

/** The largest differences of local time from UTC: a day begins first in UTC+14, and ends last in UTC-12. */
const maxOffsetMs = 14 * 60 * 60 * 1000;
const minOffsetMs = -12 * 60 * 60 * 1000;

/**
 * A check of queries with the filters `since` and `until`: rejects a range that ends before it begins, because its list
 * is always empty. A day and an instant are compared as if the location had the time zone in which they differ least.
 */
export function checkSinceIsNotAfterUntil({
  value: { since, until },
  issues,
}: z.core.ParsePayload<{
  since?: string | DayOrInstant | undefined;
  until?: string | DayOrInstant | undefined;
}>): void {
  if (since === undefined || until === undefined || !isAfter(toDayOrInstant(since), toDayOrInstant(until))) return;
  const bound = toDayOrInstant(until);
  const message = `Must not be after until, ${"day" in bound ? bound.day : bound.instant}. Exchange the two values, or omit one of them`;
  issues.push({ code: "custom", path: ["since"], message, input: since, params: { code: "too_big" } });
}

const toDayOrInstant = (bound: string | DayOrInstant) => (typeof bound === "string" ? { day: bound } : bound);

function isAfter(since: DayOrInstant, until: DayOrInstant): boolean {
  if ("day" in since && "day" in until) return since.day > until.day;
  const begin = "day" in since ? Date.parse(since.day) - maxOffsetMs : Date.parse(since.instant);
  const end = "day" in until ? Date.parse(until.day) + dayMs - minOffsetMs : Date.parse(until.instant);
  return begin > end;
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}
