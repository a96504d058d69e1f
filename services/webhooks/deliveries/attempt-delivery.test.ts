import { expect, it, vi } from "vitest";
import { attemptWebhookDelivery, type DeliveryAttemptDependencies } from "./attempt-delivery.ts";

it("logs the addresses of an endpoint to which no connection could be made", async () => {
  const info = vi.fn();
  const services = {
    log: { info, warn: vi.fn() },
    clock: () => new Date("2026-05-29T10:00:00Z"),
    config: { WEBHOOK_TIMEOUT_SECONDS: 15, WEBHOOK_RETRY_SCHEDULE: [5_000] },
    findEndpoint: async () => ({
      url: new URL("https://two.example/"),
      issue: undefined,
      apiKey: null,
      secrets: [{ secret: "secret", expiresAt: Number.POSITIVE_INFINITY }],
    }),
    httpClient: {
      post: async () => ({ status: null, reason: "Timed out.", triedAddresses: ["2001:db8::1", "192.0.2.1"] }),
      close: async () => {},
    },
    attemptWriter: { recordAttempt: vi.fn() },
    releaseClaim: vi.fn(),
    recordDuration: vi.fn(),
    onRetry: vi.fn(),
  } as unknown as DeliveryAttemptDependencies;
  const claim = {
    ...{ deliveryId: "delivery", webhookId: "webhook", messageId: "message", event: "report.finalized" },
    ...{ body: Buffer.from("{}"), failures: 0, attempt: 1, generation: 1, revision: 1, traceparent: null },
    leaseExpiresAt: new Date("2026-05-29T11:00:00Z"),
  } as unknown as Parameters<typeof attemptWebhookDelivery>[1];
  expect(await attemptWebhookDelivery(services, claim)).toBe("failed");
  expect(info).toHaveBeenCalledWith(
    {
      deliveryId: "delivery",
      webhookId: "webhook",
      addresses: ["2001:db8::1", "192.0.2.1"],
      error: "Timed out.",
    },
    "could not connect to the endpoint",
  );
});
