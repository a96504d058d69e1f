import { array, object, z } from "zod";
import { field } from "./fields.ts";

/** The changes that the audit log records, with their descriptions. A name never changes after publication. */
export const auditActionDescriptions = {
  "key.created": "An API key was created",
  "key.rotated": "An API key was replaced with a new key",
  "key.revoked": "An API key was revoked",
  "consumer.created": "A consumer was created",
  "consumer.changed": "The scopes or the rate limit of a consumer were changed",
  "location.created": "A location was created",
  "location.changed": "The options or settings of a location were changed",
  "location.imported": "A location was imported from a legacy backoffice",
  "location.removed": "A location and all its data were removed",
  "recipient.created": "A recipient of webhooks was created",
  "recipient.changed": "A recipient of webhooks was changed",
  "recipient.rotated": "The secret of a recipient was rotated",
  "recipient.deleted": "A recipient of webhooks was deleted",
  "webhook.created": "A webhook was created",
  "webhook.changed": "A webhook was changed",
  "webhook.paused": "A webhook was paused",
  "webhook.resumed": "A webhook was resumed",
  "webhook.deleted": "A webhook was deleted",
  "delivery.replayed": "A delivery of a webhook was replayed",
  "deliveries.replayed": "Deliveries of webhooks were replayed",
  "deliveries.recovered": "A recovery of failed deliveries was started",
  "till.reprocessed": "A till was queued for reprocessing",
  "till.requeued": "A till without a result was queued again",
  "tills.reprocessed": "A reprocessing of many tills was started",
  "personal_data.erased": "The erasure of personal data was requested",
  "accounting_export.created": "Tills were exported to accounting software",
  "e_report_declarant.changed": "The e-reporting settings of a business were changed",
  "e_report_orders.excluded": "Orders were excluded from e-reports",
  "e_report_orders.included": "Excluded orders were included in e-reports again",
  "e_report.taken": "An e-report was taken",
  "export.created": "A bulk export was created",
  "export.deleted": "A bulk export was deleted",
  "dead_letter.retried": "An event whose processing had failed was processed again",
} as const satisfies Record<string, string>;

export type AuditAction = keyof typeof auditActionDescriptions;

export const auditActionNames = Object.keys(auditActionDescriptions) as [AuditAction, ...AuditAction[]];

/** `key`: a request with an API key. `operator_command`: `npm run ops`. `configuration`: the start of the service. */
export const auditActorTypes = ["key", "operator_command", "configuration"] as const;

/** The maximum lengths of a client address and of a user agent in logs and in the audit log. Longer ones are cut. */
export const maxClientAddressLength = 64;
export const maxUserAgentLength = 255;

export const AuditEvent = object({
  id: field.uuid("ID of the entry"),
  createdAt: field.dateTime("When the change was made"),
  action: z.enum(auditActionNames).meta({
    description: `What was changed:\n${auditActionNames.map((name) => `- \`${name}\`: ${auditActionDescriptions[name]}.`).join("\n")}`,
  }),
  actor: object({
    type: z.enum(auditActorTypes).meta({
      description:
        "`key` for a request with an API key, `operator_command` for a command of the operator, and `configuration` for a change of the service's configuration",
    }),
    keyId: field.nullableUuid("ID of the API key; null unless `type` is `key`"),
    consumer: z.string().nullable().meta({
      description: "Name of the API key's consumer; null unless `type` is `key`",
      example: "Acme",
    }),
    clientAddress: z.string().nullable().meta({
      description:
        "IP address from which the request was sent; null unless `type` is `key`. Keys without the scope `locations:any` see only the addresses of keys of their own location.",
      example: "203.0.113.7",
    }),
    userAgent: z
      .string()
      .nullable()
      .meta({
        description: `\`User-Agent\` header of the request, up to ${maxUserAgentLength} characters; null if it was not sent, or if \`clientAddress\` is hidden`,
        example: "acme-sync/2.4",
      }),
  }).describe("Who made the change"),
  locationId: field.nullableUuid("ID of the location that the change affects; null if it affects no single location"),
  locationName: field.nullableText(
    "Name of the location; null if it has none, was removed, or if the change affects no single location",
  ),
  target: object({
    type: z.string().meta({ description: "Type of what was changed", example: "key" }),
    id: field.nullableText("ID of what was changed; null if it has no ID"),
  }).describe("What was changed"),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), array(z.string())])).meta({
    description:
      "Further facts about the change, such as the added scopes. Contains no secrets and no data of customers. The facts depend on `action`.",
  }),
  requestId: field.nullableText("`x-request-id` of the request; null unless the actor is a key"),
}).meta({
  id: "AuditEvent",
  description: "An entry of the audit log: who changed what, and when",
  example: {
    id: "3a1f0f52-9c0b-4f6e-8f0d-2f7f8f0f6a10",
    createdAt: "2026-05-29T10:17:19.000Z",
    action: "key.created",
    actor: {
      type: "key",
      keyId: "5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
      consumer: "Acme",
      clientAddress: "203.0.113.7",
      userAgent: "acme-sync/2.4",
    },
    locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    locationName: "Chez Marcel",
    target: { type: "key", id: "0c6f2f1e-7d5a-4a3e-9f7f-1f6d2f1d7b44" },
    details: { consumer: "Acme", prefix: "pragma_4fGh2Kq", expiresAt: null },
    requestId: "0190a5f2-7c1e-7cc0-8e2b-5f3f5a3f9c11",
  },
});

export type AuditEvent = z.infer<typeof AuditEvent>;
export type AuditDetails = AuditEvent["details"];

/** The actor of a change, as services send it to each other. All fields except `type` are null unless it is a key. */
export const auditActorSchema = AuditEvent.shape.actor.extend({
  locationId: z.guid().nullable(),
});

export type AuditActor = z.infer<typeof auditActorSchema>;
