import { DateTime } from "@pragma/contracts/date-time";
import { Delivery, deliveryStates } from "@pragma/contracts/delivery";
import { dayInQuery, pageOf, pageQuery } from "@pragma/contracts/pagination";
import { sentEventNames } from "@pragma/contracts/webhook";
import { z } from "zod";
import { type DeliveryRow, deliveryColumns } from "../queries/deliveries.ts";
import { replyWithNewest } from "../queries/rows.ts";
import { defineRoute } from "../webhooks.ts";
import { readableWebhook, webhookParams } from "./params.ts";

type DayOrInstant = { day: string } | { instant: string };

/** A day of the location's time zone, or an instant. */
const dayOrInstant = (description: string) =>
  z
    .union([dayInQuery.transform((day) => ({ day })), DateTime.transform((instant) => ({ instant }))], {
      error: "must be a day, written YYYY-MM-DD, or a date-time with an offset or Z",
    })
    .optional()
    .meta({ description, type: "string", example: "2026-05-29" });

const query = z.object({
  event: z.enum(sentEventNames).optional().meta({ description: "Deliveries of messages of this event" }),
  state: z.enum(deliveryStates).optional().meta({ description: "Deliveries in this state" }),
  since: dayOrInstant("Deliveries of this day of the location's time zone, or this date-time, and later"),
  until: dayOrInstant("Deliveries of this day of the location's time zone, or this date-time, and earlier"),
  ...pageQuery,
});

export const listDeliveriesRoute = defineRoute({
  method: "get",
  path: "/v1/webhooks/{id}/deliveries",
  operationId: "listDeliveries",
  summary: "List a webhook's deliveries",
  description: "The deliveries of a webhook, newest first. They are kept for 30 days.",
  request: { params: webhookParams, query },
  responses: { 200: { description: "A page of deliveries", schema: pageOf(Delivery) } },
  errors: ["webhook_not_found", "invalid_page_token"],
  async handle({ params, query, principal, services, context, url, origin }) {
    const webhook = await readableWebhook(services, params, principal);
    const { event, state, since, until } = query;
    const hasDays = [since, until].some((end) => end && "day" in end);
    const { location } = principal;
    const timeZone = !hasDays
      ? "UTC"
      : location?.id === webhook.locationId
        ? location.timeZone
        : (await services.locations.byId(webhook.locationId, context)).timeZone;
    const { sql } = services.db;
    const startOf = (end: DayOrInstant, daysLater = 0) =>
      "day" in end
        ? sql`((${end.day}::date + ${daysLater}::int)::timestamp at time zone ${timeZone})`
        : sql`${end.instant}::timestamptz`;
    const where = sql`
      webhook_id = ${webhook.id}
      ${event === undefined ? sql`` : sql`and event = ${event}`}
      ${state === undefined ? sql`` : sql`and state = ${state}`}
      ${since === undefined ? sql`` : sql`and created_at >= ${startOf(since)}`}
      ${until === undefined ? sql`` : sql`and created_at ${"day" in until ? sql`<` : sql`<=`} ${startOf(until, 1)}`}`;
    return replyWithNewest<DeliveryRow>({ query, url, origin }, sql, {
      columns: deliveryColumns(sql),
      table: sql`deliveries d`,
      where,
    });
  },
});
