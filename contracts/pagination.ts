import { z } from "zod";
import { boundedString } from "./fields.ts";

const pageMetaSchema = z
  .object({
    totalPage: z.int().min(0).meta({ description: "How many pages of this size there are" }),
    totalCount: z.int().min(0).meta({ description: "How many items there are, on all pages" }),
    currentPageIndex: z.int().min(0).meta({ description: "Zero-based" }),
    pageSize: z.int().min(1).max(100).meta({
      description: "Items a page; the last page may have fewer, and one whose items are larger than 4 MB together",
    }),
  })
  .meta({
    id: "PageMeta",
    description: "Where in the list this page is, and how long the list is",
    example: { totalPage: 3, totalCount: 30, currentPageIndex: 0, pageSize: 10 },
  });

const pageLinksSchema = z
  .object({
    self: z.url().meta({ description: "This page" }),
    first: z.url().meta({ description: "The first page" }),
    last: z.url().meta({ description: "The last page" }),
    next: z.url().nullable().meta({
      description: "The page after this one, or the rest of this one if it ended early; null on the last",
    }),
    prev: z.url().nullable().meta({ description: "The page before this one; null on the first" }),
  })
  .meta({
    id: "PageLinks",
    description: "Absolute links that keep the list's filters",
    example: {
      self: "http://127.0.0.1:4000/v2/reports/?index=1&size=10",
      first: "http://127.0.0.1:4000/v2/reports/?index=0&size=10",
      last: "http://127.0.0.1:4000/v2/reports/?index=2&size=10",
      next: "http://127.0.0.1:4000/v2/reports/?index=2&size=10",
      prev: "http://127.0.0.1:4000/v2/reports/?index=0&size=10",
    },
  });

/** The wrapper of every list with pages: `{data, meta, links, nextPageToken}`. */
export function paginatedSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    meta: pageMetaSchema,
    links: pageLinksSchema,
    nextPageToken: z.string().nullable().meta({
      description:
        "Give it as pageToken to get the next page, or the rest of this one if it ended early: the fast way through everything. Null on the last page.",
    }),
  });
}

export type PageMeta = z.infer<typeof pageMetaSchema>;
export type PageLinks = z.infer<typeof pageLinksSchema>;

/** A whole number in a query: digits only, so that an empty value or `1e3` is a fault and not a guess. */
export const integerQueryParameter = (range: z.ZodInt) =>
  z
    .string()
    .regex(/^-?\d{1,16}$/, "must be a whole number")
    .transform(Number)
    .pipe(range);

/** `index` and `size` of a list: zero-based page, 10 items a page unless asked otherwise, 100 at most. */
export const paginationQueryShape = {
  index: integerQueryParameter(z.int().min(0))
    .default(0)
    .meta({ description: "Zero-based page", example: 0, type: "integer", minimum: 0, default: 0 }),
  size: integerQueryParameter(z.int().min(1).max(100))
    .default(10)
    .meta({ description: "Items a page", example: 10, type: "integer", minimum: 1, maximum: 100, default: 10 }),
  pageToken: boundedString(1000).optional().meta({
    description: "The nextPageToken of the page before: the fast way through everything. Takes the place of index.",
  }),
};

/**
 * A day in a filter, YYYY-MM-DD, in the location's time zone. Month and day lengths are checked; February 29 is let
 * through in every year and means the month's last day.
 */
export const dayQueryParameter = z
  .string()
  .regex(
    /^(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-9]))$/,
    "must be a day that exists, written YYYY-MM-DD",
  )
  .transform((day) => (day.endsWith("-02-29") && !isLeapYear(Number(day.slice(0, 4))) ? `${day.slice(0, 8)}28` : day))
  .meta({
    description: "A day of the location's time zone, YYYY-MM-DD; included",
    example: "2026-05-29",
    format: "date",
  });

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}
