/** The examples of a recipient, a webhook, a delivery and a recovery in the documentation. */

const locationId = "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11";

export const webhookRecipientExample = {
  id: "c2a6f6b7-6f1f-4b7e-9f1e-0d8f5f0a4e31",
  createdAt: "2026-05-20T09:00:00.000Z",
  updatedAt: "2026-05-20T09:00:00.000Z",
  locationId,
  name: "Stock keeper",
  hasApiKey: true,
  secrets: [{ createdAt: "2026-05-20T09:00:00.000Z", expiresAt: null }],
};

export const webhookExample = {
  id: "0a2bb8de-5bd2-4bb4-8a39-4f6f3a7f3b52",
  createdAt: "2026-05-20T09:05:00.000Z",
  updatedAt: "2026-05-20T09:05:00.000Z",
  locationId,
  recipientId: webhookRecipientExample.id,
  endpointUrl: "https://stock.example/webhooks/pragma",
  events: ["order.paid" as const, "order.canceled" as const],
  state: "active" as const,
  disabledReason: null,
  failingSince: null,
  lastError: null,
};

export const webhookDeliveryExample = {
  id: "e4d7a4a1-0c57-4c2d-8a58-2f6d1a3d9b73",
  createdAt: "2026-05-29T10:31:12.402Z",
  webhookId: webhookExample.id,
  messageId: "9b0d7a53-5f0e-4f44-9d2e-6a1b8f0c7d94",
  event: "order.paid" as const,
  state: "succeeded" as const,
  nextAttemptAt: null,
  settledAt: "2026-05-29T10:31:17.754Z",
};

export const deliveryRecoveryExample = {
  id: "f7c1d1f0-9a39-4f51-9df7-0b8f6c2e1a95",
  createdAt: "2026-05-30T08:00:00.000Z",
  webhookId: webhookExample.id,
  since: "2026-05-28T00:00:00.000Z",
  state: "running" as const,
  total: 1240,
  recovered: 500,
  finishedAt: null,
};
