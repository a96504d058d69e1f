import { array, object, z } from "zod";
import { AuditEvent, auditActorSchema } from "./audit.ts";
import { CatalogCounts } from "./catalog.ts";
import { PosDeviceIdentity } from "./device.ts";
import { LiveOrderInEvent } from "./order-live.ts";
import { LocationRef } from "./principal.ts";
import {
  DayStateEventData,
  EndpointDisabledData,
  EndpointFailingData,
  EReportEventData,
  ReportFinalizedEventData,
} from "./webhook-message.ts";

/** An event lists at most this number of orders, so that it fits into a NATS message. */
export const maxOrdersWithoutTillPerShift = 1_000;

/** The data of events about an order: the current state of the order, and the sequence number of the event. */
const orderEventData = object({
  locationId: z.guid(),
  /** 1 for the first event of the order, incremented with each event. Events can arrive in a different sequence. */
  sequence: z.int().min(1),
  order: LiveOrderInEvent,
});

const reportIds = ReportFinalizedEventData.pick({ locationId: true, reportId: true, tillId: true, revision: true });

/**
 * The schema of the data of each event type. Services publish these events to each other.
 *
 * An event is published on subject `pragma.<type>.<locationId>`, or `pragma-orders.<type>.<locationId>` if it is about a
 * live order, in the envelope of `eventEnvelopeSchema`.
 */
export const busEventDataSchemas = {
  /** From till-ingest: a till was stored or must be reprocessed. Reporting must compute its report. */
  "till.pushed": object({
    locationId: z.guid(),
    tillId: z.guid(),
    /** 1 for the push, incremented by each replacement or reprocessing. Services ignore all but the latest revision. */
    revision: z.int().min(1),
    reason: z.enum(["push", "replace", "reprocess"]),
    /**
     * When the till was first pushed. If several tills contain the same order, reporting compares these times, because
     * the order belongs to the till that was pushed last.
     */
    pushedAt: z.iso.datetime(),
    version: z.enum(["V1", "V2"]),
    object: object({ key: z.string(), hash: z.string() }),
    /**
     * The location's time zone when the revision was pushed or reprocessed, for dates without an offset and for business
     * days.
     */
    timeZone: z.string(),
    /** True if the body equals the previous body without personal data. Absent otherwise. */
    isErasure: z.boolean().optional(),
    /**
     * The last revision that was an erasure, which can be this one; absent if there is none. A service that has not
     * applied this revision yet must treat a later revision as an erasure, too.
     */
    erasedRevision: z.int().min(1).optional(),
  }),
  /** From reporting: the report and the orders of a till are available. */
  "report.finalized": ReportFinalizedEventData.extend({
    /** True if this revision or an earlier one erased personal data. Absent otherwise. Not in messages to webhooks. */
    isErased: z.boolean().optional(),
  }),
  /** From reporting: the till is now in training mode, so its report and orders were removed if they existed. */
  "report.removed": reportIds,
  /**
   * From reporting: the report of a till cannot be computed. Its event is a dead letter, until an operator repeats it
   * with success, or a newer revision is computed.
   */
  "report.parked": reportIds.extend({
    /** A name in `tillReportParkedReasons`. Any text, so that till-ingest also stores reasons of a newer version. */
    reason: z.string().max(64),
  }),
  /**
   * From reporting: the till is older than `REPORTS_KEPT_YEARS`, and its report and orders were removed. `reportId` is that
   * of the report that the till had, or would have had.
   */
  "till.expired": reportIds,
  /** From reporting: a business day became closed. */
  "day.closed": DayStateEventData,
  /** From reporting: a business day became incomplete. */
  "day.incomplete": DayStateEventData,
  /** From reporting: an e-report of a business with this location can be taken. */
  "e_report.ready": EReportEventData,
  /** From reporting: the figures of an e-report that was taken have changed. */
  "e_report.changed": EReportEventData,
  /** From reporting: every service must erase the personal data of these orders. */
  "orders.erased": object({
    locationId: z.guid(),
    /** The till that contains the orders; null if unknown. */
    tillId: z.guid().nullable(),
    orderIds: array(z.guid()),
    /** Whether `orderIds` contains all orders of the till. If so, services erase all personal data of the till. */
    isWholeTill: z.boolean(),
  }),
  /** From order-live: an order was opened or reopened, or its products or menus changed while it was open. */
  "order.call": orderEventData,
  /** From order-live: an order became paid. */
  "order.paid": orderEventData,
  /** From order-live: an order became canceled. */
  "order.canceled": orderEventData,
  /** From order-live: an order was transferred to a hotel's property management system. */
  "order.transferred": orderEventData,
  /**
   * From order-live: a shift has its first live order, or has none anymore. A shift is known by the id of its till before
   * the till is pushed.
   */
  "shift.changed": object({
    locationId: z.guid(),
    tillId: z.guid(),
    /** Position in the location's stream of live orders. An event with a lower position never replaces a later one. */
    position: z.int(),
    /** Whether the shift has live orders. */
    isOpen: z.boolean(),
    /** When the first known order of the shift was opened. */
    startedAt: z.iso.datetime(),
    /** The day of `startedAt` in the location's time zone. */
    day: z.iso.date(),
    /** At the end of the shift: the orders that were live and that the till does not contain, at most the first 1,000. */
    ordersWithoutTill: array(object({ orderId: z.guid(), total: z.int(), isCanceled: z.boolean() })).max(
      maxOrdersWithoutTillPerShift,
    ),
    /** Orders that were without a till after an earlier shift, and are live again in this shift. */
    continuedOrderIds: array(z.guid()),
  }),
  /** From order-live and till-ingest: a device of the location was used. */
  "device.seen": PosDeviceIdentity.extend({ locationId: z.guid(), seenAt: z.iso.datetime() }),
  /** From catalog: the catalog of a location was replaced with a different catalog. */
  "catalog.updated": object({
    locationId: z.guid(),
    /** The entity tag of the new catalog. */
    etag: z.string(),
    counts: CatalogCounts,
  }),
  /** From webhooks: all attempts to send messages to an endpoint have failed for two and a half days. */
  "endpoint.failing": EndpointFailingData,
  /**
   * From webhooks: a webhook was disabled, because its endpoint responded with status 410 or because all attempts
   * failed for five days.
   */
  "endpoint.disabled": EndpointDisabledData,
  /** From accounts: an API key was created or revoked, or its consumer changed. Caches must discard the key. */
  "key.changed": object({
    locationId: z.guid().nullable(),
    keyId: z.guid(),
    keyHash: z.string(),
    revoked: z.boolean(),
  }),
  /** From any service: a client or an operator made a change, which accounts adds to the audit log. */
  "audit.recorded": AuditEvent.omit({ id: true, createdAt: true, locationName: true }).extend({
    /** A name in `auditActionDescriptions`. Any text, so that accounts also stores actions of a newer version. */
    action: z.string(),
    actor: auditActorSchema,
  }),
  /** From accounts: a location was created or changed. */
  "location.updated": LocationRef.omit({ id: true }).extend({ locationId: z.guid() }),
} as const;

export type BusEventType = keyof typeof busEventDataSchemas;

/** Returns whether an event is about a live order. There are far more such events than all others together. */
export function isOrderEventType(type: BusEventType): boolean {
  return type.startsWith("order.");
}

export type BusEventData<Type extends BusEventType> = z.infer<(typeof busEventDataSchemas)[Type]>;

/** The envelope of an event, with the field names of CloudEvents. `traceparent` is the W3C trace context. */
export const eventEnvelopeSchema = object({
  specversion: z.literal("1.0"),
  id: z.guid(),
  type: z.enum(Object.keys(busEventDataSchemas) as [BusEventType, ...BusEventType[]]),
  source: z.string(),
  time: z.iso.datetime(),
  /** The id of what the event is about, such as a till, report, order, device, API key or location. */
  subject: z.string(),
  traceparent: z.string().optional(),
  data: z.unknown(),
});

export type EventEnvelope = z.infer<typeof eventEnvelopeSchema>;
