import type { PublicApiClient } from "@pragma/client/api-client";
import { nullOnProblem } from "@pragma/client/api-problem";
import { webhookEventNames } from "@pragma/contracts/webhook";
import { type DemoDayWithTillId, demoRestaurantSeed, generateDemoTill } from "@pragma/simulator/demo-location";
import { pushCatalogIfMissing } from "@pragma/simulator/import-and-configure-location";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { createSandboxClient, type SandboxServices } from "./context.ts";
import { pushSandboxTill } from "./push-sandbox-till.ts";
import { type SandboxWithLocation, updateLeasedSandbox } from "./queries/sandboxes.ts";
import { listSandboxDays, sandboxTillShare } from "./sandbox-days.ts";

type FillingStep = (services: SandboxServices, sandbox: SandboxWithLocation, api: PublicApiClient) => Promise<unknown>;

/**
 * Returns the steps that fill a sandbox: the newest day first, so that there is soon a report to read, and the webhook
 * last, so that the inbox has few messages about the filling. Each step can be repeated.
 */
export function listFillingSteps(sandbox: Pick<SandboxWithLocation, "locationId" | "createdAt">): FillingStep[] {
  const [newest, ...others] = listSandboxDays(sandbox);
  const pushCatalog: FillingStep = (_, __, api) => pushCatalogIfMissing(api, generateRestaurant(demoRestaurantSeed));
  return [pushTillOf(newest), pushCatalog, ...others.map(pushTillOf), createInboxWebhook];
}

/** Returns how many of the newest days have been pushed after this number of steps. */
export function countFilledDays(filledSteps: number, dayCount: number): number {
  return Math.min(dayCount, filledSteps > 1 ? filledSteps - 1 : filledSteps);
}

const pushTillOf = (day: DemoDayWithTillId): FillingStep => {
  return (_, { locationId }, api) =>
    pushSandboxTill(api, locationId, generateDemoTill(locationId, day, { share: sandboxTillShare }));
};

/**
 * Creates the recipient and the webhook of the inbox, whose ids are that of the sandbox. The webhooks service may reject the
 * URL of the inbox, in production for example if it is not https.
 */
const createInboxWebhook: FillingStep = async ({ db, inboxUrl, encryption, log }, sandbox, api) => {
  const { id, inboxToken, encryptedInboxSecret } = sandbox;
  const hmacSecret = encryption.decrypt(encryptedInboxSecret);
  await api.POST("/v1/recipients", { body: { id, name: "Inbox of the sandbox", hmacSecret } });
  const events = webhookEventNames.filter((name) => name !== "test");
  const body = { id, recipientId: id, endpointUrl: `${inboxUrl}/${inboxToken}`, events };
  const created = await nullOnProblem(api.POST("/v1/webhooks", { body }), "invalid_request");
  if (created) await updateLeasedSandbox(db, id, { hasInbox: true });
  else
    log.warn(
      { inboxUrl },
      "webhooks rejects the inboxes of sandboxes: set WEBHOOK_ALLOWLIST, or an https SANDBOX_INBOX_URL",
    );
};

/** Does the remaining steps of a sandbox until it ends. Continues after a crash with the step that was interrupted. */
export async function fillSandbox(
  services: SandboxServices,
  sandbox: SandboxWithLocation,
  signal: AbortSignal,
): Promise<void> {
  const api = createSandboxClient(services, sandbox);
  const steps = listFillingSteps(sandbox);
  for (const [index, runStep] of steps.entries()) {
    if (index < sandbox.filledSteps) continue;
    if (signal.aborted) return;
    await runStep(services, sandbox, api);
    const isLast = index + 1 === steps.length;
    const changes = { filledSteps: index + 1, ...(isLast && { state: "ready" as const }) };
    const hasEnded = await updateLeasedSandbox(services.db, sandbox.id, changes);
    if (hasEnded) return;
  }
}
