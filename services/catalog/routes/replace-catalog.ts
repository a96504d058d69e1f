import { Catalog, ReplacedCatalog } from "@pragma/contracts/catalog";
import type { BodyReader } from "@pragma/runtime/define-route";
import { namedLocation } from "@pragma/runtime/locations";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { type CatalogService, defineRoute } from "../catalog.ts";
import type { CatalogTexts } from "../catalog-texts.ts";
import { replaceCatalog } from "../replace-catalog.ts";

const mebibyte = 1024 * 1024;

/** A whole catalogue as the body of a request: read and checked beside the requests, and written down as it is sent. */
const catalogBody: BodyReader<CatalogTexts, CatalogService> = {
  schema: Catalog,
  limit: 20 * mebibyte,
  async read(bytes, { reader }, sender) {
    const { result } = await reader.read(bytes, undefined, sender);
    return "faults" in result ? result : { value: result };
  },
};

export const replaceCatalogRoute = defineRoute({
  method: "put",
  path: "/v1/catalog/",
  operationId: "replaceCatalog",
  tag: "Catalogue",
  audience: "public",
  scope: "catalog:write",
  summary: "Replace the catalogue",
  description:
    "Puts a whole catalogue in the place of the one that the location has: all five lists at once, or none when anything is wrong with one. " +
    "No id may come twice in its list. A product's categoryId must be the id of one of the categories, and the taxRate of its prices the percentage of one of the taxes, or 0; sub-categories and price lists are no references. " +
    "The same catalogue again changes nothing. " +
    "With If-Match it takes the place only of the catalogue with that entity tag; a request whose answer was lost can be repeated as it was. " +
    "The body may be sent with gzip, and be 20 MB large at most after inflating.",
  request: {
    headers: z.object({
      "If-Match": z.string().optional().meta({
        description: "The ETag of the catalogue that this one is to replace, as any of its lists was answered with",
        example: '"8k0GvXkP2mT4qYw1Zc5uRA"',
      }),
    }),
    query: z.object({
      locationId: z
        .guid()
        .optional()
        .meta({ description: "The location whose catalogue it is: the key's own, unless the key may act for any" }),
    }),
    body: catalogBody,
  },
  responses: { 200: { description: "The catalogue as it is now, in short", schema: ReplacedCatalog } },
  errors: ["location_forbidden", "location_not_found", "precondition_failed", "quota_exceeded"],
  async handle({ body: catalog, query, principal, services, context, header }) {
    const { id: locationId } = await namedLocation(principal, query.locationId, services.locations, context);
    const replaced = await replaceCatalog(services, { locationId, catalog, ifMatch: header("if-match"), context });
    context.addToLog({ changed: replaced.changed, counts: replaced.counts });
    return json(200, replaced satisfies ReplacedCatalog, { etag: `"${replaced.etag}"` });
  },
});
