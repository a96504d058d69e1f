import { CreatedErasure, CreateErasureRequest } from "@pragma/contracts/erasure";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { defineReportingRoute } from "../context.ts";
import { publishErasureEvents } from "./request-erasure.ts";

export const createErasureRoute = defineReportingRoute({
  method: "post",
  path: "/v1/erasures",
  operationId: "createErasure",
  tag: "Erasures",
  audience: "operator",
  scope: "admin",
  summary: "Erase personal data",
  description:
    "Erases the personal data of orders from all copies: bodies of tills, reports, orders, live orders and messages. Select the orders by their IDs, or all tills of the location that were pushed before a day. Amounts and products remain. The response lists IDs of orders that no till contains. Copies are changed in the background, within minutes. Erased data cannot be restored. The request is part of the audit log.",
  request: { body: createValidatingJsonBodyParser(CreateErasureRequest) },
  responses: { 202: { description: "The erasure was requested", schema: CreatedErasure } },
  errors: ["location_not_found"],
  isIdempotent: true,
  async handle({ body, services, context, audit }) {
    await services.locations.getById(body.locationId, context);
    const { tills, orderIdsWithoutTill = [] } = await publishErasureEvents(services.db, body, audit);
    return jsonResponse(202, { tillCount: tills, orderIdsWithoutTill });
  },
});
