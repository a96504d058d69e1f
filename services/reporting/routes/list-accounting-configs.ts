import { AccountingConfig } from "@pragma/contracts/accounting-config";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { ownLocation } from "@pragma/runtime/own-location";
import { createdPlace, replyWithLargePage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { listConfigs } from "../queries/accounting-configs.ts";
import { defineRoute } from "../reporting.ts";

const query = z.object({
  ...pageQuery,
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
});

export const listAccountingConfigs = defineRoute({
  method: "get",
  path: "/v1/accounting/configs/",
  operationId: "listAccountingConfigs",
  tag: "Accounting",
  audience: "public",
  scope: "accounting:write",
  summary: "List accounting configs",
  description: "The configs of the location, newest first, each whole.",
  request: { query },
  responses: { 200: { description: "A page of configs", schema: pageOf(AccountingConfig) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = ownLocation(principal, query.locationId);
    return replyWithLargePage({ query, principal, url, origin }, createdPlace, (range) =>
      listConfigs(services.db.sql, locationId, { ...range, maxBytes: services.pageMaxBytes }),
    );
  },
});
