import { z } from "zod";
import { CatalogCounts } from "./catalog.ts";
import { SeenDevice } from "./device.ts";
import { EventOrder } from "./order-live.ts";
import { LocationRef } from "./principal.ts";
import { EndpointDisabledEventData, EndpointFailingEventData, ReportFinalizedEventData } from "./webhook-message.ts";

/** Of one order: what it is now, and which of its events this is. */
const orderEventData = z.object({
  locationId: z.guid(),
  /** Grows by one with each event of the order, from 1. Events may arrive in another order. */
  sequence: z.int().min(1),
  order: EventOrder,
});

/**
 * The event catalogue: what services tell each other, and with which facts.
 *
 * An event travels on subject `pragma.<type>.<locationId>` in the envelope of `eventEnvelope`.
 */
export const eventDataSchemas = {
  /** From till-ingest: a till is there to be turned into its report, for the first time or again. */
  "till.pushed": z.object({
    locationId: z.guid(),
    tillId: z.guid(),
    /** 1 for the push, one more for each replace or reprocess; a lower revision never replaces a higher. */
    revision: z.int().min(1),
    reason: z.enum(["push", "replace", "reprocess"]),
    /** When the till was first pushed; of tills that hold the same order, the one pushed last owns it. */
    pushedAt: z.iso.datetime(),
    /** Which format the body is in. */
    version: z.enum(["V1", "V2"]),
    object: z.object({ key: z.string(), hash: z.string() }),
    /** Of the location, when the till was pushed: dates without an offset and days are in it. */
    timeZone: z.string(),
    /** The body is the one before without personal data; left out when it is not. */
    isErasure: z.boolean().optional(),
  }),
  /** From reporting: the till has its report and orders, readable from now on. */
  "report.finalized": ReportFinalizedEventData,
  /** From reporting: the till has become a training till, and its report and orders are gone. */
  "report.removed": ReportFinalizedEventData.pick({ locationId: true, reportId: true, tillId: true, revision: true }),
  /** From reporting: what says who ordered is to be erased from these orders, wherever they are kept. */
  "orders.erased": z.object({
    locationId: z.guid(),
    /** The till that holds them; null when none is known to. */
    tillId: z.guid().nullable(),
    orderIds: z.array(z.guid()),
    /** Whether they are all of the till's, which then loses whatever else names somebody, too. */
    isWholeTill: z.boolean(),
  }),
  /** From order-live: an order was opened or opened again, or its products or menus changed while it was open. */
  "order.call": orderEventData,
  /** From order-live: an order became paid. */
  "order.paid": orderEventData,
  /** From order-live: an order became canceled. */
  "order.canceled": orderEventData,
  /** From order-live: an order was transferred to a hotel's property-management system. */
  "order.transferred": orderEventData,
  /** From order-live and till-ingest: a device of the location was at work, for the first time or still. */
  "device.seen": SeenDevice.extend({ locationId: z.guid(), seenAt: z.iso.datetime() }),
  /** From catalog: a location's catalogue was replaced by another. */
  "catalog.updated": z.object({
    locationId: z.guid(),
    /** Stands for the whole catalogue as it is now. */
    etag: z.string(),
    counts: CatalogCounts,
  }),
  /** From webhooks: an endpoint has had nothing but failures for days. */
  "endpoint.failing": EndpointFailingEventData,
  /** From webhooks: an endpoint is sent nothing any more, because it is gone or had nothing but failures for too long. */
  "endpoint.disabled": EndpointDisabledEventData,
  /** From accounts: a key was made or revoked; whoever caches it forgets it. */
  "key.changed": z.object({
    locationId: z.guid().nullable(),
    keyId: z.guid(),
    keyHash: z.string(),
    revoked: z.boolean(),
  }),
  /** From accounts: a location was made or changed. */
  "location.updated": LocationRef.omit({ id: true }).extend({ locationId: z.guid() }),
} as const;

export type EventType = keyof typeof eventDataSchemas;
export type EventData<Type extends EventType> = z.infer<(typeof eventDataSchemas)[Type]>;

/** The envelope, with CloudEvents' names; `traceparent` is W3C trace context. */
export const eventEnvelopeSchema = z.object({
  specversion: z.literal("1.0"),
  id: z.guid(),
  type: z.enum(Object.keys(eventDataSchemas) as [EventType, ...EventType[]]),
  source: z.string(),
  time: z.iso.datetime(),
  /** What the event is about: a till's, report's, key's or location's id. */
  subject: z.string(),
  traceparent: z.string().optional(),
  data: z.unknown(),
});

export type EventEnvelope = z.infer<typeof eventEnvelopeSchema>;
